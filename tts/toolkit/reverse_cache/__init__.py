"""The recorded searches that REVERSE was trained and evaluated with, and how its code finds and shows them.

Source: github.com/yonglleee/REVERSE, commit e95f7c13aa65560f85d427febd265b2ab9262fef: the scripts
`data_pipeline/*/build_*_cache.py` write the tables of training, `verl/verl/tools/*_search_tool.py` read them;
`eval/utils_agent_tool.py` has the SQLite files of evaluation. Photos are
named by the path they had when they were annotated.
"""
