"""REVERSE's tools: those of its evaluation call services, those of its training use recorded searches.

Source of formats and error strings: github.com/yonglleee/REVERSE, commit e95f7c13aa65560f85d427febd265b2ab9262fef
(no licence stated): `eval/utils_agent_tool.py`, `eval/eval_benchmark.py`, `verl/verl/tools/*_tool.py`.
"""
