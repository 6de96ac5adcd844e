"""Hosts to which the service may report the end of a request, and the pauses between its attempts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tts.config.units import Seconds
from tts.domain.value import Value


class WebhookConfig(Value):
    """Off without hosts. The secret that signs messages is in GEOTTS_WEBHOOK_SECRET (`whsec_` and base64)."""

    hosts: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]+(:\d{1,5})?$")], ...] = Field(
        default=(),
        description="hosts that callers may name in the header Webhook-Url; host:port for http or for a host in a "
        "private network",
    )
    timeout_s: Seconds = Field(default=15.0, description="seconds that one attempt to deliver a message may take")
    retry_after_s: tuple[Annotated[float, Field(gt=0)], ...] = Field(
        default=(5.0, 60.0, 600.0, 3600.0), description="pauses in seconds between the attempts to deliver a message"
    )
