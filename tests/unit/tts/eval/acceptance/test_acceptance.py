"""What an acceptance run makes of recorded trajectories: rates, findings, calibration, report."""

import math

import pytest
from support.acceptance_records import ENGINES, TRUTH, assess_records, call, record, result, rollout, run_of, turn
from support.made_answers import EVIL, an_answer

from tts.config import PipelineConfig
from tts.domain.answer import RolloutStatus, StopReason
from tts.domain.failure import RolloutFailure
from tts.domain.geo import LatLon
from tts.domain.tooling import ToolCall, ToolErrorKind
from tts.domain.usage import Usage
from tts.eval.acceptance.acceptance import OWN, SAMPLE
from tts.eval.acceptance.allowance import Allowance
from tts.eval.acceptance.costs import costs
from tts.eval.acceptance.faults import fault_rates
from tts.eval.acceptance.fitting import fit_and_install
from tts.eval.acceptance.photos import acceptance_photos
from tts.eval.acceptance.published_comparison import compare_with_published
from tts.eval.acceptance.rate import Rate
from tts.eval.acceptance.report import acceptance_markdown, acceptance_page
from tts.eval.datasets import load_dataset
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.runs.configuration import config_digest
from tts.eval.runs.run_metrics import measure
from tts.package_files import SAMPLES
from tts.verify.consensus.calibration import shipped_calibration
from tts.verify.consensus.installed_calibrations import install
from tts.verify.evidence.world import World


@pytest.fixture
def calibrations(tmp_path, monkeypatch):
    monkeypatch.setenv("GEOTTS_CALIBRATIONS", str(tmp_path / "calibrations"))
    return tmp_path / "calibrations"


@pytest.fixture(scope="module")
def names(countries):
    return PlaceNames(countries)


def test_each_kind_of_fault_is_counted_over_its_own_total():
    overflow = RolloutFailure(code="model", detail="too long", about="context", http_status=400)
    unknown = result(0, ToolErrorKind.UNKNOWN_TOOL)
    run = run_of(
        rollout(0, [turn(0, [call(0), call(1), call(2, "y")], map(result, range(3))), turn(1, problem="no JSON")]),
        rollout(1, [turn(0, [call(0, name="nope")], [unknown]), turn(1, cut=True, problem="cut")]),
        rollout(2, [turn(0, [call(0)], [result(0, ToolErrorKind.QUOTA)])], stop=StopReason.DEADLINE),
        rollout(3, [turn(0)]),
        rollout(4, stop=StopReason.FAILED, point=None, failure=overflow),
        rollout(5, stop=StopReason.FAILED, point=None, failure=RolloutFailure(code="model", detail="away")),
        rollout(6, [turn(0, problem="nothing")], stop=StopReason.FAILED, point=None),
    )  # fmt: skip
    found = fault_rates([run])
    counted = {name: (rate.found, rate.of) for name, rate in found}
    assert counted == {
        "broken_rollouts": (1, 7),
        "cut_contexts": (1, 7),
        "late_rollouts": (1, 7),
        "rollouts_without_calls": (2, 5),
        "parse_failures": (2, 7),
        "cut_turns": (1, 7),
        "invalid_calls": (1, 5),
        "repeated_calls": (1, 5),
        "failed_calls": (1, 5),
    }


def test_arguments_in_another_order_are_the_same_call():
    first, second = call(0), ToolCall(id="c1", name="poi_keyword_search", arguments={"country": "CH", "query": "x"})
    assert fault_rates([run_of(rollout(0, [turn(0, [first]), turn(1, [second])]))]).repeated_calls.found == 1


def test_a_rate_without_cases_has_no_value():
    rate = Rate.from_cases([])
    assert (rate.percent, rate.is_above(0.0), rate.is_below(100.0)) == (None, False, False)


def test_a_single_bad_turn_is_no_finding_and_many_bad_turns_are_one(names):
    args = PipelineConfig.model_validate({"engine": ENGINES[0]})

    def faults(bad, good):
        turns = [turn(i, problem="no JSON" if i < bad else "") for i in range(bad + good)]
        found = assess_records([record(0, rollout(0, turns), rollout(1, turns))], args, names, offers_tools=False)
        return {finding.about: finding for finding in found.findings}

    assert "parse_failures" not in faults(1, 50)
    finding = faults(10, 40)["parse_failures"]
    assert "20.0 %" in finding.text
    assert "no JSON" in finding.text
    assert "engine.tools" in finding.change


