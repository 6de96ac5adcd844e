"""Adds to the OpenAPI schema what FastAPI cannot derive: bodies that handlers read themselves, streams, examples,
problems.

Every `$ref` resolves, every example validates: the tests check both.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

from geotts_client.continue_options import ContinueOptions
from tts.api.chat_completions import ChatRequest
from tts.api.responses import ResponsesRequest
from tts.api.schema import Accepted202, Problem
from tts.domain.claim import CheckOptions
from tts.domain.events import EVENT
from tts.domain.request import MAX_PHOTOS, LocateOptions
from tts.export.formats import FORMATS
from tts.geodata.area_from_text import WAYS

_REF_TEMPLATE = "#/components/schemas/{model}"
Json = dict[str, Any]

_CONTINUE_SCHEMA: Json = ContinueOptions.model_json_schema(ref_template=_REF_TEMPLATE)
_OPTIONS_SCHEMA: Json = LocateOptions.model_json_schema(ref_template=_REF_TEMPLATE)
_CHECK_SCHEMA: Json = CheckOptions.model_json_schema(ref_template=_REF_TEMPLATE)
_EVENT_SCHEMA: Json = EVENT.json_schema(ref_template=_REF_TEMPLATE, mode="serialization")
SHORTENED_PHOTO = "/9j/4AAQSkZJRgABAQAAAQABAAD…"

_PHOTO_EXAMPLE = {"image": {"base64": SHORTENED_PHOTO}}

_BASE64_SCHEMA = {"type": "string", "description": "the bytes, or a data: URL"}
_URL_SCHEMA = {
    "type": "string",
    "format": "uri",
    "description": "address of the photo; the service fetches it if the operator allows this",
}
_PHOTO_SCHEMA: Json = {
    "oneOf": [
        {"type": "object", "properties": {name: schema}, "required": [name], "additionalProperties": False}
        for name, schema in (("base64", _BASE64_SCHEMA), ("url", _URL_SCHEMA))
    ]
}
_FILE_SCHEMA: Json = {"type": "string", "contentMediaType": "application/octet-stream"}


def _one_photo_or_list_schema(one: Json) -> Json:
    many = {"type": "array", "items": one, "minItems": 1, "maxItems": MAX_PHOTOS}
    return {
        "description": f"one photo, or up to {MAX_PHOTOS} photos of one place or one walk (`within_km`)",
        "oneOf": [one, many],
    }


def _body_schema(image: Json, options: Json, *, photos: bool = True) -> Json:
    """The options, and an area that may be said in words, too; `photos`: there has to be one."""
    within = options["properties"]["within"]
    words = {"type": "string", "examples": ["IT, FR", "41.9, 12.5, 200"]}
    schema = {"anyOf": [*within["anyOf"], words], "description": f"{within['description']}; as text: {WAYS}"}
    properties = {"image": _one_photo_or_list_schema(image), **options["properties"], "within": {**within, **schema}}
    required = [*(["image"] if photos else []), *options.get("required", [])]
    stated = {"required": required} if required else {}
    return {"type": "object", **stated, "properties": properties, "additionalProperties": False}


def _request_body(options: Json, examples: Json, *, photos: bool = True) -> Json:
    """The body of a request as a form or as JSON; `examples` are values of the JSON body by their names."""
    form = {
        "schema": _body_schema(_FILE_SCHEMA, options, photos=photos),
        "encoding": {"image": {"contentType": "image/*"}},
    }
    as_json = {
        "schema": _body_schema(_PHOTO_SCHEMA, options, photos=photos),
        "examples": {name: {"value": value} for name, value in examples.items()},
    }
    return {"required": photos, "content": {"multipart/form-data": form, "application/json": as_json}}


def _header_parameter(name: str, description: str, schema: Json | None = None) -> Json:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": schema or {"type": "string"},
    }


IDEMPOTENCY_KEY = _header_parameter(
    "Idempotency-Key",
    "1 to 200 visible characters; if you send the same request again with the same key, it is not run again",
)
WEBHOOK = _header_parameter(
    "Webhook-Url", "URL that gets a message when the request has ended; the operator must allow its host"
)
TRACE = (
    _header_parameter("traceparent", "W3C trace context; the request becomes part of your trace"),
    _header_parameter(
        "tracestate", "the `tracestate` of your tracing system, beside `traceparent`; at most 512 characters"
    ),
)

_STREAM_CONTENT: Json = {
    "text/event-stream": {
        "schema": {
            "type": "string",
            "description": "frames of `id` (seq), `event` (type) and `data` (an Event); comments between events",
        },
        "example": 'id: 1\nevent: accepted\ndata: {"seq": 1, "t_s": 0.0, "type": "accepted", "…": "…"}\n\n',
    },
    "application/x-ndjson": {
        "schema": {
            "$ref": "#/components/schemas/Event",
            "description": "one event a line; empty lines between events",
        }
    },
}

_GEOJSON_CONTENT: Json = {
    "application/geo+json": {"schema": {"type": "object", "description": "RFC 7946 FeatureCollection"}}
}

_EXPORT_CONTENT: Json = {
    one.media_type: {"schema": {"type": "string", "description": f"the answer as {one.name}"}}
    for one in FORMATS.values()
    if one.name != "geojson"
}

LOCATE: Json = {
    "parameters": [
        IDEMPOTENCY_KEY,
        WEBHOOK,
        _header_parameter("Prefer", "`respond-async`: the reply is a 202 at once; the work continues"),
        *TRACE,
    ],
    "requestBody": _request_body(
        _OPTIONS_SCHEMA,
        {
            "one photo": {**_PHOTO_EXAMPLE, "n_parallel": 4},
            "two photos, in Italy or France, by a deadline": {
                "image": [{"base64": SHORTENED_PHOTO}, {"url": "https://photos.example/street.jpg"}],
                "within": {"kind": "countries", "codes": ["IT", "FR"]},
                "deadline_s": 20,
                "hint": "taken on a school trip",
                "resume_grace_s": 30,
            },
        },
    ),
    "responses": {
        "200": {
            "content": {**_STREAM_CONTENT, **_GEOJSON_CONTENT},
            "headers": {
                "X-Request-Id": {"schema": {"type": "string"}, "description": "id of the request"},
                "Idempotency-Replayed": {
                    "schema": {"type": "string"},
                    "description": "`true`: the request had run before",
                },
            },
        },
        "202": {
            "description": "Accepted (`Prefer: respond-async`); `Location` is the address of the state of the request",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Accepted202"}}},
        },
    },
}

CHECK: Json = {
    **LOCATE,
    "requestBody": _request_body(
        _CHECK_SCHEMA,
        {
            "one place": {**_PHOTO_EXAMPLE, "claim": "Kharkiv"},
            "which of two": {**_PHOTO_EXAMPLE, "claim": ["Kharkiv", "50.6,36.59,20"]},
        },
    ),
}

CONTINUE: Json = {
    **LOCATE,
    "requestBody": _request_body(
        _CONTINUE_SCHEMA,
        {
            "it is not there": {"not_there": True},
            "nor in these towns": {"not_there": ["Sofia", "42.15,24.75,10"]},
            "a fact": {"fact": "the shop is in Varna"},
            "another photo": _PHOTO_EXAMPLE,
        },
        photos=False,
    ),
}

STATUS: Json = {
    "parameters": [_header_parameter("Prefer", "`wait=20`: wait up to 20 s (60 s at most) for the end of the request")],
    "responses": {"200": {"content": {**_GEOJSON_CONTENT, **_EXPORT_CONTENT}}},
}

EVENTS: Json = {
    "parameters": [
        _header_parameter(
            "Last-Event-ID", "the `id` of the last event that you have", {"type": "integer", "minimum": 0}
        )
    ],
    "responses": {
        "200": {"description": "The events", "content": _STREAM_CONTENT},
        "204": {"description": "The request has ended, and no event follows the one in `Last-Event-ID`"},
    },
}

FILE: Json = {
    "responses": {"200": {"description": "The picture", "content": {"image/*": {"schema": _FILE_SCHEMA}}}},
}

TILE: Json = {
    "responses": {
        "200": {"description": "The tile", "content": {"image/png": {"schema": _FILE_SCHEMA}}},
        "304": {"description": "The tile that `If-None-Match` names is still current"},
    },
}


def body_of(model: type[BaseModel], example: Json) -> Json:
    """A JSON body that the handler reads and bounds itself. `{name}` in the example stands for what a reply named."""
    schema = model.model_json_schema(ref_template=_REF_TEMPLATE)
    own = schema.pop("$defs", {})
    assert set(own) <= {"CaseClaim"}, "a nested model has to be among the components: see `install_openapi`"
    return _json_body(schema, example)


def body_for_openai_client(model: type[BaseModel], example: Json, *parameters: Json) -> Json:
    """A JSON body in OpenAI's form with its header parameters, and a reply as JSON or as a stream."""
    body = _json_body({"$ref": _REF_TEMPLATE.format(model=model.__name__)}, example)
    return {"parameters": [IDEMPOTENCY_KEY, *parameters, *TRACE], **body, **OPENAI_REPLY}


