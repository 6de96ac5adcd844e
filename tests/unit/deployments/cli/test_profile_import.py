"""`geotts profile import`: texts of a checkout into the profile folder, named by what they are, used by the profile."""

import json

import httpx
import pytest
from click.testing import CliRunner
from support.endpoint import serving as an_endpoint
from support.profile_scripts import play_of
from support.service import PHOTO, serving

from deployments.cli import cli
from deployments.cli import profile as profile_command
from deployments.config import load_config
from deployments.wiring.local import local_ports
from deployments.wiring.parts import _configured_dialect, make_dialect
from tts.dialects import DIALECTS
from tts.dialects.base import Task
from tts.dialects.released.importing import IMPORTERS
from tts.dialects.released.released_dialect import ReleasedDialect
from tts.profiles import load_profile

COMMIT = "c39032626e99da60cd87a57d16f5869ac08ac867"
TOOL = """
tools:
  - class_name: made.up
    tool_schema:
      type: function
      function:
        name: {name}
        description: Made up for {name}.
        parameters:
          type: object
          properties:
            query: {{type: string, description: what, minItems: 4}}
          required: [query]
"""
FILES = {
    "LICENSE": "\n   Apache License\n   Version 2.0\n",
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/packed-refs": f"# pack-refs\n{COMMIT} refs/heads/main\n",
    "verl/examples/data_preprocess/preprocess_thinking_with_map.py": (
        'import nothing_that_exists\nDEFAULT_SYSTEM_CONTENT = "Made-up system."\n'
        'DEFAULT_USER_CONTENT_PREFIX = (\n    "<image>Where is "\n    "this?"\n)\n'
    ),
    "verl/geoagent_scripts/config/geoagent_amap_tool_config.yaml": TOOL.format(name="amap_input_tips"),
    "verl/geoagent_scripts/config/geoagent_google_tool_config.yaml": TOOL.format(name="google_search"),
    "verl/geoagent_scripts/config/geoagent_zoom_search_tool_config.yaml": TOOL.format(name="web_search"),
    "parallel_tts/verifier_test_multi.py": (
        "def make_ensemble_messages(sample):\n    system = (\n        'Judge. '\n        'Strictly.'\n    )\n"
        "    refs = []\n    user_text = (\n        'Task:\\n'\n        f'{sample.user_input}\\n\\nAgents:\\n'\n"
        "        + '\\n\\n'.join(refs) +\n        '\\n\\nJSON: {\"lat\": <float>}'\n    )\n"
    ),
    "demo/cookbook_think_with_map.ipynb": json.dumps(
        {
            "cells": [
                {"cell_type": "markdown", "source": ["# Made up"]},
                {"cell_type": "code", "source": ["%magic\n"]},
                {"cell_type": "code", "source": ["agent = Assistant(\n", "    system_message='Use it.',\n", ")"]},
                {"cell_type": "code", "source": ["prompt = (\n", '    "<image>Where "\n', "    'is this?'\n", ")"]},
            ]
        }
    ),
    "demo/qwen_agent/tools/amap_api.py": (
        "@register_tool('amap_input_tips')\nclass Tips(BaseTool):\n    description = 'Made up.'\n"
        "    parameters = {'type': 'object', 'properties': {'keywords': {'type': 'string'}}, "
        "'required': ['keywords']}\n"
    ),
}


@pytest.fixture
def checkout(tmp_path):
    """The layout of the authors' repository, with made-up texts."""
    return made_checkout(tmp_path / "checkout", FILES)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GEOTTS_PROFILES", str(tmp_path / "profiles"))
    return tmp_path / "profiles"


def import_profile(*arguments):
    return CliRunner().invoke(cli, ["profile", "import", *map(str, arguments)], standalone_mode=False)


def test_an_import_reads_a_checkout_and_the_profile_uses_its_texts(checkout, folder):
    plain = load_profile("thinking_with_map").dialect_settings
    assert plain.prompt_file is None
    done = import_profile("thinking-with-map", checkout)
    assert done.exception is None, done.exception
    assert done.stdout.strip() == str(folder / "thinking_with_map")
    settings = load_profile("thinking-with-map").dialect_settings
    dialect = DIALECTS["thinking_with_map"].with_settings(settings.model_copy(update={"tool_set": "amap"}))
    assert isinstance(dialect, ReleasedDialect)
    assert [message.text for message in dialect.opening(Task(photos=()))] == ["Made-up system.", "Where is this?"]
    assert dialect.schema_overrides is not None
    (schema,) = dialect.schema_overrides[:1]
    assert schema.description == "Made up for amap_input_tips."
    assert schema.parameters["properties"] == {"query": {"type": "string", "description": "what"}}
    task = dialect.texts["verifier_task"]
    assert task == 'Task:\n{input}\n\nAgents:\n{candidates}\n\nJSON: {"lat": <float>}'
    kept = json.loads((folder / "thinking_with_map" / "imported.json").read_text())
    assert (kept["commit"], kept["licence"]) == (COMMIT, "Apache License, Version 2.0")


