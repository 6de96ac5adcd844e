"""A whole conversation of REVERSE with a scripted endpoint sends the recorded messages."""

from support.released_conversations import FOLDER, needs_corpus, played_against, recorded_content, sizes

from geotts_benchmarks.released_rows.corpus import Corpus
from geotts_benchmarks.released_rows.played_rollout import made_photo
from geotts_benchmarks.released_rows.reverse import played_conversation as reverse_played
from geotts_benchmarks.released_rows.reverse import subject as reverse
from geotts_benchmarks.released_rows.reverse.services import MadeUpLens, MadeUpPages
from tools.released.catalog import released_local_tools
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.cache_store import MemoryStore
from tts.toolkit.toolbox import JoinedToolbox, LocalToolbox


@needs_corpus
async def test_a_whole_run_of_reverse_sends_the_recorded_messages():
    corpus = Corpus(FOLDER)
    row = next(row for row in corpus.rows("reverse", "turns") if row["id"] == "reverse/eval/conversation/3")
    assert len(row["assistant"]) == 11
    behind = reverse_played.eval_tools(MadeUpPages(None, corpus), MadeUpLens(None, corpus))
    broker = Broker(behind, MemoryStore())
    toolbox = JoinedToolbox(LocalToolbox(released_local_tools("reverse")), broker)
    photo = made_photo(*reverse.PHOTO)
    bodies, end = await played_against(reverse.dialect_for("eval", corpus), toolbox, photo, row["assistant"])
    await broker.aclose()
    assert len(bodies) == row["requests"]
    for number, body in enumerate(bodies):  # a thought and its reminder more in each request
        shown = row["last_request"][: 2 + 2 * number]
        assert [message["role"] for message in body["messages"]] == [message["role"] for message in shown]
        assert [sizes(message["content"]) for message in body["messages"]] == [
            recorded_content(m["content"]) for m in shown
        ]
        assert body["stop"] == row["stop_words"]
        assert sorted(tool["function"]["name"] for tool in body["tools"]) == sorted(row["tools_sent"])
    assert len(bodies[-1]["messages"]) == len(row["last_request"])
    assert end.answer is None
    assert row["prediction"] is None