def _json_body(schema: Json, example: Json) -> Json:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema, "example": example}}}}


OPENAI_REPLY: Json = {
    "responses": {
        "200": {
            "content": {
                "application/json": {"schema": {"type": "object"}},
                "text/event-stream": {"schema": {"type": "string"}},
            }
        }
    }
}


_PROBLEM_DESCRIPTIONS = {
    400: "The request is malformed",
    401: "The API key is missing or unknown",
    403: "The request comes from a page of another site, or names another host",
    404: "There is no such request, file or page, or it was erased",
    406: "None of the media types in `Accept` is offered",
    408: "The body did not arrive in time",
    413: "The body or a photo is too large",
    415: "The photo or the body has a format that is not supported",
    422: "Well-formed, but not valid; `errors` names the fields",
    429: "Too many requests with this key; `Retry-After` says when to send the next one",
    500: "A fault of the service; its log has the details",
    503: "The service is busy, or a part of it does not answer; `Retry-After` says when to try again",
}
_NOTHING_WORKED_DESCRIPTIONS = {
    502: "The model endpoint refuses the requests of the rollouts; `causes` has its replies, and says what to do",
    503: "The service is busy, a part of it does not answer, or no rollout could work (`causes` then says why)",
}


def _problem_responses(words_of: dict[int, str]) -> dict[int | str, Json]:
    schema = {"$ref": _REF_TEMPLATE.format(model="Problem")}
    content = {"application/problem+json": {"schema": schema}}
    return {status: {"description": words, "content": content} for status, words in words_of.items()}


