"""A request goes on in another process from what the log and the checkpoints say, wherever the first one was lost."""

from dataclasses import replace

import pytest
from support.basics import a_request, sign_bytes
from support.service import an_app, ports_of

from geotts_client.check_options import checking
from tts.clues.claimed_places import claimed_place
from tts.clues.clue_reader import ClueReader
from tts.config import ScriptedEngine
from tts.domain.photo_cleaning import load_photo
from tts.domain.trajectory import fold
from tts.ensemble.resumed_request import ResumedRequest
from tts.pipeline import Solution
from tts.ports.rollout_groups import Checkpoint
from tts.ports.toolbox import Attachment

ENGINE = ScriptedEngine(turns=3, tokens_per_turn=4, turn_s=0.02)


async def items_of(request, ports, resumed=None):
    """All that one process sends, in order."""
    items = []

    async def keep(item):
        items.append(item)

    await Solution(request, ports, 30.0, resumed=resumed).run(keep)
    return items


def events_in(items):
    return [item for item in items if not isinstance(item, Attachment | Checkpoint)]


def lost_after(items, count):
    """What another process finds of the first `count` items."""
    kept = items[:count]
    checkpoints = [item for item in kept if isinstance(item, Checkpoint)]
    files = {item.sha256: item.data for item in kept if isinstance(item, Attachment)}
    return events_in(kept), ResumedRequest.from_log(events_in(kept), checkpoints, files)


def as_check(request, reader):
    """The same request as the check of a claim: the last rollouts test it."""
    claimed = claimed_place("Bellinzona", reader)
    return replace(request, options=checking("Bellinzona", request.options), claimed=(claimed,))


@pytest.mark.slow
@pytest.mark.parametrize("claim", [False, True], ids=["located", "checked"])
@pytest.mark.parametrize("sees_pictures", [False, True], ids=["reads", "sees"])
async def test_a_request_lost_anywhere_resumes_to_one_answer_and_repeats_no_turn(
    data_store, countries, sees_pictures, claim
):
    ports = ports_of(an_app(ENGINE.model_copy(update={"sees_pictures": sees_pictures})))
    request = a_request(load_photo(sign_bytes("Bellinzona")), n_parallel=3, depth="deep", stop="none", seed=1)
    request = (
        as_check(request, ClueReader(data_store.gazetteer(), data_store.lexicon(), countries)) if claim else request
    )
    uncut = await items_of(request, ports)
    whole = fold(events_in(uncut))
    for count in range(1, len(uncut), 3):
        before, resumed = lost_after(uncut, count)
        after = events_in(await items_of(request, ports, resumed))
        together = [*before, *after]
        assert [event.seq for event in together] == list(range(1, len(together) + 1))
        assert [event.type for event in together].count("answer") == 1
        assert together[-1].type == "done"
        run = fold(together)
        assert run.answer.point == whole.answer.point
        assert run.answer.n == whole.answer.n
        done_before = {(e.rollout_id, e.turn) for e in before if e.type == "turn_finished"}
        done_after = {(e.rollout_id, e.turn) for e in after if e.type == "turn_finished"}
        assert {turn for _, turn in done_before & done_after} <= {ENGINE.turns - 1}  # it ends in the same batch


async def test_a_resumed_request_with_a_logged_answer_only_ends(data_store):
    ports = ports_of(an_app(ENGINE))
    request = a_request(load_photo(sign_bytes("Bellinzona")), n_parallel=2, depth="deep", seed=1)
    uncut = await items_of(request, ports)
    at = next(i for i, item in enumerate(uncut) if getattr(item, "type", "") == "answer")
    before, resumed = lost_after(uncut, at + 1)
    after = events_in(await items_of(request, ports, resumed))
    assert [event.type for event in after] == ["done"]
    assert after[0].stop_reason == before[-1].answer.stop_reason


def test_a_checkpoint_counts_only_with_the_end_of_its_turn_in_the_log():
    saved = Checkpoint(rollout_id=0, turn=1, messages=(), usage={})
    assert ResumedRequest.from_log([], [saved], {}).checkpoints == {}
