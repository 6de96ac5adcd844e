"""Options as the fields of a form, as `POST /locate` takes them."""

from __future__ import annotations

import json
from typing import Any

from geotts_client.continue_options import ContinueOptions
from geotts_client.options import LocateOptions

AnyOptions = LocateOptions | ContinueOptions


def form_fields(options: AnyOptions) -> dict[str, str]:
    """Options as form fields. Defaults are left out; lists and objects are JSON.

    Args:
        options: those of a request, of a check, or of a request that continues another.

    Returns:
        Values by the name of their field: text as it is, numbers and booleans as JSON too.
    """
    changed = options.model_dump(exclude_defaults=True)
    fields: dict[str, Any] = options.model_dump(mode="json", include=set(changed))
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        for name, value in fields.items()
        if value is not None
    }