def test_a_finding_on_invalid_calls_quotes_the_toolbox_and_names_the_set_of_tools(names):
    calls = [turn(i, [call(i)], [result(i, ToolErrorKind.UNKNOWN_TOOL)]) for i in range(30)]
    args = PipelineConfig.model_validate({"engine": ENGINES[0], "dialect_settings": {"tool_set": "place"}})
    found = assess_records([record(0, rollout(0, calls))], args, names).findings
    (finding,) = [one for one in found if one.about == "invalid_calls"]
    assert finding.text.endswith("most often: no")
    assert "dialect_settings.tool_set" in finding.change


def test_means_come_with_intervals_and_an_unpriced_model_has_no_cost():
    spent = [
        record(i, seconds=float(i), prompt_tokens=90 + i, completion_tokens=10, cached_tokens=45) for i in range(9)
    ]
    found = costs(spent)
    assert (found.tokens.value, found.median_seconds, found.cost_usd) == (104.0, 4.0, None)
    assert found.tokens.low < 104.0 < found.tokens.high
    assert found.cached_percent.value == pytest.approx(100 * 405 / 846)
    assert costs([record(0, cost_usd=0.02), record(1)]).whole_cost_usd == 0.02
    assert costs([record(0, failure="away")]).tokens is None


def test_passes_verifier_and_cover_are_those_of_the_labelled_photos(names):
    far = LatLon(lat=0.0, lon=0.0)
    right = [record(i, rollout(0), rollout(1, point=far)) for i in range(3)]
    lost = [record(9, rollout(0, point=far), answer=an_answer(lat=0.0, lon=0.0))]
    drawn = [record(20, rollout(0), tag=SAMPLE)]
    args = PipelineConfig.model_validate({"engine": ENGINES[0]})
    found = assess_records([*right, *lost, *drawn], args, names)
    assert (found.quality.photos, found.samples.photos, found.photos) == (4, 1, 5)
    near = next(at for at in found.quality.at if at.threshold_km == 25)
    assert (near.pass_1.value, near.pass_n.found, near.verifier.found) == (37.5, 3, 3)
    assert near.gain.value == pytest.approx(37.5)
    (cover,) = found.quality.covers
    assert (cover.calibration, cover.radius90.found, cover.radius90.of) == ("unstated", 3, 4)


def test_an_acceptance_run_of_one_photo_has_wide_intervals_and_no_fault(names):
    args = PipelineConfig.model_validate({"engine": ENGINES[0]})
    lost = record(0, rollout(0), answer=an_answer(lat=0.0, lon=0.0))
    found = assess_records([lost], args, names, rollouts=1)
    near = next(at for at in found.quality.at if at.threshold_km == 25)
    assert (near.pass_1.value, near.gain.value) == (100.0, -100.0)
    assert near.pass_1.low < 30
    assert near.gain.high > 0
    assert not found.has_faults


def test_the_same_far_answer_to_most_photos_is_a_finding(names):
    args = PipelineConfig.model_validate({"engine": ENGINES[0]})

    def found(places):
        answers = [an_answer(lat=lat, lon=lon) for lat, lon in places]
        photos = [record(i, rollout(0), answer=answer) for i, answer in enumerate(answers)]
        made = assess_records(photos, args, names)
        return made.quality.same_place.found, {finding.about for finding in made.findings}

    count, about = found([(48.85, 2.35)] * 6 + [(48.9, 2.4), (10.0, 10.0), (TRUTH.lat, TRUTH.lon)])
    assert (count, "same_place" in about) == (7, True)
    count, about = found([(40.0 - i, 30.0 + i) for i in range(9)])
    assert (count, "same_place" in about) == (1, False)
    assert found([(TRUTH.lat, TRUTH.lon)] * 9) == (0, set())


def test_the_published_row_of_a_dialect_stands_beside_the_run(names):
    measured = measure([record(i, rollout(0)) for i in range(3)], names)
    tables = compare_with_published("reverse", "folder", measured)
    assert {table.benchmark for table in tables} == {"im2gps3k", "yfcc4k"}
    assert tables[0].rows[0].acc_percent == (22.5, 48.3, 59.3, 73.5, 84.8)
    assert "other ones than the benchmark's" in tables[0].rows[-1].note
    (same,) = compare_with_published("reverse", "yfcc4k", measured)
    assert same.rows[-1].note == "3 photos"
    assert compare_with_published("generic", "folder", measured) == ()
    assert compare_with_published("reverse", "folder", measure([], names)) == ()


