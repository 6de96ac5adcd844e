"""What a user must know before parts of a photo are sent: the receivers, and what is blurred before."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import Field

from deployments.config import AppArgs
from tools.provider_lookup import PROVIDERS, base_url
from tts.config import GatewayUpload, S3Upload
from tts.domain.value import Value


class RegionService(Value):
    """A service that gets regions of photos."""

    provider: str = Field(description="name of the provider in the configuration")
    service: str = Field(description="name of the service, for people")
    host: str = Field(description="host that gets the region; it may be a proxy of the operator")


class RegionTerms(Value):
    """Who gets regions of photos."""

    services: tuple[RegionService, ...] = Field(
        description="services that get regions, in the order in which they are asked"
    )
    store: str | None = Field(
        description="host that holds a region during the search; null if none outside this service does"
    )
    blurred: bool = Field(description="true: faces or number plates are blurred before a region is sent")


def region_terms(args: AppArgs) -> RegionTerms | None:
    """None where a consent would change nothing: not configured, not allowed, answered by a tape, or not offered."""
    names = args.tools.region_providers
    offered = args.request_defaults.tools
    if not names or "tape" in args.tools.providers or (offered is not None and "image_search" not in offered):
        return None
    upload = args.tools.region_search.upload
    store = None
    if not isinstance(upload, GatewayUpload) and args.tools.providers_by_url:
        store = urlsplit(upload.bucket_url if isinstance(upload, S3Upload) else upload.put_url).hostname
    return RegionTerms(
        services=tuple(
            RegionService(
                provider=name,
                service=PROVIDERS[name].title or name,
                host=urlsplit(base_url(name, args.tools.settings.get(name))).hostname or "",
            )
            for name in names
        ),
        store=store,
        blurred=args.tools.region_search.blur is not None,
    )
