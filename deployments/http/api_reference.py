"""`docs/api.md` from the OpenAPI schema, so that the reference always agrees with the service."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import orjson

Json = dict[str, Any]
_METHODS = ("get", "post", "put", "delete")
_ANSWER_MODELS = ("Answer", "Evidence", "Candidate", "Problem")


_PROBLEM_TYPE = "application/problem+json"
_COMMON_PROBLEMS_TEXT = (
    "Most operations can reply with each of these problems (`application/problem+json`). An operation lists a status "
    "itself only if the status has another meaning there."
)
_GUIDES = "[operating.md](operating.md)", "[threat-model.md](threat-model.md)"
_SERVED_GUIDES = "`docs/operating.md` in the source", "`docs/threat-model.md` there"


def reference(schema: Json, *, served: bool = False, values: bool = False) -> str:
    """The whole page as Markdown; the same schema gives the same page. `served`: it stands alone, at `/docs`. `values`:
    with every other value that a field may have."""
    operating, threats = _SERVED_GUIDES if served else _GUIDES
    made = (
        "This page is generated from [the schema](/openapi.json). [The web page](/) uses this API. "
        "[Is the service ready?](/readyz)"
        if served
        else "This page is generated from the schema at `/openapi.json`, by "
        "`UPDATE_GOLDEN=1 pytest tests/unit/deployments/http/test_openapi.py`."
    )
    models: Json = schema["components"]["schemas"]
    lines = [
        "# HTTP API",
        made,
        schema["info"]["description"],
        f"How to run it, keys, limits and metrics: {operating}. What happens to a photo: {threats}.",
    ]
    operations = [
        (f"{method.upper()} {path}", of_path[method])
        for path, of_path in schema["paths"].items()
        for method in _METHODS
        if method in of_path
    ]
    problems = _common_problems([operation for _, operation in operations])
    listed = (f"* **{status}** {problem['description']}" for status, problem in problems.items())
    lines += ["## Problems", _COMMON_PROBLEMS_TEXT, "\n".join(listed)]
    lines += [_operation_section(title, operation, models, problems) for title, operation in operations]
    lines.append("## Events")
    lines.append(
        "Every event has `type`, `seq` (strictly increasing) and `t_s` (seconds since the request was accepted)."
    )
    event = models["Event"]
    events = [_referenced_name(variant) for variant in event["oneOf"]]
    lines += [_model_section(name, models[name]) for name in events]
    lines.append("## The answer")
    lines += [_model_section(name, models[name]) for name in _ANSWER_MODELS]
    if values:
        lines.append("## Values")
        described = {"Event", *events, *_ANSWER_MODELS}
        lines += [_value_section(name, model) for name, model in sorted(models.items()) if name not in described]
    return "\n\n".join(lines) + "\n"


def _common_problems(operations: Sequence[Json]) -> dict[str, Json]:
    """The problems that most operations can reply with, by status."""
    counts = Counter(
        (status, orjson.dumps(reply, option=orjson.OPT_SORT_KEYS))
        for operation in operations
        for status, reply in operation["responses"].items()
        if set(reply.get("content", {})) == {_PROBLEM_TYPE}
    )
    return {status: orjson.loads(reply) for (status, reply), n in sorted(counts.items()) if 2 * n > len(operations)}


def _operation_section(title: str, operation: Json, models: Json, common: dict[str, Json]) -> str:
    parts = [f"## {title}", _cell_text(operation.get("description", ""))]
    if parameters := operation.get("parameters"):
        rows = [f"| `{p['name']}` | {p['in']} | {_cell_text(p.get('description') or '')} |" for p in parameters]
        parts.append("\n".join(["| parameter | in | |", "|---|---|---|", *rows]))
    content: Json = operation.get("requestBody", {}).get("content", {})
    if content:
        parts.append("Body: " + ", ".join(f"`{kind}`" for kind in content) + ".")
        parts.append(_fields_table(next(iter(content.values()))["schema"], models))
    for kind, media in content.items():
        for name, example in media.get("examples", {}).items():
            example_json = orjson.dumps(example["value"], option=orjson.OPT_INDENT_2).decode()
            mark = (
                "<!-- shown only: needs the network -->\n\n" if '"url"' in example_json else ""
            )  # see tests/support/docs_blocks.py
            parts.append(f"Example “{name}” (`{kind}`):\n\n{mark}```json\n{example_json}\n```")
    parts.append(_replies_text(operation["responses"], common))
    return _paragraphs(*parts)


def _replies_text(replies: Json, common: dict[str, Json]) -> str:
    """What the operation replies. The problems that it shares with others are named by one line."""
    if not common.keys() <= replies.keys():
        common = {}
    own = [_reply_line(status, reply) for status, reply in sorted(replies.items()) if common.get(status) != reply]
    return "\n".join([*own, *(["* the [problems](#problems) of most operations"] if common else [])])


def _reply_line(status: str, reply: Json) -> str:
    kinds = ", ".join(f"`{kind}`" for kind in reply.get("content", {}))
    return f"* **{status}** {_cell_text(reply.get('description', ''))}{': ' + kinds if kinds else ''}"


def _fields_table(schema: Json, models: Json) -> str:
    if "$ref" in schema:
        schema = models[_referenced_name(schema)]
    required = set(schema.get("required", ()))
    rows = [_field_row(name, field, name in required) for name, field in schema.get("properties", {}).items()]
    return "\n".join(["| field | type | |", "|---|---|---|", *rows]) if rows else ""


def _model_section(name: str, model: Json) -> str:
    kind = model.get("properties", {}).get("type", {}).get("const")
    heading = f"### `{kind}`" if kind else f"### {name}"
    return _paragraphs(heading, _cell_text(model.get("description", "")), _fields_table(model, {}))


def _value_section(name: str, model: Json) -> str:
    """A value by its own name, also where it has no fields: one of several, or one of some words."""
    if model.get("properties"):
        return f"### {name}\n\n" + _model_section(name, model).partition("\n\n")[2]
    return _paragraphs(f"### {name}", _cell_text(model.get("description", "")), _type_text(model))


def _field_row(name: str, field: Json, required: bool) -> str:
    default = field.get("default")
    sentences = [_cell_text(field.get("description", ""))]
    if required:
        sentences.append("**required**")
    elif default not in (None, "", [], {}) and not isinstance(default, dict):
        sentences.append(f"default `{orjson.dumps(default).decode()}`")
    return f"| `{name}` | {_type_text(field)} | {'; '.join(part for part in sentences if part)} |"


def _type_text(field: Json) -> str:
    if "$ref" in field:
        return _referenced_name(field)
    for union in ("anyOf", "oneOf", "allOf"):
        if union in field:
            return " or ".join(dict.fromkeys(_type_text(one) for one in field[union]))
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    kind = str(field.get("type", "any"))
    if kind == "array" and "items" in field:
        return f"list of {_type_text(field['items'])}"
    low, high = field.get("minimum"), field.get("maximum")
    return f"{kind} {low}–{high}" if low is not None and high is not None else kind


def _referenced_name(schema: Json) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _cell_text(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
