"""An hour of mixed traffic: what grows?"""
