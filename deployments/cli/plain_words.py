"""The words of the terminal for what the service calls otherwise, as `web/static/words.js` has them for the page.

The glossary (`docs/glossary.md`) has both. Only for sentences of the service, not for what a photo, a person or a tool
says.
"""

from __future__ import annotations

import re

WORDS = {"rollouts": "attempts", "rollout": "attempt", "Rollouts": "Attempts", "Rollout": "Attempt"}
# Not a part of a name, a path or a configuration key, as in `deployments.rollout.replicas`.
_SERVICE_WORD = re.compile(rf"(?<![\w./=-])({'|'.join(WORDS)})(?![\w/=-]|\.\w)")


def plain(text: str) -> str:
    """A sentence of the service in words for end users: "attempt" for rollout."""
    return _SERVICE_WORD.sub(lambda found: WORDS[found[0]], text)
