"""Whole conversations of GeoVista with a scripted endpoint send the recorded messages."""

from support.released_conversations import FOLDER, conversation, needs_corpus, recorded_content, sizes

from geotts_benchmarks.released_rows.corpus import Corpus
from geotts_benchmarks.released_rows.geovista import subject as geovista
from geotts_benchmarks.released_rows.geovista.turns import _PAGES
from geotts_benchmarks.released_rows.played_rollout import made_photo
from geotts_benchmarks.released_rows.played_transport import PlayedTransport


@needs_corpus
async def test_whole_runs_of_geovista_send_the_recorded_messages():
    corpus = Corpus(FOLDER)
    runs = [row for row in corpus.rows("geovista", "turns") if isinstance(row["assistant"], list)]
    assert runs
    for row in runs:
        transport = PlayedTransport(geovista.as_tavily({"status": 200, "reply": _PAGES}))
        bodies, _ = await conversation(
            geovista.dialect_for(corpus), "geovista", transport, made_photo(1008, 756), row["assistant"]
        )
        assert len(bodies) == row["requests"]
        made = [sizes(message["content"]) for message in bodies[-1]["messages"]]
        wanted = [recorded_content(message["content"]) for message in row["last_request"]]
        wanted[0] = [corpus.texts("geovista")["system"]["text"]]
        assert made == wanted