def test_a_calibration_needs_forty_answers_and_says_so(calibrations, gazetteer, countries, names):
    args, world = PipelineConfig.model_validate({"engine": ENGINES[0]}), World(gazetteer, countries)
    made = fit_and_install([record(i, rollout(0)) for i in range(39)], args, world, origin="x", keep=True)
    assert (made.is_installed, made.state, made.needed) == (False, "transferred", 40)
    assert "39 of your 39 labelled photos" in made.why
    assert "none was given" in fit_and_install([], args, world, origin="x", keep=True).why
    assert not calibrations.exists()


@pytest.mark.slow
def test_a_calibration_is_installed_in_place_of_an_earlier_one_and_checked_on_halves(
    calibrations, gazetteer, countries
):
    args, world = PipelineConfig.model_validate({"engine": ENGINES[0]}), World(gazetteer, countries)
    install(shipped_calibration("default").model_copy(update={"runs": 41}), args)
    places = [TRUTH.model_copy(update={"lat": 40.0 + i % 9, "lon": 9.0 + i % 7}) for i in range(81)]
    photos = [record(i, rollout(0, point=place), rollout(1, point=place)) for i, place in enumerate(places)]
    asked = fit_and_install(photos, args, world, origin="mine", keep=False)
    assert (asked.is_installed, asked.photos) == (False, 81)
    made = fit_and_install(photos, args, world, origin="mine", keep=True)
    assert (made.is_installed, made.state, made.photos, made.replaced_photos) == (True, "fitted", 81, 41)
    assert 50 < made.held.cover90 <= 100


def test_an_installed_calibration_does_not_begin_another_run_file(calibrations):
    args = PipelineConfig.model_validate({"engine": ENGINES[0]})
    before, whole = config_digest(args, None, with_installed=False), config_digest(args, None)
    install(shipped_calibration("default"), args)
    assert config_digest(args, None, with_installed=False) == before
    assert config_digest(args, None) != whole


def test_photos_of_the_same_names_at_other_places_are_other_photos(tmp_path):
    shipped_only = acceptance_photos("folder", None)
    assert {sample.tags[0] for sample in shipped_only} == {SAMPLE}
    both = acceptance_photos("folder", SAMPLES, limit=4)
    assert [sample.tags[0] for sample in both].count(OWN) == 4
    assert len({sample.id for sample in both}) == len(both)
    assert {sample.key for sample in shipped_only} == {sample.key for sample in load_dataset("folder", SAMPLES)}


def test_an_acceptance_run_ends_without_time_money_or_usable_results():
    now = 0.0
    allowance = Allowance(60.0, 0.05, clock=lambda: now)
    answered_rollout = rollout(0, [turn(0)])
    allowance.count(record(0, answered_rollout, cost_usd=0.03))
    assert allowance.may_continue()
    now = 60.0
    assert allowance.spent_limit == "time"
    now = 1.0
    allowance.count(record(1, rollout(0, [turn(0)], usage=Usage(cost_usd=0.03)), failure="unusable"))
    assert (allowance.spent_limit, allowance.may_continue()) == ("money", False)
    silent = Allowance(60.0)
    for i in range(3):
        assert silent.may_continue()
        silent.count(record(i, failure="away"))
    assert silent.has_no_replies


@pytest.mark.parametrize(
    ("sources", "kind"),
    [(("", ""), "samples of one policy, 2 a photo"), (("small", "large"), "a mixture of models, 2 a photo")],
)
def test_the_report_says_beside_pass_at_n_which_kind_of_n_it_is(names, sources, kind):
    args = PipelineConfig.model_validate({"engine": ENGINES[0]})
    rollouts = tuple(
        RolloutStatus(rollout_id=i, stop_reason=StopReason.ANSWERED, answered=True, source=source)
        for i, source in enumerate(sources)
    )
    found = assess_records([record(0, rollout(0), rollout(1), answer=an_answer(rollouts=rollouts))], args, names)
    rows = [line for line in acceptance_markdown(found).splitlines() if line.startswith("| kind of N ")]
    assert [row.split("|")[2].strip() for row in rows] == [kind]
    assert f"<td>kind of N</td><td>{kind}</td>" in acceptance_page(found)


def test_the_report_tells_what_is_wrong_first_and_no_text_of_a_model_becomes_markup(names):
    args = PipelineConfig.model_validate({"engine": ENGINES[0], "dialect": "reverse"})
    bad = [turn(i, problem=EVIL) for i in range(20)]
    found = assess_records([record(0, rollout(0, bad), rollout(1, bad))], args, names, left=3)
    text, html = acceptance_markdown(found), acceptance_page(found)
    assert text.index("parse") < text.index("## Calibration") < text.index("| REVERSE")
    assert "3 are left: give the same command again" in text
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert math.isclose(found.faults.parse_failures.percent.value, 100.0)
