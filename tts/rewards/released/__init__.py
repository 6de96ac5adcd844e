"""Rewards and answer readers as the authors' code has them; those that their papers state are in `tts/rewards/papers`.

Published weights were trained on these numbers and published tables were scored with these readers, oddities included.
What a reader finds stays raw (degrees as written, out of range or not a number); callers that need a position check it.
Sources are given by repository and commit; where code and paper differ, both are kept and `docs/dialects.md` says how.
"""
