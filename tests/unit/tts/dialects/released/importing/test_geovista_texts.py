"""Texts of GeoVista's loop, by their role."""

from tts.dialects.released.importing import IMPORTERS


def test_the_texts_in_the_loop_of_geovista_are_imported_by_their_role(tmp_path):
    loop = tmp_path / "eval" / "inference_agent_tool_mode.py"
    loop.parent.mkdir()
    loop.write_text(
        'SYSTEM_PROMPT = """\nMade up.\n"""\ndef run_inference_for_image(path):\n'
        '    first = [{"type": "text", "text": f"Where?"}]\n    again = [{"type": "text", "text": f"Where?"}]\n'
        '    error = {"type": "text", "text": err_text}\n'
        '    a = {"type": "text", "text": "Answer now."}\n    b = {"type": "text", "text": "Search now."}\n'
    )
    texts = IMPORTERS["geovista"](tmp_path)["eval"]
    assert (texts.system, texts.task) == ("\nMade up.\n", "Where?")
    assert texts.texts == {"answer_demand": "Answer now.", "search_hint": "Search now."}
