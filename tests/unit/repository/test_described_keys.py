"""Every key of the configuration says what it does: an editor shows it beside the key, from the schema."""

from deployments.config import AppArgs


def undescribed_keys(schema):
    """The keys of an object and of all that it refers to, as model.key."""
    models = {"AppArgs": schema, **schema["$defs"]}
    return [
        f"{model}.{key}"
        for model, described in models.items()
        for key, found in described.get("properties", {}).items()
        if not found.get("description") and not (key == "name" and "const" in found)
    ]


def test_every_key_of_the_configuration_has_a_description():
    schema = AppArgs.model_json_schema()
    assert len(schema["$defs"]) > 30
    assert undescribed_keys(schema) == []


def test_a_key_without_a_description_is_found():
    schema = AppArgs.model_json_schema()
    del schema["properties"]["dialect"]["description"]
    del schema["$defs"]["Limits"]["properties"]["max_turns"]["description"]
    assert undescribed_keys(schema) == ["AppArgs.dialect", "Limits.max_turns"]
