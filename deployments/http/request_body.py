"""From an HTTP request to options and raw photo bytes: multipart or JSON, bounded in size, time and number of parts."""

from __future__ import annotations

import asyncio
import base64
import binascii
import math
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError
from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from deployments.config import GatewayConfig
from deployments.gateway.arrival import Fetch
from deployments.gateway.wrong_field import wrong_field
from geotts_client.budget import EITHER_BUDGET
from geotts_client.continue_options import ContinueOptions
from tools.external.names import EXTERNAL_NAME
from tools.registry import tool_names
from tts.dialects import DIALECTS
from tts.domain import geo
from tts.domain.claim import ClaimedPlace
from tts.domain.request import MAX_PHOTOS, LocateOptions
from tts.errors import PhotoError, RequestError
from tts.field_errors import field_error_text
from tts.geodata.area_from_text import area_in_words
from tts.geodata.countries import Countries

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
_IMAGE_FIELD = "image"
_MAX_FIELDS = 32
_MAX_FIELD_BYTES = 64 * 1024
_MAX_VALUES = 20_000  # commas of a JSON body; photos have none
_LONGEST_AREA = 2000  # characters of an area in words
_STRUCTURED_FIELDS = ("tools", "within")  # JSON inside a form field
_COUNTRIES = Countries()
_FILE_NAME = re.compile(r"[\w ./\\:~()+-]{0,240}\.[A-Za-z0-9]{2,5}")
_CHARSET = re.compile(r""";\s*charset[*\d]*\s*=\s*("[^"]*"|[^;]*)""", re.IGNORECASE)


class UnsupportedMediaType(RequestError):
    """The body is neither multipart/form-data nor JSON."""

    code = "unsupported-media-type"
    status = 415


class BodyTooLarge(RequestError):
    """The body has more bytes than `gateway.max_body_bytes`."""

    code = "too-large"
    status = 413


class BodyTimeout(RequestError):
    """The body, or a photo that it names by URL, did not arrive in time."""

    code = "body-timeout"
    status = 408


class Malformed(RequestError):
    """The body or a header is not in the form that it should have, or the body ended early."""

    code = "malformed"
    status = 400


async def read_request(
    request: Request, config: GatewayConfig, fetch: Fetch | None = None, model: type[LocateOptions] = LocateOptions
) -> tuple[LocateOptions, list[bytes]]:
    """Options of a `model` and the bytes of one to eight photos; `fetch` gets those that are sent as a URL.

    Raises:
        RequestError: any of its kinds, with what to change.
    """
    fields, images = await _read_fields(request, config)
    options = options_from(fields, model=model)
    return options, await _photo_bytes(_check_photo_count(images), fetch, config)


async def read_addition(
    request: Request, config: GatewayConfig, fetch: Fetch | None = None
) -> tuple[ContinueOptions, list[bytes]]:
    """What a caller adds to an earlier request, and further photos, if any. An empty body adds nothing.

    Raises:
        RequestError: any of its kinds, with what to change.
    """
    if request.headers.get("content-length") == "0":
        return ContinueOptions(), []
    fields, images = await _read_fields(request, config)
    return addition_from(fields), await _photo_bytes(few_photos(images), fetch, config)


def addition_from(fields: dict[str, Any], sent_as: Mapping[str, str] | None = None) -> ContinueOptions:
    """What is added to an earlier request. Raises RequestError with every wrong field; empty fields count as absent."""
    names = sent_as or {}
    asked = value_from({k: v for k, v in fields.items() if v != ""}, ContinueOptions, names)
    for name, problem in _unknown_countries(asked.within):
        raise _field_error(names.get(name, name), problem)
    return asked


