"""REVERSE as released: the loop of its evaluation (`eval`) and that of its reinforcement learning (`rl`).

Source: github.com/yonglleee/REVERSE, commit e95f7c13aa65560f85d427febd265b2ab9262fef (no licence stated):
`eval/eval_benchmark.py`, `eval/utils_agent_tool.py`; `verl/verl/experimental/agent_loop/tool_agent_loop.py`.
"""
