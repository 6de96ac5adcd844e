"""Project-made photographs of signs, with truth: what reads in many languages can be measured without anyone's photos.

A scene is planned (where, in which language, what the sign says, which clue leads home) and then drawn; both depend on
nothing but the seed, its number, the split, and the fonts that are installed. A third of templates and words is kept
for the `held_out` split: develop on `dev`, report `held_out`.
"""
