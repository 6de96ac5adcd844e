"""Region search on the live web: whether parts of photos may leave the machine, how, and what is hidden first."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from tts.domain.value import Value


class GatewayUpload(Value):
    """The picture is fetched from this service, at `gateway.public_url`, under a name that nobody can guess."""

    kind: Literal["gateway"] = Field(default="gateway", description="search services fetch the picture at this service")
    expires_s: Annotated[float, Field(ge=5, le=600)] = Field(
        default=60.0, description="seconds for which the picture can be fetched; it is removed earlier if the call ends"
    )
    max_fetches: Annotated[int, Field(ge=1, le=20)] = Field(
        default=4, description="how often the picture can be fetched; search services fetch a picture once or twice"
    )


class StoreUpload(Value):
    """The picture is PUT into a store that the search service can read, and deleted after the call."""

    kind: Literal["store"] = Field(default="store", description="the picture is put into a store with PUT and DELETE")
    put_url: str = Field(description="URL for PUT and DELETE of a picture; {name} stands for the name of the picture")
    get_url: str | None = Field(
        default=None, description="URL from which search services fetch a picture, with {name} too. Default: put_url"
    )
    secret_header: str = Field(default="Authorization", description="header that authorises PUT and DELETE")
    secret_env: str = Field(
        default="GEOTTS_UPLOAD_SECRET", description="environment variable with the whole value of secret_header"
    )
    headers: dict[str, str] = Field(default={}, description="further headers of the PUT, such as x-ms-blob-type")

    @model_validator(mode="after")
    def _check_urls(self) -> StoreUpload:
        for url in (self.put_url, self.get_url):
            if url is not None and ("{name}" not in url or urlsplit(url).scheme not in ("http", "https")):
                raise ValueError("put_url and get_url must be http(s) URLs that contain {name}")
        return self


class S3Upload(Value):
    """The picture is put into an S3 bucket by URLs that are signed for one call; keys: AWS_ACCESS_KEY_ID and so on."""

    kind: Literal["s3"] = Field(default="s3", description="the picture is put into an S3 bucket")
    bucket_url: Annotated[str, Field(pattern=r"^https?://[^/?#@{}]+(/[A-Za-z0-9._/-]*)?$")] = Field(
        description="URL of the bucket: https://BUCKET.s3.REGION.amazonaws.com, or endpoint and bucket, such as "
        "http://127.0.0.1:9000/BUCKET",
    )
    region: str = Field(default="us-east-1", description="region in the signatures of URLs; for Cloudflare R2: auto")
    prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9._/-]*$")] = Field(
        default="regions/", description="first part of the names of pictures in the bucket"
    )
    expires_s: Annotated[int, Field(ge=10, le=600)] = Field(
        default=90, description="seconds for which a signed URL is valid"
    )


class BlurConfig(Value):
    """A detector of what must not leave (faces, plates), as ONNX; docs/tools.md says what it takes and returns."""

    model: str = Field(description="ONNX file of the detector; GeoTTS ships none")
    min_score: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.25, description="lowest score (0 to 1) of a detection that is blurred"
    )
    classes: tuple[int, ...] | None = Field(
        default=None, description="numbers of the detector's classes that are blurred. Default: all classes"
    )


class RegionSearchConfig(Value):
    """Off unless `allowed`. It is then used only for requests with `allow_region_search`."""

    allowed: bool = Field(
        default=False,
        description="whether parts of photos may be sent to those of tools.providers that search by picture",
    )
    upload: Annotated[GatewayUpload | StoreUpload | S3Upload, Field(discriminator="kind")] = Field(
        default=GatewayUpload(),
        description="where search services fetch a picture. gateway: at this service; store: in a store with PUT and "
        "GET; s3: in an S3 bucket",
    )
    blur: BlurConfig | None = Field(
        default=None, description="detector of what is blurred before a picture is sent. Default: nothing is blurred"
    )
    max_side_px: Annotated[int, Field(ge=64, le=4096)] = Field(
        default=1024, description="longest side in pixels of a picture that is sent; larger pictures are scaled down"
    )
