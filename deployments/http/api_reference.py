"""`docs/api.md` from the OpenAPI schema, so that the reference cannot say anything else than the service."""

from __future__ import annotations

from typing import Any

import orjson

Json = dict[str, Any]
_METHODS = ("get", "post", "put", "delete")


_GUIDES = "[operating.md](operating.md)", "[threat-model.md](threat-model.md)"
_HERE = "`docs/operating.md` in the source", "`docs/threat-model.md` there"


def reference(schema: Json, *, served: bool = False) -> str:
    """The whole page as Markdown; the same schema gives the same page. `served`: it stands alone, at `/docs`."""
    operating, threats = _HERE if served else _GUIDES
    made = (
        "Made from [the schema](/openapi.json). [The page](/) uses it; [is it ready?](/readyz)"
        if served
        else "Made from the schema at `/openapi.json`; "
        "`UPDATE_GOLDEN=1 pytest tests/unit/deployments/http/test_openapi.py` writes it."
    )
    models: Json = schema["components"]["schemas"]
    lines = [
        "# HTTP API",
        made,
        schema["info"]["description"],
        f"How to run it, keys, limits and metrics: {operating}. What happens to a photo: {threats}.",
    ]
    for path, operations in schema["paths"].items():
        lines += [_operation(path, method, operations[method], models) for method in _METHODS if method in operations]
    lines.append("## Events")
    lines.append(
        "Every event has `type`, `seq` (strictly increasing) and `t_s` (seconds since the request was accepted)."
    )
    event = models["Event"]
    lines += [_table(name, models[name]) for name in (_name(variant) for variant in event["oneOf"])]
    lines.append("## The answer")
    lines += [_table(name, models[name]) for name in ("Answer", "Evidence", "Candidate", "Problem")]
    return "\n\n".join(lines) + "\n"


def _operation(path: str, method: str, operation: Json, models: Json) -> str:
    parts = [f"## {method.upper()} {path}", _words(operation.get("description", ""))]
    if parameters := operation.get("parameters"):
        rows = [f"| `{p['name']}` | {p['in']} | {_words(p.get('description') or '')} |" for p in parameters]
        parts.append("\n".join(["| parameter | in | |", "|---|---|---|", *rows]))
    content: Json = operation.get("requestBody", {}).get("content", {})
    if content:
        parts.append("Body: " + ", ".join(f"`{kind}`" for kind in content) + ".")
        parts.append(_fields(next(iter(content.values()))["schema"], models))
    for kind, media in content.items():
        for name, example in media.get("examples", {}).items():
            example_json = orjson.dumps(example["value"], option=orjson.OPT_INDENT_2).decode()
            mark = (
                "<!-- shown only: needs the network -->\n\n" if '"url"' in example_json else ""
            )  # see tests/support/docs_blocks.py
            parts.append(f"Example, {name} (`{kind}`):\n\n{mark}```json\n{example_json}\n```")
    parts.append("\n".join(_reply(status, reply) for status, reply in sorted(operation["responses"].items())))
    return "\n\n".join(part for part in parts if part)


def _reply(status: str, reply: Json) -> str:
    kinds = ", ".join(f"`{kind}`" for kind in reply.get("content", {}))
    return f"* **{status}** {_words(reply.get('description', ''))}{': ' + kinds if kinds else ''}"


def _fields(schema: Json, models: Json) -> str:
    if "$ref" in schema:
        schema = models[_name(schema)]
    required = set(schema.get("required", ()))
    rows = [_row(name, field, name in required) for name, field in schema.get("properties", {}).items()]
    return "\n".join(["| field | type | |", "|---|---|---|", *rows]) if rows else ""


def _table(name: str, model: Json) -> str:
    kind = model.get("properties", {}).get("type", {}).get("const")
    heading = f"### `{kind}`" if kind else f"### {name}"
    return "\n\n".join(part for part in (heading, _words(model.get("description", "")), _fields(model, {})) if part)


def _row(name: str, field: Json, required: bool) -> str:
    default = field.get("default")
    sentences = [_words(field.get("description", ""))]
    if required:
        sentences.append("**required**")
    elif default not in (None, "", [], {}) and not isinstance(default, dict):
        sentences.append(f"default `{orjson.dumps(default).decode()}`")
    return f"| `{name}` | {_type(field)} | {'; '.join(part for part in sentences if part)} |"


def _type(field: Json) -> str:
    if "$ref" in field:
        return _name(field)
    for union in ("anyOf", "oneOf", "allOf"):
        if union in field:
            return " or ".join(dict.fromkeys(_type(one) for one in field[union]))
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    kind = str(field.get("type", "any"))
    if kind == "array" and "items" in field:
        return f"list of {_type(field['items'])}"
    low, high = field.get("minimum"), field.get("maximum")
    return f"{kind} {low}–{high}" if low is not None and high is not None else kind


def _name(schema: Json) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _words(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
