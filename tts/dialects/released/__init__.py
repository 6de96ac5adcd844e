"""The authors' loops: parsing, tool texts, reminders, the end of a rollout, and the answer that counts.

Everything that a model reads or that decides a rollout is as in the released code, to the character. Names, keys,
labels and error strings are wire format and stand here with their source; prompts and descriptions do not: they come
from the user's own copy (`geotts profile import`), and without it the project's own wording stands in.
"""
