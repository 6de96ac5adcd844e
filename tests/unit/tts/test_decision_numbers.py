"""Modules that decide take their numbers from `tts/data/weights`, where each has its source."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tts

FOLDER = Path(tts.__file__).parent
DECIDING = ("clues", "domain", "ensemble", "geodata/same_place.py", "inference/clues", "verify")

# Numbers that no weight is: each with the reason.
ALLOWED = {
    "clues/scope.py:_LEAST_PRIOR": "avoids a division by zero",
    "domain/continued.py:_SAME_KM": "chooses a sentence about two answers, and decides nothing else",
    "domain/geo.py:EARTH_RADIUS_KM": "a physical fact",
    "domain/geo.py:DEGREE_KM": "a physical fact",
    "domain/geo.py:SHORTEST_DEGREE_KM": "a physical fact",
    "domain/geo.py:TABLE_KM": "the distances of published tables, at which a best point is looked for",
    "domain/geojson.py:_WHOLE_WORLD_KM": "from which a circle is drawn as the whole world: decides the drawing alone",
    "domain/geojson.py:_SMALL_GAP": "how exactly an outline is drawn",
    "domain/geojson.py:_HALF_CUT": "the grid of written coordinates",
    "domain/text_length.py:MIXED_CHARS_A_TOKEN": "estimates how much of a context is used, not a part of the decision",
    "domain/token_price.py:_MILLION": "what prices are given for",
    "ensemble/consensus_watch.py:_SLACK": "rounding of sums in 64 bits",
    "ensemble/loss_rule.py:_POINT": "what a percentage point means",
    "ensemble/vote_count.py:_SLACK": "rounding of sums in 64 bits",
    "inference/clues/questions.py:_HALVES": "where the halves of a photo begin",
    "verify/assembly/radius_consistency.py:_STEP_KM": "radii are written to ten metres",
    "verify/assembly/radius_consistency.py:_EVEN": "follows from what 90 % and 50 % mean",
    "verify/consensus/calibration.py:LEVELS": "the grid of the table in calibration files, fixed by their version",
    "verify/consensus/calibration.py:_CONSTANT": "a scale of 0.001 in calibration files stands for a constant feature",
    "verify/consensus/radius_fitting.py:_TAIL_LEVELS": "a grid that the fit searches; it writes down what it chose",
    "verify/consensus/radius_fitting.py:_BETAS": "a grid that the fit searches; it writes down what it chose",
    "verify/consensus/radius_fitting.py:_CAPS_KM": "a grid that the fit searches; it writes down what it chose",
    "verify/consensus/region_fitting.py:_HALF": "what a 50 % region means",
    "verify/evidence/joint_belief.py:_LEAST_PRIOR": "avoids a division by zero",
    "verify/evidence/joint_belief.py:_ROUNDING": "rounding of a cosine in 64 bits",
    "verify/evidence/several_photos.py:_LEAST_SHARE": "avoids the logarithm of zero",
    "verify/evidence/several_photos.py:_LEAST_PRIOR": "avoids a division by zero",
    "verify/verifiers/model.py:_RESERVE_SHARE": "time that is kept for the answer, not a part of the decision",
    "verify/verifiers/model.py:_RESERVE_MAX_S": "time that is kept for the answer, not a part of the decision",
}


def own_numbers() -> Iterator[str]:
    for package in DECIDING:
        place = FOLDER / package
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            for name in names_with_numbers(path.read_text()):
                yield f"{path.relative_to(FOLDER).as_posix()}:{name}"


def names_with_numbers(source: str) -> Iterator[str]:
    """Names that a module gives, at its top level, to something with a fraction in it; 0 and 1 are none, but 1 km is
    one."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
            numbers = {
                node.value
                for node in ast.walk(statement.value)
                if isinstance(node, ast.Constant) and isinstance(node.value, float)
            }
            yield from (name for name in names if numbers - ({0.0} if name.endswith("_KM") else {0.0, 1.0}))


def test_no_module_that_decides_holds_a_weight_of_its_own():
    assert set(own_numbers()) <= set(ALLOWED)


def test_what_is_allowed_is_still_there():
    assert set(ALLOWED) <= set(own_numbers())


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("_NEAR_KM = 25.0", ["_NEAR_KM"]),
        ("_LEAST, _MOST = 0.1, 0.9", ["_LEAST", "_MOST"]),
        ("_REACH: dict[str, float] = {'town': 30.0}", ["_REACH"]),
        ("_NEAR_KM = weights('grounding')['near_km']\n_LIMIT = 12", []),
        ("_ODDS = math.log(1.0 - _W['found'])", []),
        ("_SAME_KM: Final = 1.0", ["_SAME_KM"]),
        ("_NOWHERE_KM = 0.0", []),
    ],
)
def test_a_number_at_the_top_of_a_module_is_found(source, names):
    assert list(names_with_numbers(source)) == names
