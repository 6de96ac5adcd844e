"""GeoVista: a zoom in pixels of the picture that was shown, and a web search.

Source of formats and error strings: github.com/ekonwang/GeoVista, commit df32037178778ce7d442a276e910db7e631f3c74
(Apache-2.0): eval/utils_agent_tool.py and eval/inference_agent_tool_mode.py.
"""
