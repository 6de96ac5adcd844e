"""Providers of places, maps, web search and search by picture: one service a file, and the routing between them."""