async def _read_fields(request: Request, config: GatewayConfig) -> tuple[dict[str, Any], list[Any]]:
    """The fields of a body, and its photos: bytes of a form, sources of JSON."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _read_form(request, config)
    if kind == "application/json":
        return await _read_json_fields(request, config)
    raise UnsupportedMediaType("send multipart/form-data with a field `image`, or application/json")


async def _photo_bytes(images: list[Any], fetch: Fetch | None, config: GatewayConfig) -> list[bytes]:
    if all(isinstance(image, bytes) for image in images):
        return images
    return await photos_from(images, fetch, config)


async def _read_form(request: Request, config: GatewayConfig) -> tuple[dict[str, Any], list[Any]]:
    limit = config.photo.max_bytes
    parser = MultiPartParser(
        _headers_without_charset(request.headers),
        _limited_chunks(request, config),
        max_files=MAX_PHOTOS,
        max_fields=_MAX_FIELDS,
        max_part_size=_MAX_FIELD_BYTES,
    )
    parser.spool_max_size = limit + 2**20  # photos stay in memory: nothing is spooled to disk
    try:
        form = await parser.parse()
    except (MultiPartException, HTTPException, UnicodeDecodeError, ValueError, KeyError, AssertionError) as error:
        if parser._current_files > MAX_PHOTOS:
            raise _too_many_photos_error(f"more than {MAX_PHOTOS}") from error
        detail = getattr(error, "message", None) or getattr(error, "detail", None) or "the multipart body is malformed"
        raise Malformed(f"multipart: {detail}") from error
    fields: dict[str, Any] = {}
    photos: list[Any] = []
    try:
        for name, value in form.multi_items():
            if name == _IMAGE_FIELD:
                photos.append(await value.read() if isinstance(value, UploadFile) else _decode_plain_field(value))
            elif isinstance(value, UploadFile):
                raise _field_error(name, "is a file; only `image` may be one")
            elif name in fields:
                raise _field_error(name, "was given twice")
            else:
                fields[name] = await _parse_field(name, value)
    finally:
        for file in parser._files_to_close_on_error:  # a body that ends inside a file leaves it out of the form, open
            file.close()
    return fields, photos


def _decode_plain_field(text: str) -> bytes:
    """The bytes of an `image` that came as a plain field. Raises RequestError for the name of a file."""
    if _FILE_NAME.fullmatch(text):
        raise _field_error(_IMAGE_FIELD, "is the name of a file, not its bytes: with curl, write -F image=@photo.jpg")
    return text.encode()


def _headers_without_charset(headers: Headers) -> Headers:
    """The content type as RFC 7578 defines it, without a charset: names and texts are UTF-8 whatever else is said."""
    return Headers({"content-type": _CHARSET.sub("", headers.get("content-type", ""))})


async def _read_json_fields(request: Request, config: GatewayConfig) -> tuple[dict[str, Any], list[Any]]:
    fields = await read_json(request, config)
    images = fields.pop(_IMAGE_FIELD, None)
    if isinstance(within := fields.get("within"), str):
        fields["within"] = await _parse_field("within", within)
    return fields, images if isinstance(images, list) else [images] if images else []


async def read_json(request: Request, config: GatewayConfig) -> dict[str, Any]:
    """The body as a JSON object, bounded in size. Raises RequestError."""
    body = b"".join([chunk async for chunk in _limited_chunks(request, config)])
    if body.count(b",") > _MAX_VALUES:  # reading and refusing each of them would keep the loop for seconds
        raise Malformed(f"the body has more than {_MAX_VALUES:,} values")
    try:
        fields = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Malformed(f"the body is not JSON: {error.msg} at character {error.pos}") from error
    if not isinstance(fields, dict):
        raise Malformed("the body must be a JSON object")
    return fields


async def read_body(request: Request, config: GatewayConfig, *, limit: int) -> bytes:
    """A body of at most `limit` bytes. Raises RequestError."""
    return b"".join([chunk async for chunk in _limited_chunks(request, config, limit)])


async def _limited_chunks(
    request: Request, config: GatewayConfig, at_most: int | None = None
) -> AsyncGenerator[bytes, None]:
    """The body in chunks, refused as soon as it is too long or too slow."""
    limit = min(config.max_body_bytes, at_most or config.max_body_bytes)
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise BodyTooLarge(f"the body has {int(declared):,} bytes (Content-Length); at most {limit:,} are accepted")
    seen = 0
    async for chunk in _timed_chunks(request, config):
        seen += len(chunk)
        if seen > limit:
            raise BodyTooLarge(f"the body is longer than {limit:,} bytes")
        yield chunk


async def _timed_chunks(request: Request, config: GatewayConfig) -> AsyncGenerator[bytes, None]:
    """The body in chunks. Who sends slowly but goes on is waited for; who sends next to nothing holds no place.

    Raises:
        BodyTimeout: `min_body_bytes_per_s` were not kept for `body_window_s`, or the whole took `body_timeout_s`.
        Malformed: the caller left in the middle of the body.
    """
    now, window_s = asyncio.get_running_loop().time, config.body_window_s
    min_bytes = math.ceil(config.min_body_bytes_per_s * window_s)
    stream = request.stream()
    last, until, n_bytes = now() + config.body_timeout_s, now() + window_s, 0
    while True:
        try:
            async with asyncio.timeout_at(min(last, until)):
                chunk = await anext(stream, None)
        except TimeoutError:
            if last <= until:
                raise BodyTimeout(f"the body did not arrive within {config.body_timeout_s:g} s") from None
            raise BodyTimeout(
                f"the body is too slow: {n_bytes:,} bytes arrived in {window_s:g} s; at least {min_bytes:,} must arrive"
            ) from None
        except ClientDisconnect:
            raise Malformed("the body ended early") from None
        if chunk is None:
            return
        n_bytes += len(chunk)
        if n_bytes >= min_bytes:
            until, n_bytes = now() + window_s, 0
        yield chunk


async def photos_from(images: Sequence[Any], fetch: Fetch | None, config: GatewayConfig) -> list[bytes]:
    """As `photo_from`, for all of a request within `gateway.fetch_timeout_s`. Raises RequestError."""
    try:
        async with asyncio.timeout(config.fetch_timeout_s):
            return [await photo_from(image, fetch) for image in images]
    except TimeoutError:
        raise BodyTimeout(f"the photos did not arrive within {config.fetch_timeout_s:g} s") from None


async def photo_from(image: Any, fetch: Fetch | None) -> bytes:
    """The bytes behind `{"base64": "…"}` or `{"url": "…"}`; a data URL is read, not fetched. Raises RequestError."""
    if not isinstance(image, dict) or len(image) != 1:
        raise _field_error(_IMAGE_FIELD, 'must be {"base64": "…"} or {"url": "…"}')
    (kind, text), *_ = image.items()
    if kind not in ("base64", "url") or not isinstance(text, str):
        raise _field_error(_IMAGE_FIELD, 'must be {"base64": "…"} or {"url": "…"}')
    if text[:5].lower() == "data:":
        return _decode_base64(text.partition(",")[2])
    if kind == "base64":
        return _decode_base64(text)
    if fetch is None:
        raise _field_error(_IMAGE_FIELD, "is a URL; this service fetches no URLs (gateway.fetch_urls): send the bytes")
    return await fetch(text)


def _decode_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _field_error(_IMAGE_FIELD, "is not valid base64") from error


async def _parse_field(name: str, value: str) -> Any:
    """Form fields that hold JSON; `tools` may also be a comma-separated list, and `within` an area in words."""
    if name not in _STRUCTURED_FIELDS or not value:
        return value
    if name == "within" and not value.lstrip().startswith(("{", "[")):
        if len(value) > _LONGEST_AREA:
            raise _field_error(name, f"has {len(value):,} characters; an area in words has at most {_LONGEST_AREA:,}")
        try:
            return await asyncio.to_thread(area_in_words, value, _COUNTRIES)  # the names are read at the first call
        except ValueError as error:
            raise _field_error(name, str(error)) from error
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError as error:
        if name == "tools":
            return [tool.strip() for tool in value.split(",") if tool.strip()]
        raise _field_error(name, "must hold JSON") from error


def options_from(
    fields: dict[str, Any], sent_as: Mapping[str, str] | None = None, *, model: type[LocateOptions] = LocateOptions
) -> LocateOptions:
    """Options of a `model`. Raises RequestError with every wrong field; empty fields count as absent.

    `sent_as`: what the caller calls an option, where that is not its own name.
    """
    names = sent_as or {}
    options = value_from({k: v for k, v in fields.items() if v != ""}, model, names)
    for name, problem in _wrong_options(options):
        raise _field_error(names.get(name, name), problem)
    return options


def _wrong_options(options: LocateOptions) -> Iterator[tuple[str, str]]:
    """Options that name something of which there is none, and what there is; and those that exclude each other."""
    if options.decides_twice:
        yield "budget", EITHER_BUDGET
    if options.dialect is not None and options.dialect not in DIALECTS:
        yield "dialect", f"there is none of this name; there are: {', '.join(sorted(DIALECTS))}"
    names = tool_names()
    if strange := [tool for tool in options.tools or () if tool not in names and not EXTERNAL_NAME.fullmatch(tool)]:
        there = f"there are, as far as they are configured here: {', '.join(names)}"
        yield "tools", f"there is no tool {', '.join(map(repr, strange[:5]))}; {there}"
    if any(isinstance(place, ClaimedPlace) for place in options.not_there):
        yield "not_there", "name places or areas; how they were understood is not for you to say"
    yield from _unknown_countries(options.within)


def _unknown_countries(within: geo.Area | None) -> Iterator[tuple[str, str]]:
    if isinstance(within, geo.Countries):
        codes = [code for code in within.codes if _COUNTRIES.get(code) is None]
        if codes:
            yield "within", f"no country has the code {', '.join(codes[:5])} (ISO 3166-1 alpha-2, such as FR)"


def value_from(fields: Mapping[str, Any], model: type[M], sent_as: Mapping[str, str] | None = None) -> M:
    """A `model` of what was sent. Raises RequestError with every wrong field by the name that the caller knows.

    Args:
        fields: the values by the names of the fields.
        model: the kind of the value.
        sent_as: the names by which the caller knows fields, if they differ.
    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise _wrong_fields_error(error, model, sent_as) from error


