"""Thinking with Map: the tools of the training loop and those of the notebook.

Source of formats, labels and error strings: github.com/AMAP-ML/Thinking-with-Map, commit
c39032626e99da60cd87a57d16f5869ac08ac867: verl/tool_server/api_server_redis.py, verl/verl/tools/ and
demo/qwen_agent/tools/.
"""
