"""The schema is true: frozen, whole, its references resolve, its examples pass, the reference is made from it."""

import json
from pathlib import Path

import jsonschema
import pytest
from service import a_gateway, an_app
from support import golden

from deployments.api_reference import reference
from deployments.http import create_app
from tts.domain.request import LocateOptions

DOCS = Path(__file__).parents[2] / "docs"


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


def test_it_is_frozen(schema):
    golden("openapi.json", json.dumps(schema, indent=1, ensure_ascii=False) + "\n")


def test_every_reference_resolves(schema):
    there = {f"#/components/schemas/{name}" for name in schema["components"]["schemas"]}
    assert set(refs_of(schema["paths"])) | set(refs_of(schema["components"])) <= there


def test_every_operation_tells_its_problems(schema):
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            if path.startswith(("/locate", "/v1")):
                assert {"401", "404", "422", "429", "503"} <= set(operation["responses"])
                assert "application/problem+json" in operation["responses"]["422"]["content"]


def test_every_option_is_in_both_bodies(schema):
    content = schema["paths"]["/locate"]["post"]["requestBody"]["content"]
    for kind in ("multipart/form-data", "application/json"):
        assert set(content[kind]["schema"]["properties"]) == {"image", *LocateOptions.model_fields}


def test_examples_pass_their_own_schema(schema):
    media = schema["paths"]["/locate"]["post"]["requestBody"]["content"]["application/json"]
    for example in media["examples"].values():
        jsonschema.validate(example["value"], {**media["schema"], "components": schema["components"]})


def test_the_reference_is_made_from_it(schema):
    golden("../../docs/api.md", reference(schema))
