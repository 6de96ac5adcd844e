"""Maps drawn from data that is on this machine: no network, no key, no tile server.

Start with `cartographer.py`; `build.py` makes the files it reads. Everything is Web Mercator.
"""
