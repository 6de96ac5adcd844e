"""GeoVista as released: the loop of its evaluation.

Source: github.com/ekonwang/GeoVista, commit df32037178778ce7d442a276e910db7e631f3c74 (Apache-2.0).
"""