def test_the_texts_of_the_notebook_are_imported_beside_the_others(checkout, folder):
    texts = IMPORTERS["thinking_with_map"](checkout)["demo"]
    assert (texts.system, texts.task) == ("Use it.", "<image>Where is this?")
    assert [tool["name"] for tool in texts.tools] == ["amap_input_tips"]


def test_the_loop_chosen_in_the_configuration_speaks_its_own_texts(checkout, folder):
    assert import_profile("thinking-with-map", checkout).exception is None
    tree = load_profile("thinking_with_map").tree(model="m", endpoint="http://127.0.0.1:9/v1")
    chosen = {"dialect_settings": {"released_path": "demo"}}
    dialect = make_dialect("thinking_with_map", load_config(None, chosen, profile=tree))
    assert isinstance(dialect, ReleasedDialect)
    system, asked = (message.text for message in dialect.opening(Task(photos=())))
    assert system.startswith("Use it.")
    assert asked.endswith("Where is this?")
    assert dialect.schema_overrides is not None
    assert dialect.schema_overrides[0].name == "amap_input_tips"


def test_texts_are_recognised_by_their_hash_and_others_are_named(checkout, folder, monkeypatch):
    known = IMPORTERS["thinking_with_map"](checkout)["verl"].hashes()
    lines: list[str] = []
    monkeypatch.setattr(profile_command, "_print_text", lines.append)
    monkeypatch.setattr(
        profile_command, "KNOWN_TEXTS", {"thinking_with_map/verl": known | {"task": "other", "gone": "x"}}
    )
    assert import_profile("thinking-with-map", checkout).exception is None
    page = "\n".join(lines)
    assert "✓ thinking_with_map/verl system" in page
    assert "! thinking_with_map/verl task: differs from the published text" in page
    assert "! thinking_with_map/verl gone: not found" in page
    assert f"commit   {COMMIT}" in page
    assert "licence  Apache License" in page


def test_a_folder_that_is_no_checkout_is_refused_by_the_missing_file(tmp_path, folder):
    done = import_profile("thinking-with-map", tmp_path)
    assert "preprocess_thinking_with_map.py" in str(done.exception)
    assert not (folder / "thinking_with_map").exists()


def test_prompts_of_a_paper_come_as_text_files(tmp_path, folder):
    (tmp_path / "system.txt").write_text("From a paper.")
    assert "give a checkout" in str(import_profile("spotagent").exception)
    assert import_profile("spotagent", "--system-text", tmp_path / "system.txt").exception is None
    assert (folder / "spotagent" / "system.txt").read_text() == "From a paper."
    assert load_profile("spotagent").dialect_settings.prompt_file == folder / "spotagent" / "system.txt"
    assert "there is no system" in str(import_profile("nobody").exception)


@pytest.mark.parametrize("name", ["spotagent", "geo_adapt"])
async def test_a_model_is_asked_with_the_prompts_of_its_paper(name, tmp_path, folder, data_store, monkeypatch):
    """From two text files on the command line to what the endpoint is sent."""
    (tmp_path / "system.txt").write_text("Words of a paper: where?\n")
    (tmp_path / "task.txt").write_text("Beside the photo. {hint}\n")
    files = ["--system-text", tmp_path / "system.txt", "--task-text", tmp_path / "task.txt"]
    lines: list[str] = []
    monkeypatch.setattr(profile_command, "_print_text", lines.append)
    done = import_profile(name.replace("_", "-"), *files)
    assert done.exception is None, done.exception
    assert lines == [f"! {name}: no published texts are known to compare with"]
    async with an_endpoint(play_of(name)) as endpoint:
        tree = load_profile(name).tree(model="", endpoint=endpoint.url)
        args = load_config(None, {"routing": {"method": "fixed"}}, profile=tree)
        async with serving(args, ports=local_ports(args)) as (url, _), httpx.AsyncClient(timeout=30) as http:
            data = {"n_parallel": "1", "depth": "deep", "hint": "by the sea"}
            reply = await http.post(f"{url}/locate", files={"image": PHOTO}, data=data)
        first = endpoint.bodies[0]["messages"]
    assert reply.json()["answer"]["country"] == "Japan"
    assert first[0]["content"].startswith("Words of a paper: where?\n")
    assert ("maps_geocode" in first[0]["content"]) is (name == "spotagent")
    assert first[1]["content"][-1]["text"] == "Beside the photo. by the sea"


