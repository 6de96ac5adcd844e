"""Every field of a model of the client says what it is: the reference of the API shows it, from the schema."""

import importlib
import pkgutil
from typing import Literal

from pydantic import BaseModel, Field

import geotts_client
from geotts_client.value import Value


def public_models():
    """The public models that the modules of the client define, by their names."""
    modules = [
        importlib.import_module(f"geotts_client.{one.name}") for one in pkgutil.iter_modules(geotts_client.__path__)
    ]
    return {
        name: found
        for module in modules
        for name, found in vars(module).items()
        if isinstance(found, type) and issubclass(found, BaseModel) and found.__module__ == module.__name__
        if not name.startswith("_") and found is not Value
    }


def undescribed(name, model):
    """The fields without a description in the schema, as model.field; a field of one value only needs none."""
    fields = model.model_json_schema().get("properties", {})
    return [
        f"{name}.{field}" for field, found in fields.items() if not found.get("description") and "const" not in found
    ]


def test_every_field_of_a_public_model_of_the_client_has_a_description():
    models = public_models()
    assert len(models) > 60
    assert [field for name, model in models.items() for field in undescribed(name, model)] == []


def test_a_field_without_a_description_is_found():
    class Place(Value):
        kind: Literal["place"] = "place"
        name: str = Field(description="its name in the gazetteer")
        point: str = ""

    class Town(Place):
        people: int

    assert undescribed("Town", Town) == ["Town.point", "Town.people"]
