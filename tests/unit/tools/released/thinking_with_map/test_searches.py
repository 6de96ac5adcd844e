"""Searches of Thinking with Map as released: which provider is asked, and which text the model reads."""

from typing import Any

from support.released_thinking_with_map import ANSWER, TIPS, ZOOM, play, released_dialect, texts_read, written_call


def test_a_name_reaches_its_own_provider_whatever_the_script():
    for query in ("茶馆", "tea house"):
        _, requests = play(written_call("amap_input_tips", {"query": query}), ANSWER, provider={"reply": TIPS})
        assert requests == [
            {"method": "GET", "url": f"https://restapi.amap.com/v3/assistant/inputtips?keywords={query}&key=<key>"}
        ]
    google = released_dialect(tool_set="google")
    for query, language in (("茶馆", "zh-CN"), ("茶の館", "en-US"), ("tea house", "en-US")):
        reply: dict[str, Any] = {"reply": {"organic": []}}
        played, requests = play(written_call("google_search", {"query": query}), ANSWER, provider=reply, speaker=google)
        assert requests[0]["json"] == {"q": query, "hl": language}
        assert texts_read(played) == ['"```\n\n```"']


def test_texts_are_those_of_the_authors_server():
    played, _ = play(written_call("amap_input_tips", {"query": "茶"}), ANSWER, provider={"reply": TIPS})
    assert texts_read(played) == ['"id: B1\n name: 茶馆\n address: []\n typecode: 05\n city: []"']
    none, _ = play(
        written_call("amap_input_tips", {"query": "茶"}), ANSWER, provider={"reply": {"status": "1", "tips": []}}
    )
    assert texts_read(none) == ['"Api call failed for query: 茶"']
    wrong, _ = play(written_call("amap_input_tips", {"keywords": "茶"}), ANSWER, provider={"reply": TIPS})
    assert "'query' is missing" in texts_read(wrong)[0]
    unknown, _ = play(written_call("teleport", {}), ANSWER)
    assert texts_read(unknown) == ["Error when executing tool: 'teleport'"]


def test_long_texts_are_cut_and_pictures_stand_before_the_text():
    many = {"status": "1", "tips": [{"id": f"B{i}", "name": "x" * 60} for i in range(40)]}
    played, _ = play(written_call("amap_input_tips", {"query": "a"}), ANSWER, provider={"reply": many})
    assert (len(texts_read(played)[0]), texts_read(played)[0][-14:]) == (1024 + 14, "...(truncated)")
    zoomed, _ = play(written_call("image_zoom_in_tool", ZOOM), ANSWER)
    assert [part.kind for part in zoomed.appended_messages()[1].parts] == ["image", "text"]
