"""Drawn photographs of signs at known places: they measure reading in many languages without anybody's photos.

A scene is planned (where, in which language, what the sign says, which clue identifies it) and then drawn. Both depend
on nothing but the seed, its number, the split, and the fonts that are installed. A third of templates and words is kept
for the `held_out` split: develop on `dev`, report `held_out`.
"""
