"""The schema is true: frozen, whole, its references resolve, its examples pass, the reference is made from it."""

import json
from pathlib import Path

import jsonschema
import pytest
from support.basics import golden
from support.service import a_gateway, an_app, talking_to

from deployments.http.api_reference import reference
from deployments.http.app import create_app
from tts.domain.request import LocateOptions
from tts.export.formats import FORMATS

DOCS = Path(__file__).parents[4] / "docs"


@pytest.fixture(scope="module")
def schema(data_store):
    gateway, metrics = a_gateway(an_app())
    made = create_app(gateway, an_app(), metrics=metrics).openapi()
    made["info"]["version"] = "0"
    return made


def refs_of(node):
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        for value in node.values():
            yield from refs_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from refs_of(value)


def test_the_openapi_schema_equals_the_golden_file(schema):
    golden("openapi.json", json.dumps(schema, indent=1, ensure_ascii=False) + "\n")


def test_every_reference_resolves(schema):
    there = {f"#/components/schemas/{name}" for name in schema["components"]["schemas"]}
    assert set(refs_of(schema["paths"])) | set(refs_of(schema["components"])) <= there


def test_every_field_of_a_value_has_a_description(schema):
    """A field that can have one value only needs none."""
    fields = [
        (f"{name}.{field}", found)
        for name, model in schema["components"]["schemas"].items()
        for field, found in model.get("properties", {}).items()
    ]
    assert len(fields) > 400
    assert [field for field, found in fields if not found.get("description") and "const" not in found] == []


def test_every_operation_documents_its_problems(schema):
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            if path.startswith(("/locate", "/v1")):
                assert {"401", "404", "422", "429", "503"} <= set(operation["responses"])
                assert "application/problem+json" in operation["responses"]["422"]["content"]


def kinds(operation, status="200"):
    return set(operation["responses"][status].get("content", {}))


def test_the_schema_declares_the_media_types_of_replies(schema):
    of = {
        path.partition("{request_id}")[2]: operations["get"]
        for path, operations in schema["paths"].items()
        if "get" in operations and "{request_id}" in path
    }
    assert kinds(of["/events"]) == {"text/event-stream", "application/x-ndjson"}
    assert kinds(of["/files/{sha256}"]) == {"image/*"}
    assert kinds(of[""]) == {"application/json", *(one.media_type for one in FORMATS.values())}
    assert "Prefer" in {parameter["name"] for parameter in of[""]["parameters"]}


def test_operations_for_operators_declare_their_problems_too(schema):
    operations = {path: schema["paths"][path]["get"] for path in ("/readyz", "/metrics")}
    for path, status in (("/readyz", "503"), ("/metrics", "401"), ("/metrics", "403")):
        assert kinds(operations[path], status) == {"application/problem+json"}


async def test_a_problem_with_additional_fields_passes_the_problem_schema(schema, data_store):
    described = {**schema["components"]["schemas"]["Problem"], "components": schema["components"]}
    async with talking_to(an_app()) as http:
        problem = (await http.get("/v1/models/none")).json()
    assert "error" in problem
    jsonschema.validate(problem, described)


def test_every_option_is_in_the_form_and_in_the_json_body(schema):
    content = schema["paths"]["/locate"]["post"]["requestBody"]["content"]
    for kind in ("multipart/form-data", "application/json"):
        assert set(content[kind]["schema"]["properties"]) == {"image", *LocateOptions.model_fields}


def test_examples_pass_their_own_schema(schema):
    media = schema["paths"]["/locate"]["post"]["requestBody"]["content"]["application/json"]
    for example in media["examples"].values():
        jsonschema.validate(example["value"], {**media["schema"], "components": schema["components"]})


def test_the_api_reference_is_made_from_the_schema(schema):
    golden("../../docs/api.md", reference(schema))