REVERSE_FILES = {
    "data_pipeline/build_sft_coldstart.py": 'SYSTEM_PROMPT = ("Made-up "\n    "system.")\nUSER_PROMPT = "other"\n',
    "data_pipeline/build_rl_parquet.py": 'SYSTEM_PROMPT = "Trained."\nUSER_PROMPT = """<image>Where?"""\n',
    "eval/eval_benchmark.py": (
        'import nothing_that_exists\n_user_q = "Where "\n_rest = "Say <answer>."\n'
        'USER_PROMPT = _user_q + "is it? " + _rest\n'
        + "".join(
            f'{name} = {{"type": "function", "function": {{"name": "{tool}", "description": ("Made " "up."), '
            '"parameters": {"type": "object", "properties": {}, "required": []}}}\n'
            for name, tool in (
                ("TOOL_SCHEMA", "image_zoom_in_tool"),
                ("TOOL_SCHEMA_SEARCH", "image_search_tool"),
                ("TOOL_SCHEMA_TAVILY", "text_search_tool"),
            )
        )
        + 'def run():\n    while True:\n        nudge = ("Call "\n                 "a tool.")\n'
    ),
    "eval/geoloc_tool_chat_template.jinja2": "{% for message in messages %}{{ message.content }}{% endfor %}",
    "script/rl/config/tool_config/geoloc_coldstart_v5.yaml": TOOL.format(name="text_search_tool"),
}
GEOAGENT_FILES = {
    "LICENSE": "Made-up licence\n=====\nOf nobody\n",
    "infer/infer.py": (
        'class SingleImageInfer:\n    def _system_prompt():\n        return """Locate\n        it."""\n'
        "    def infer(self):\n        ask([{'role': 'user', 'content': '<image>Tell me where'}])\n"
    ),
    "tools/grpo_prompt_en.txt": "Think first.\n",
    "swift/plugin/orm.py": 'class Reader:\n    def __init__(self):\n        self.system_prompt = """Read again."""\n',
}


def made_checkout(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def test_an_import_of_reverse_uses_the_texts_of_its_evaluation(tmp_path, folder):
    done = import_profile("reverse", made_checkout(tmp_path / "checkout", REVERSE_FILES))
    assert done.exception is None, done.exception
    settings = load_profile("reverse").dialect_settings
    dialect = DIALECTS["reverse"].with_settings(settings)
    assert isinstance(dialect, ReleasedDialect)
    opening = dialect.opening(Task(photos=()))
    assert [message.text for message in opening] == ["Made-up system.", "Where is it? Say <answer>."]
    assert [schema.description for schema in dialect.schema_overrides] == ["Made up."] * 3
    assert dialect.texts == {"nudge": "Call a tool."}
    template = (folder / "reverse" / "eval" / "chat_template.jinja").read_text()
    assert template == REVERSE_FILES["eval/geoloc_tool_chat_template.jinja2"]
    trained = IMPORTERS["reverse"](tmp_path / "checkout")["rl"]
    assert (trained.system, trained.task) == ("Trained.", "Where?")
    assert trained.tools[0]["parameters"]["properties"] == {"query": {"type": "string", "description": "what"}}


def test_a_text_with_an_undefined_or_circular_name_is_refused(tmp_path, folder):
    broken = REVERSE_FILES["eval/eval_benchmark.py"].replace("_rest = ", "_other = ")
    checkout = made_checkout(tmp_path / "checkout", REVERSE_FILES | {"eval/eval_benchmark.py": broken})
    assert "USER_PROMPT" in str(import_profile("reverse", checkout).exception)
    circle = REVERSE_FILES["eval/eval_benchmark.py"].replace('_user_q = "Where "', "_user_q = USER_PROMPT")
    made_checkout(checkout, {"eval/eval_benchmark.py": circle})
    assert "USER_PROMPT" in str(import_profile("reverse", checkout).exception)
    assert not (folder / "reverse").exists()


def test_geoagent_is_asked_as_by_its_script(tmp_path, folder, monkeypatch):
    lines: list[str] = []
    monkeypatch.setattr(profile_command, "_print_text", lines.append)
    done = import_profile("geoagent", made_checkout(tmp_path / "checkout", GEOAGENT_FILES))
    assert done.exception is None, done.exception
    dialect = DIALECTS["geoagent"].with_settings(load_profile("geoagent").dialect_settings)
    assert isinstance(dialect, ReleasedDialect)
    assert [message.text for message in dialect.opening(Task(photos=()))] == ["Locate\n        it.", "Tell me where"]
    assert dialect.texts == {"training_system": "Think first.\n", "consistency_system": "Read again."}
    assert "licence  Made-up licence, Of nobody" in lines
    assert "! geoagent system: differs from the published text" in lines


@pytest.mark.parametrize(
    ("name", "mend"), [("geoagent", "geoagent CHECKOUT"), ("spotagent", "spotagent --system-text FILE")]
)
def test_a_profile_without_imported_texts_logs_how_to_import_them(name, mend, folder, caplog):
    args = load_config(None, load_profile(name).tree(model="m", endpoint="http://127.0.0.1:9/v1"))
    _configured_dialect.cache_clear()
    make_dialect(args.dialect, args)
    (record,) = caplog.records
    assert f"geotts profile import {mend}" in record.getMessage()
    assert "prompts of GeoTTS" in record.getMessage()


def test_a_profile_with_imported_texts_logs_no_warning(tmp_path, folder, caplog):
    import_profile("geoagent", made_checkout(tmp_path / "checkout", GEOAGENT_FILES))
    args = load_config(None, load_profile("geoagent").tree(model="m", endpoint="http://127.0.0.1:9/v1"))
    make_dialect(args.dialect, args)
    assert not caplog.records
