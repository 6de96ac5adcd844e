"""What each part of `geotts bench consensus` and `geotts bench depth` must report, on small made data."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from geotts_benchmarks.depth_and_stops.stop_policy_transfer import stopped_elsewhere
from geotts_benchmarks.verifier import consensus, consensus_guesswork, consensus_policies, consensus_questions
from geotts_benchmarks.verifier.consensus_draws import measure_answer_draws
from geotts_benchmarks.verifier.consensus_guesswork import guesswork_elsewhere, smallest_as_good
from geotts_benchmarks.verifier.consensus_logs import LogSet, compare_reliabilities, cover_elsewhere
from geotts_benchmarks.verifier.consensus_policies import measure_policies
from geotts_benchmarks.verifier.consensus_questions import measure_questions
from tts.domain.geo import LatLon, destination
from tts.eval.synthetic.policies import RHOS
from tts.verify.consensus import guesswork
from tts.verify.evidence.world import World

pytestmark = pytest.mark.slow
PHOTOS = 48


@pytest.fixture(scope="module")
def world(gazetteer, countries):
    return World(gazetteer, countries)


def truth_of(photo):
    return LatLon(lat=40.0 + photo % 8, lon=-3.0 + 2.0 * (photo // 8))


def logs(folder, *, photos=PHOTOS, **errors_km):
    """A folder with a log for each system; `errors_km` says how far to the east its answer about a photo is."""
    folder.mkdir()
    for system, error_km in errors_km.items():
        rows = []
        for photo in range(photos):
            truth = truth_of(photo)
            at = destination(truth, bearing_deg=90, distance_km=error_km(photo))
            stated = json.dumps({"lat": at.lat, "lon": at.lon, "city": "", "country": ""})
            rows.append({"index": photo, "ground_truth": {"lat": truth.lat, "lon": truth.lon}, "solution_str": stated})
        (folder / f"{system}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def read(folder):
    return LogSet.read(folder, "paper", 0)


def is_difference(row):
    value, low, high = row
    return low <= value <= high


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    """Two systems make the same large error about every photo; the third one is always right."""
    folder = tmp_path_factory.mktemp("made") / "twins"
    return logs(folder, good=lambda _: 0.0, twin_a=lambda _: 3000.0, twin_b=lambda _: 3000.0)


def test_named_sources_are_compared_with_the_medoid_and_the_best_source(twins, world):
    found = compare_reliabilities(read(twins), world)
    assert found["medoid"] == [0.0] * 6, "the medoid follows the two that agree"
    assert found["named_labels"] == [100.0] * 6, "labels of the other half show which source is right"
    assert found["named_labels_minus_best_single"] == [[0.0, 0.0, 0.0]] * 6
    assert found["named_agreement"] == [0.0] * 6, "agreement alone cannot know that two sources copy each other"
    assert found["named_agreement_minus_best_source"] == [[-100.0, -100.0, -100.0]] * 6
    assert all(is_difference(row) for row in found["minus_medoid"])


def test_the_command_reports_the_figure_of_the_sources_that_are_asked_for(tmp_path, data_store):
    """Both figures are in the line; `--sources` says which of them is the consensus."""
    errors_km = {"good": lambda _: 0.0, "twin_a": lambda _: 3000.0, "twin_b": lambda _: 3000.0}
    folder = logs(tmp_path / "logs", photos=2 * PHOTOS, **errors_km)  # halves that a calibration can be fitted to
    least = ["--splits", "1", "--count", "1", "--policies", "0", "--questions", "0"]
    found = {}
    for sources in ("named", "anonymous"):
        result = CliRunner().invoke(consensus.command, ["--logs", str(folder), "--sources", sources, *least])
        assert result.exit_code == 0, result.output
        found[sources] = json.loads(result.stdout.splitlines()[-1])
    assert found["named"]["consensus"] == found["named"]["named_labels"] == [100.0] * 6
    assert found["anonymous"]["consensus"] == found["anonymous"]["anonymous"] == found["named"]["anonymous"]
    assert found["anonymous"]["named_labels"] == [100.0] * 6
    assert found["anonymous"]["consensus"][2] < 100.0, "nothing tells which of the answers copy each other"
    assert [found[sources]["sources"] for sources in found] == list(found)


def test_radii_that_were_fitted_elsewhere_are_measured_here_with_an_interval(tmp_path, world):
    small = {"a": lambda photo: 1.0 + photo % 7, "b": lambda photo: 2.0 + photo % 5}
    there = read(logs(tmp_path / "there", **small))
    same = cover_elsewhere(read(logs(tmp_path / "same", **small)), there, world)
    large = {"a": lambda photo: 1000.0 + photo % 7, "b": lambda photo: 1001.0 + photo % 5}
    far = cover_elsewhere(read(logs(tmp_path / "far", **large)), there, world)
    for found in (same, far):
        low, high = found["cover90_interval"]
        assert low <= found["cover90"] <= high
        assert found["radius90_mean_km"] > 0
    assert same["cover90"] > 85
    assert far["cover90"] < 15, "radii do not hold where errors are a hundred times as large"


def test_weights_of_guesses_are_chosen_on_the_other_family_and_measured_on_this_one(
    tmp_path, twins, world, monkeypatch
):
    """The wrong twins of the other family answer 300 km to the east, where more people live than at the true places."""
    monkeypatch.setattr(consensus_guesswork, "GRID", {"CROWD": (0.0, 5.0)})
    shipped = guesswork.CROWD
    other = read(logs(tmp_path / "other", good=lambda _: 0.0, twin_a=lambda _: 300.0, twin_b=lambda _: 300.0))
    found = guesswork_elsewhere(read(twins), other, world)["most_accurate"]
    by_weight = {}
    for weight in (0.0, 5.0):
        monkeypatch.setattr(consensus_guesswork, "GRID", {"CROWD": (weight,)})
        by_weight[weight] = guesswork_elsewhere(other, other, world)["most_accurate"]["consensus"]
    assert by_weight[0.0] != by_weight[5.0], "the weight matters on the other family"
    assert found["weights"]["crowd"] == max(by_weight, key=lambda weight: sum(by_weight[weight]))
    assert len(found["consensus"]) == len(found["minus_medoid"]) == 6
    assert all(is_difference(row) for row in found["minus_medoid"])
    assert shipped == guesswork.CROWD


def test_smaller_weights_are_chosen_unless_larger_ones_are_better_by_a_standard_error():
    """Three settings, the smallest weights first; a row has the share of thresholds that each of 400 photos is within.

    The largest weights put 1 photo right where others have it wrong, or 100 photos.
    """
    base, no_worse, better = np.zeros(400), np.zeros(400), np.zeros(400)
    better[:1] = 1.0
    assert smallest_as_good(np.stack([base, no_worse, better])) == 0
    better[:100] = 1.0
    assert smallest_as_good(np.stack([base, no_worse, better])) == 2


def test_bench_consensus_reports_what_verifier_questions_recover_and_lose(twins, world, monkeypatch):
    monkeypatch.setattr(consensus_questions, "FAMILIES", ("namesakes", "injected_page"))
    found = measure_questions(world, read(twins).panels, count=8, seed=3, questions=4)["verifier_questions"]
    lost = found["left_behind"]
    assert lost["gain"][0] == pytest.approx(lost["right"] - lost["right_without"], abs=0.02)
    assert lost["over_one_more_rollout"][0] == pytest.approx(
        lost["right"] - lost["right_with_one_more_rollout"], abs=0.02
    )
    assert all(is_difference(lost[name]) for name in ("gain", "recovered_gain", "lost"))
    assert lost["recovered_interval"][0] <= lost["recovered"] <= lost["recovered_interval"][1]
    assert lost["recovered_gain"][0] <= lost["recovered"]
    assert lost["recovered"] > 50
    assert 0 < lost["calls"] <= 4
    assert found["elsewhere"].keys() == {"namesakes", "injected_page"}
    share, low, high = found["elsewhere_lost"]
    assert low <= share <= high
    assert high > 0  # an interval of 16 scenarios has a width, even if none is lost
    assert found["elsewhere_lost_most"] == max(row["lost"] for row in found["elsewhere"].values())
    assert found["attacks_moved"] == found["elsewhere"]["injected_page"]["moved"]
    attacked = found["elsewhere"]["injected_page"]
    assert attacked["moved_interval"][0] <= attacked["moved"] <= attacked["moved_interval"][1]
    assert "moved" not in found["elsewhere"]["namesakes"]
    assert found["logs"] == {"photos": PHOTOS, "asked": 0, "changed": 0}, "nothing was read in the photos of logs"


def test_samples_of_one_policy_are_reported_at_each_dependence(world):
    found = measure_policies(world, 20, 0)["policies"]
    assert (found["kind_of_n"], found["n"], found["photos"]) == ("samples of one policy, with tools", 8, 20)
    rows = found["by_rho"]
    assert list(rows) == [str(rho) for rho in RHOS]
    estimated = [row["rho_estimated"] for row in rows.values()]
    assert estimated == sorted(estimated)
    assert estimated[0] < 0.1
    assert estimated[-1] > 0.7
    for row in rows.values():
        assert is_difference(row["gain_of_n"])
        assert is_difference(row["stopping_loss"])
        assert row["cover90_interval"][0] <= row["cover90"] <= row["cover90_interval"][1]
        assert 0 <= row["stopping_saved"] < 100
        assert row["own_calibration"] is None, "20 photos are too few to fit a calibration to"


def test_radii_are_also_reported_with_a_calibration_of_the_same_dependence(world, monkeypatch):
    """At ρ = 0.9 nearly all rollouts agree, right or wrong: the mixed calibration takes this for evidence."""
    monkeypatch.setattr(consensus_policies, "RHOS", (0.0, 0.9))
    row = measure_policies(world, 120, 1)["policies"]["by_rho"]["0.9"]
    own = row["own_calibration"]
    assert own["radius90_mean_km"] > row["radius90_mean_km"]
    assert own["cover90"] >= row["cover90"]
    assert own["cover90_interval"][0] <= own["cover90"] <= own["cover90_interval"][1]
    assert is_difference(own["brier_change"])


def test_answers_drawn_again_are_reported_with_and_without_at_each_dependence(world):
    found = measure_answer_draws(world, 20, 0)["answer_draws"]
    assert (found["kind_of_n"], found["n"], found["draws"]) == ("samples of one policy, with tools", 2, 3)
    rows = found["by_rho"]
    assert list(rows) == [*(str(rho) for rho in RHOS), "1.0"]
    for row in rows.values():
        without, with_draws = row["brier"]
        assert row["brier_change"][0] == pytest.approx(with_draws - without, abs=0.0002)
        assert all(is_difference(row[name]) for name in ("brier_change", "radius90_change_km", "cover90_change"))
    assert rows["1.0"]["acc25_change"] == [0.0, 0.0, 0.0], "draws that cannot differ change no answer"


@pytest.mark.parametrize("part", [measure_policies, measure_answer_draws])
def test_a_part_over_no_photos_is_left_out(part, world):
    assert part(world, 0, 0) == {}
    assert measure_questions(world, (), 1, 0, questions=0) == {}


def test_the_stop_policy_is_measured_on_each_family_with_the_table_of_the_other(tmp_path, world):
    agreeing = {name: lambda _: 0.0 for name in "abcd"}
    apart = {name: lambda photo, far=700.0 * i: far for i, name in enumerate("abcd")}
    one, other = logs(tmp_path / "agreeing", **agreeing), logs(tmp_path / "apart", **apart)
    found = stopped_elsewhere(one, other, world, shuffles=1)
    assert found["elsewhere"].keys() == {"agreeing", "apart"}
    for points in found["elsewhere"].values():
        assert points.keys() == {"25", "200", "750"}
        assert all("loss_at_most_1" in point for point in points.values())
    for target, mean in found["elsewhere_saved_mean"].items():
        if target != "all":
            saved = [points[target]["saved"] for points in found["elsewhere"].values()]
            assert mean == pytest.approx(sum(saved) / 2, abs=0.01)
    assert all(point["loss"] == 0 for point in found["elsewhere"]["agreeing"].values()), "there is nothing to lose"
