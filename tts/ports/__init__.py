"""The ports of the system, as protocols: one in each file, with the values that cross it.

`tts.pipeline` uses nothing else. Every call carries a `RequestContext`. Every stream is an async iterator whose
`aclose()` stops the work behind it: in the engine, in the tools, in other processes. Implementations of one port pass
one contract suite (`tests/contract`).
"""
