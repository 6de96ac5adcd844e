"""The whole conversation of GeoAgent with a scripted endpoint is one turn."""

from support.released_conversations import FOLDER, conversation, needs_corpus, sizes

from geotts_benchmarks.released_rows.corpus import Corpus
from geotts_benchmarks.released_rows.played_rollout import made_photo
from geotts_benchmarks.released_rows.played_transport import PlayedTransport
from tts.dialects import DIALECTS
from tts.dialects.released.imported_texts import ImportedTexts
from tts.dialects.settings import DialectSettings
from tts.rewards.released.geoagent_answer import Names, names_in

NOWHERE = {"reply": {"results": [], "status": {"code": 200, "message": "OK"}, "total_results": 0}}


@needs_corpus
async def test_the_whole_conversation_of_geoagent_is_one_turn(tmp_path):
    """Whatever it says, the model is not asked again; the request is that of the inference script."""
    corpus = Corpus(FOLDER)
    texts = corpus.texts("geoagent")["inference"]
    imported = ImportedTexts(system=texts["system"]["text"], task=texts["user"]["text"].removeprefix("<image>"))
    settings = DialectSettings.model_validate({"behaviour": "released", **imported.write(tmp_path)})
    dialect = DIALECTS["geoagent"].with_settings(settings)
    wanted = [[texts["system"]["text"]], [(1008, 756), texts["user"]["text"].removeprefix("<image>")]]
    rows = corpus.rows("geoagent", "turns")[::5]  # `bench conformance` reads them all
    assert len(rows) > 3
    for row in rows:
        # what it says after its first turn would be read by nobody
        outputs = [row["assistant"], "not asked for"]
        bodies, end = await conversation(dialect, "geoagent", PlayedTransport(NOWHERE), made_photo(1008, 756), outputs)
        (body,) = bodies
        assert [sizes(message["content"]) for message in body["messages"]] == wanted
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        assert "tools" not in body
        names = names_in(row["answer_for_geocoding"] or "")
        read = names_in("") if end.answer is None else Names(end.answer.country, end.answer.region, end.answer.place)
        assert read == (names if names.country else names_in("")), row["id"]
