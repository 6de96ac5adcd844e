"""Providers of places, maps, web search and search by picture: one service a file, and the routing between them.

A provider is one file with a `PROVIDER` here, and its one entry in `tts.config.provider_names`. A package brings one by
the entry point `geotts.providers`.
"""
