"""Thinking with Map as released: the loop of training and evaluation (`verl`) and the notebook (`demo`).

Source: github.com/AMAP-ML/Thinking-with-Map, commit c39032626e99da60cd87a57d16f5869ac08ac867 (Apache-2.0).
"""
