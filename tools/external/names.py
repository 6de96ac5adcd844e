"""The names of external tools: the name of the server in the configuration, two underscores, the name of the tool."""

from __future__ import annotations

import re
from typing import Final

EXTERNAL_NAME: Final = re.compile(r"[a-z][a-z0-9]{0,15}__[A-Za-z0-9_-]{1,46}")