PROBLEMS = _problem_responses(_PROBLEM_DESCRIPTIONS)
NOTHING_WORKED = _problem_responses(_NOTHING_WORKED_DESCRIPTIONS)
CASES_FULL = _problem_responses({409: "There are as many cases as one caller may have"})
CASE_CHANGED = _problem_responses({409: "Somebody else has changed the case; read it again"})
CASE_CHANGED_OFTEN = _problem_responses({409: "Others change the case too often at the moment; try again"})
CASE_FULL = _problem_responses({409: "The case is full, or others change it too often at the moment"})
CONTINUE_PROBLEMS = {
    **PROBLEMS,
    **_problem_responses(
        {409: "The earlier request has not ended", 410: "The photo is no longer stored: send it again"}
    ),
}
NOT_READY: dict[int | str, Json] = {503: {**PROBLEMS[503], "description": "A part does not answer; `checks` names it"}}
METRICS_PROBLEMS: dict[int | str, Json] = {status: PROBLEMS[status] for status in (401, 403)}

_DESCRIPTION = """Where was this photo taken? Agents work in parallel with maps and search tools, and a verifier weighs
their results. The answer has coordinates, two radii with their probabilities, and the evidence.

Errors are RFC 9457 problem details with a stable `type` (`urn:geotts:problem:…`). Every reply has `X-Request-Id`."""


def install_openapi(app: FastAPI, *, keys: bool) -> None:
    """Complete the schema with the components above; `keys`: requests need one."""
    app.description = _DESCRIPTION
    generate = app.openapi

    def complete() -> Json:
        schema = generate()
        components = schema.setdefault("components", {})
        models = components.setdefault("schemas", {})
        event = dict(_EVENT_SCHEMA)
        for name, model in {
            **_OPTIONS_SCHEMA["$defs"],
            **_CHECK_SCHEMA["$defs"],
            **_CONTINUE_SCHEMA["$defs"],
            **event.pop("$defs"),
            "Event": event,
        }.items():
            models.setdefault(name, model)
        for model in (Accepted202, Problem, ChatRequest, ResponsesRequest):
            described = model.model_json_schema(ref_template=_REF_TEMPLATE)
            models.update({name: inner for name, inner in described.pop("$defs", {}).items() if name not in models})
            models.setdefault(model.__name__, described)
        # a problem may say more than every problem does (RFC 9457 section 3.2): `error` under /v1, `checks` of /readyz
        models["Problem"].pop("additionalProperties", None)
        if keys:
            components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            schema["security"] = [{"key": []}]
        return schema

    app.openapi = complete  # type: ignore[method-assign]
