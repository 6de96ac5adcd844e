"""What a user must know before parts of a photo are sent: the receivers, and what is blurred before."""

from __future__ import annotations

from urllib.parse import urlsplit

from deployments.config import AppArgs
from tools.provider_lookup import PROVIDERS, base_url
from tts.config import GatewayUpload, S3Upload
from tts.domain.value import Value


class RegionService(Value):
    """A service that gets regions of photos: the provider, and the name of the service for people. `host` gets the
    region; it may be a proxy of the operator."""

    provider: str
    service: str
    host: str


class RegionTerms(Value):
    """Who gets regions: `services`, in this order. `store` holds a region during the search; it may be null."""

    services: tuple[RegionService, ...]
    store: str | None
    blurred: bool


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