def _wrong_fields_error(
    error: ValidationError, model: type[BaseModel], sent_as: Mapping[str, str] | None
) -> RequestError:
    """Every wrong field of a `model` by the name that the caller knows, in words for the caller."""
    errors = tuple(
        {"field": _field_name(e["loc"], sent_as or {})[:100], "problem": field_error_text(e, model)[:300]}
        for e in error.errors()
    )
    summary = "; ".join(f"{e['field']}: {e['problem']}" for e in errors[:5])
    return RequestError(f"the request is not valid: {summary}", errors=errors)


def _field_name(path: tuple[int | str, ...], sent_as: Mapping[str, str]) -> str:
    return ".".join(sent_as.get(str(part), str(part)) if place == 0 else str(part) for place, part in enumerate(path))


def _too_many_photos_error(count: str | int) -> RequestError:
    return RequestError(f"{count} photos were sent; at most {MAX_PHOTOS} of one place are accepted")


def _check_photo_count(photos: list[T]) -> list[T]:
    if not photos:
        raise PhotoError.from_reason("missing", "there is no photo: send it in the field `image`")
    return few_photos(photos)


def few_photos(photos: list[T]) -> list[T]:
    """The photos, bytes or where they are. Raises RequestError for more than one request may have."""
    if len(photos) > MAX_PHOTOS:
        raise _too_many_photos_error(len(photos))
    return photos


def _field_error(name: str, what: str) -> RequestError:
    return wrong_field(name[:100], what)
