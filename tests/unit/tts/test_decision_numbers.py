"""Modules that decide take their numbers from `tts/data/weights`, where each has its source."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tts

FOLDER = Path(tts.__file__).parent
DECIDING = (
    "assembly.py", "clues", "domain", "ensemble", "geodata/same_place.py", "inference/clues", "perception",
    "pipeline.py", "request_seeds.py", "rollout", "routing", "verdict_call.py", "verify",
)  # fmt: skip
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
PRODUCTS = (ast.Mult, ast.Div, ast.FloorDiv, ast.Pow)
FREE = {0, 1, 2, 100}  # none and one, two that agree, halves and squares, percent; -1 is the opposite of 1

# Numbers that are no weights, each with the reason. A number in a function stands behind the function's name.
ALLOWED = {
    "clues/belief.py:_MAX_PLACES": "bounds the work: what is left out is the least likely",
    "clues/belief.py:_distance_factors 0.5": "the density of a normal distribution",
    "clues/claimed_places.py:_MAX_NAMES": "how much is shown: decides nothing",
    "clues/clue.py:list_countries 6": "how much is shown: decides nothing",
    "clues/dates.py:_CALENDARS": "which years calendars have in our time",
    "clues/dates.py:_FULL_YEARS": "which years calendars have in our time",
    "clues/dates.py:_parse_date 4": "digits of a year",
    "clues/dates.py:_are_day_and_month 12": "months of a year",
    "clues/dates.py:_are_day_and_month 31": "days of a month",
    "clues/line_languages.py:line 10": "what a Zipf value means",
    "clues/line_languages.py:line 9": "what a Zipf value means",
    "clues/lookups.py:_MAX_NEARBY_TOWNS": "bounds the work: farther towns count less, by `address_pull_km`",
    "clues/mentions.py:_CODE_LETTERS": "letters of an airport's code",
    "clues/mentions.py:_MAX_UNSPACED_CHARS": "a bound on time: no sign is longer",
    "clues/mentions.py:_NAME_CACHE_SIZE": "the size of a cache",
    "clues/mentions.py:_word_frequencies 10": "what a Zipf value means",
    "clues/mentions.py:_word_frequencies 9": "what a Zipf value means",
    "clues/name_frequencies.py:_CACHE_SIZE": "the size of a cache",
    "clues/name_frequencies.py:_MAX_TOWNS": "bounds the work: what is left out are the smallest towns of a name",
    "clues/name_frequencies.py:_LETTER_COUNTS": "the lengths for which the weights are given",
    "clues/numbers.py:_angle 3600": "seconds of a degree",
    "clues/numbers.py:_angle 60": "minutes of a degree",
    "clues/numbers.py:_position_clues 180": "degrees of the globe",
    "clues/numbers.py:_position_clues 90": "degrees of the globe",
    "clues/postal_addresses.py:_MAX_CHARS": "bounds the work: a sign has fewer characters",
    "clues/postal_addresses.py:_FIRST_FORM_WITH_TOWN": "a position in the list of forms",
    "clues/priors.py:_population_served_by 0.1": "avoids a division by zero at the poles",
    "clues/priors.py:country 1e+06": "the unit of `by_population`",
    "clues/scope.py:_MIN_PRIOR": "avoids a division by zero",
    "clues/scope.py:_belief_share 1e-12": "avoids a division by zero",
    "domain/earlier_request.py:_SAME_PLACE_KM": "chooses a sentence about two answers, and decides nothing else",
    "domain/exif_claims.py:_degrees 3": "degrees, minutes and seconds",
    "domain/exif_claims.py:_degrees 60": "minutes of a degree",
    "domain/exif_claims.py:_gps_time 3": "hours, minutes and seconds",
    "domain/exif_claims.py:_point 180": "degrees of the globe",
    "domain/exif_claims.py:_point 90": "degrees of the globe",
    "domain/geo.py:DEGREE_KM": "a physical fact",
    "domain/geo.py:EARTH_RADIUS_KM": "a physical fact",
    "domain/geo.py:EQUATOR_KM": "metres in a kilometre",
    "domain/geo.py:SHORTEST_DEGREE_KM": "a physical fact",
    "domain/geo.py:CITY_KM": "the distances of published tables, at which a best point is looked for",
    "domain/geo.py:REGION_KM": "the distances of published tables, at which a best point is looked for",
    "domain/geo.py:COUNTRY_KM": "the distances of published tables, at which a best point is looked for",
    "domain/geo.py:TABLE_KM": "the distances of published tables, at which a best point is looked for",
    "domain/geo.py:_MAX_SCALAR_POINTS": "chooses the quicker of two ways to the same distances",
    "domain/geo.py:circle_ring 0.98": "how the largest circle is drawn: a larger one ends in a point",
    "domain/geo.py:circle_ring 360": "degrees of the globe",
    "domain/geo.py:destination 1000": "metres in a kilometre",
    "domain/geo.py:distance_km 1000": "metres in a kilometre",
    "domain/geo.py:distances_km 1000": "metres in a kilometre",
    "domain/geo.py:sphere_km 0.5": "half a chord",
    "domain/geojson.py:_HALF_CUT_DEG": "the grid of written coordinates",
    "domain/geojson.py:_NORTH_POLE": "degrees of the globe",
    "domain/geojson.py:_REGION_VERTICES": "how exactly an outline is drawn",
    "domain/geojson.py:_SMALL_GAP": "how exactly an outline is drawn",
    "domain/geojson.py:_SOUTH_POLE": "degrees of the globe",
    "domain/geojson.py:_CIRCLE_VERTICES": "how exactly an outline is drawn",
    "domain/geojson.py:_WHOLE_WORLD_KM": "from which a circle is drawn as the whole world: decides the drawing alone",
    "domain/geojson.py:_circle_parts 360": "degrees of the globe",
    "domain/geojson.py:_flat_ring 360": "degrees of the globe",
    "domain/geojson.py:area_geometry 50": "what a 50 % area means",
    "domain/photo.py:PhotoLimits 20": "how photos are read and stored, not a part of the decision",
    "domain/photo.py:PhotoLimits 32": "how photos are read and stored, not a part of the decision",
    "domain/photo_cleaning.py:_JPEG_QUALITY": "how photos are read and stored, not a part of the decision",
    "domain/photo_cleaning.py:_MAX_JPEG_SCANS": "how photos are read and stored, not a part of the decision",
    "domain/photo_cleaning.py:_SMALL_BYTES": "how photos are read and stored, not a part of the decision",
    "domain/photo_cleaning.py:_SMALL_PIXELS": "how photos are read and stored, not a part of the decision",
    "domain/photo_cleaning.py:_decode 0.5": "the exponent of a square root",
    "domain/photo_cleaning.py:_scale_to_fit 0.5": "the exponent of a square root",
    "domain/photo_cleaning.py:_to_rgb 255": "the largest value of a byte",
    "domain/reach.py:reach_of 3600": "seconds of an hour",
    "domain/request.py:MAX_PHOTOS": "the form of a request, as documented",
    "domain/stop_table.py:MOST_VOTES": "the form of the table of recorded runs",
    "domain/text_length.py:LATIN_CHARS_A_TOKEN": "estimates how much of a context is used, not a part of the decision",
    "domain/text_length.py:MIXED_CHARS_A_TOKEN": "estimates how much of a context is used, not a part of the decision",
    "domain/token_price.py:_MILLION": "what prices are given for",
    "domain/token_price.py:affordable_tokens 31": "more tokens than any model writes",
    "domain/xmp_claims.py:_MAX_BYTES": "bounds the work: how much of a packet is looked at",
    "domain/xmp_claims.py:_degrees 3600": "seconds of a degree",
    "domain/xmp_claims.py:_degrees 60": "minutes of a degree",
    "domain/xmp_claims.py:_point 180": "degrees of the globe",
    "domain/xmp_claims.py:_point 90": "degrees of the globe",
    "ensemble/consensus_watch.py:_QUADRATURE": "how exactly an integral is computed",
    "ensemble/consensus_watch.py:_MAX_CLUSTERS": "how much is shown: decides nothing",
    "ensemble/consensus_watch.py:_TOLERANCE": "rounding of sums in 64 bits",
    "ensemble/consensus_watch.py:more_than_half 0.25": "maps the nodes of the integral to its halves",
    "ensemble/direction_order.py:_PART_LETTERS": "what `same_direction` is measured in, as its reason says",
    "ensemble/loss_rule.py:_PERCENTAGE_POINT": "what a percentage point means",
    "ensemble/rollout_failures.py:_MAX_CAUSES": "how much is shown: decides nothing",
    "ensemble/rollout_failures.py:_MAX_NAMED_CAUSES": "how much is shown: decides nothing",
    "ensemble/vote_count.py:_TOLERANCE": "rounding of sums in 64 bits",
    "inference/clues/answer_texts.py:_MAX_SHOWN_CLUES": "how much is shown: decides nothing",
    "inference/clues/answer_texts.py:_MAX_SHOWN_LINES": "how much is shown: decides nothing",
    "inference/clues/engine.py:_CHUNK_CHARS": "the length of pieces in which a text is sent",
    "inference/clues/engine.py:_TOKENS_PER_CALL": "estimates how much of a context is used, not a part of the decision",
    "inference/clues/engine.py:_weight_by_temperature 2.718": "e, to the digits of recorded answers",
    "inference/clues/notes.py:_box 4": "corners of a box, as x and y of two",
    "inference/clues/photo_parts.py:_OFFSETS": "where the halves of a photo begin",
    "inference/clues/planned_calls.py:_MAX_ARGUMENT_CHARS": "the form of a tool's argument",
    "inference/clues/planned_calls.py:_lettering_worth 0.25": "where the middle half of a photo begins",
    "perception/denormals.py:_FENV_BYTES": "a fact of processors and of the C library",
    "perception/denormals.py:_MXCSR_OFFSET": "a fact of processors and of the C library",
    "perception/denormals.py:_FLUSH_TO_ZERO_BITS": "a fact of processors and of the C library",
    "perception/local_perception.py:_MAX_CACHED": "the size of a cache",
    "perception/sign_reader.py:_MAX_PHOTOS_KEPT": "the size of a cache",
    "perception/ppocr.py:_MAX_BOXES": "bounds the work: what is left out is the smallest",
    "perception/tesseract.py:_LINE_HEIGHT_PX": "what the recogniser was trained on",
    "perception/tesseract.py:_PAD_PX": "what the recogniser was trained on",
    "perception/tesseract.py:_prepare_crop 0.5": "whether more is light than dark",
    "perception/tesseract.py:_prepare_crop 255": "the largest value of a byte",
    "perception/vietnamese.py:_VIETNAMESE_LETTERS": "a block of Unicode",
    "pipeline.py:_GRACE_S": "time that is kept for the answer, not a part of the decision",
    "pipeline.py:_LEADER_WAIT_S": "how long work waits for other work, not a part of the decision",
    "pipeline.py:_rollout_deadline 0.5": "time that is kept for the answer, not a part of the decision",
    "request_seeds.py:rollout_seed 104729": "a prime that keeps seeds apart",
    "request_seeds.py:rollout_seed 31": "how large seeds are",
    "request_seeds.py:rollout_seed 7919": "a prime that keeps seeds apart",
    "rollout/answer_draws.py:_SEED_STEP": "a prime that keeps seeds apart",
    "rollout/expected_size.py:_MEAN_WINDOW_ROLLOUTS": "chooses the replica of a group, not a part of the decision",
    "rollout/expected_size.py:_USUAL_PROMPT_TOKENS": "chooses the replica of a group, not a part of the decision",
    "rollout/expected_size.py:_USUAL_TURNS": "chooses the replica of a group, not a part of the decision",
    "rollout/expected_size.py:_USUAL_GROWTH_TOKENS": "chooses the replica of a group, not a part of the decision",
    "rollout/group.py:_UNFOLLOWED_WINDOW_S": "how often events are sent",
    "rollout/group_failover.py:MOVES": "what becomes of a group whose replica is lost",
    "rollout/group_failover.py:_FIRST_PAUSE_S": "what becomes of a group whose replica is lost",
    "rollout/group_failover.py:_MAX_PAUSE_S": "what becomes of a group whose replica is lost",
    "routing/budget_table.py:limits 31": "more tokens than any model writes",
    "routing/empty_photo.py:_kurtosis_of_gradient 1e-06": "avoids a division by zero",
    "routing/empty_photo.py:_kurtosis_of_gradient 4": "the exponent of a kurtosis",
    "routing/empty_photo.py:_repetition 1e-06": "avoids a division by zero",
    "routing/empty_photo.py:content 3": "the kurtosis of any noise",
    "routing/locatability.py:_view_text 0.3": "chooses words about a photo, and decides nothing else",
    "routing/locatability.py:_view_text 0.5": "chooses words about a photo, and decides nothing else",
    "routing/locatability.py:_view_text 0.9": "chooses words about a photo, and decides nothing else",
    "routing/photo_measures.py:_line_length_ratio 180": "degrees of half a turn",
    "routing/predictor.py:_NEWTON_STEPS": "steps of an iteration that ends before them",
    "routing/predictor.py:_fit_logistic 1e-08": "when an iteration has come to its end",
    "routing/probe.py:_TIMEOUT_S": "how long the question may take, not a part of the decision",
    "routing/probe.py:parse_probe 10": "the scale that the model is asked to use",
    "routing/probe.py:rate 0.1": "how long the question may take, not a part of the decision",
    "routing/probe.py:rate 10": "the scale that the model is asked to use",
    "routing/reasons.py:_MIN_STRUCTURE": "chooses words about a photo, and decides nothing else",
    "routing/reasons.py:_MIN_VEGETATION": "chooses words about a photo, and decides nothing else",
    "routing/reasons.py:_MIN_INDOOR": "chooses words about a photo, and decides nothing else",
    "routing/reasons.py:_MIN_SKY": "chooses words about a photo, and decides nothing else",
    "routing/segmentation.py:CLASSES": "how the model and its training data are made",
    "routing/segmentation.py:_MAX_NAMED": "how much is shown: decides nothing",
    "routing/segmentation.py:_MEAN": "how the model and its training data are made",
    "routing/segmentation.py:_SIDE_PX": "how the model and its training data are made",
    "routing/segmentation.py:_STD": "how the model and its training data are made",
    "routing/segmentation.py:_pixels 255": "the largest value of a byte",
    "verify/assembly/file_checks.py:_RING_POINTS": "how exactly a circle is followed",
    "verify/assembly/file_checks.py:_MAX_UTC_OFFSET": "the time zone that is farthest from UTC",
    "verify/assembly/file_checks.py:_check_time 3600": "seconds of an hour",
    "verify/assembly/file_checks.py:_format_utc_offset 60": "seconds of a minute, and minutes of an hour",
    "verify/assembly/radius_consistency.py:_UNIFORM_P90_RATIO": "follows from what 90 % and 50 % mean",
    "verify/assembly/radius_consistency.py:_RADIUS_STEP_KM": "radii are written to ten metres",
    "verify/assembly/radius_consistency.py:lower_confidence 0.5": "what a 50 % radius means",
    "verify/assembly/radius_consistency.py:lower_confidence 0.9": "what a 90 % radius means",
    "verify/assembly/radius_consistency.py:rough_exactness 0.5": "what a 50 % radius means",
    "verify/assembly/verdict.py:_MAX_EVIDENCE": "how much is shown: decides nothing",
    "verify/assembly/verdict.py:_SUBJECT_RANKS": "an order of evidence, and no sizes",
    "verify/claims/check_summary.py:_format_percent 0.01": "how much is shown: decides nothing",
    "verify/claims/check_summary.py:_format_percent 0.99": "how much is shown: decides nothing",
    "verify/claims/claim_evidence.py:_MAX_ENTRIES": "how much is shown: decides nothing",
    "verify/claims/claim_weighing.py:_MAX_POINTS": "bounds the work: what is left out is the least likely",
    "verify/consensus/calibrated_radii.py:LEVELS": "the grid of the table in calibration files, fixed by their version",
    "verify/consensus/calibration.py:_MAX_CONSTANT_SCALE": "a scale of 0.001 in a calibration file: a constant feature",
    "verify/consensus/calibrated_radii.py:row 1e-06": "keeps quantiles apart that are equal",
    "verify/consensus/installed_calibrations.py:_DIGEST_DIGITS": "the length of a file's name",
    "verify/consensus/peaks.py:_MAX_CENTRES_TRIED": "bounds the work: what is left out is the least likely",
    "verify/consensus/place_belief.py:_BEARINGS_PER_RING": "how exactly a ring is followed",
    "verify/consensus/place_belief.py:_ring_points 180": "degrees of the globe",
    "verify/consensus/place_belief.py:_ring_points 360": "degrees of the globe",
    "verify/consensus/radius_fitting.py:_BETAS": "a grid that the fit searches; it writes down what it chose",
    "verify/consensus/radius_fitting.py:_CAPS_KM": "a grid that the fit searches; it writes down what it chose",
    "verify/consensus/radius_fitting.py:_FOLDS": "how the fit is checked on runs that it did not see",
    "verify/consensus/radius_fitting.py:_MAX_ITERATIONS": "steps of an iteration that ends before them",
    "verify/consensus/radius_fitting.py:_TAIL_LEVELS": "a grid that the fit searches; it writes down what it chose",
    "verify/consensus/region_fitting.py:_WANTED_COVER_50": "what a 50 % region means",
    "verify/consensus/region_fitting.py:fit_regions 10000": "digits of a scale in calibration files",
    "verify/consensus/reliability.py:_ITERATIONS": "steps of an iteration",
    "verify/consensus/reliability.py:from_agreement 0.001": "avoids a division by zero",
    "verify/consensus/reliability.py:from_agreement 0.5": "the middle of two steps of an iteration",
    "verify/consensus/spread_features.py:spread_of 4": "how many distances are features in calibration files",
    "verify/evidence/contradiction_texts.py:area_words 3": "how much is shown: decides nothing",
    "verify/evidence/hint_check.py:_MAX_QUOTE_CHARS": "how much is shown: decides nothing",
    "verify/evidence/joint_belief.py:_SAMPLE_COUNT": "how exactly a joint belief is computed",
    "verify/evidence/joint_belief.py:_MIN_PRIOR": "avoids a division by zero",
    "verify/evidence/joint_belief.py:_MAX_POINTS": "bounds the work: what is left out is the least likely",
    "verify/evidence/joint_belief.py:_COSINE_TOLERANCE": "rounding of a cosine in 64 bits",
    "verify/evidence/prompt_injection.py:_MAX_CHARS": "bounds the work: how much of a text is looked at",
    "verify/evidence/several_photos.py:_MIN_PRIOR": "avoids a division by zero",
    "verify/evidence/several_photos.py:_MIN_SHARE": "avoids the logarithm of zero",
    "verify/inquiry/question.py:ASKER": "stands for a rollout's number",
    "verify/inquiry/tool_statements.py:_MAX_LINES": "bounds the work: few photos have so many lines",
    "verify/model/dossier.py:_MAX_QUOTE_CHARS": "how long the prompt of the verifier model is",
    "verify/model/dossier.py:_FINDING_RANKS": "an order of evidence, and no sizes",
    "verify/model/opinion.py:_MAX_REASONS": "the form of the verifier model's answer",
    "verify/model/reason_stream.py:_KEPT_CHARS": "the length of a mark in the model's answer",
    "verify/verifiers/consensus.py:_MIN_CHARS_FOR_THREAD": "chooses the quicker of two ways to the same verdict",
    "verify/verifiers/consistency.py:_MAX_CHARS": "how long the prompt of the verifier model is",
    "verify/verifiers/consistency.py:_MAX_TOKENS": "how long its answer may be",
    "verify/verifiers/consistency.py:_rate_verdict 0.5": "time that is kept for the answer, not a part of the decision",
    "verify/verifiers/model.py:_GROUP_SIZE": "how many ledgers are in one prompt of the verifier model",
    "verify/verifiers/model.py:_MAX_REASON_CHARS": "how much is shown: decides nothing",
    "verify/verifiers/model.py:_RESERVE_MAX_S": "time that is kept for the answer, not a part of the decision",
    "verify/verifiers/model.py:_RESERVE_SHARE": "time that is kept for the answer, not a part of the decision",
    "verify/verifiers/published_verifier.py:_PHOTO_RULE": "a setting of the authors, which is followed as it is",
    "verify/verifiers/published_verifier.py:read_free_answer 180": "degrees of the globe",
    "verify/verifiers/published_verifier.py:read_free_answer 90": "degrees of the globe",
}


def own_numbers() -> Iterator[str]:
    for package in DECIDING:
        place = FOLDER / package
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            for name in places_with_numbers(path.read_text()):
                yield f"{path.relative_to(FOLDER).as_posix()}:{name}"


def places_with_numbers(source: str) -> Iterator[str]:
    """Where a module has numbers of its own: a name for a constant, a function and the number inside functions."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
            numbers = list(in_constant(statement.value))
            yield from (name for name in names if any(is_weight(found, name) for found in numbers))
        elif isinstance(statement, SCOPES):
            yield from dict.fromkeys(in_scope(statement))


def is_weight(found: float, name: str) -> bool:
    """Fractions are weights, but for 0 and 1; so are whole numbers, but for those of `FREE`. 1 km is a weight too."""
    if isinstance(found, float):
        return found not in ({0.0} if name.endswith("_KM") else {0.0, 1.0})
    return found not in FREE


def in_constant(node: ast.AST) -> Iterator[float]:
    """All numbers in it but keys of a dictionary, which are labels."""
    yield from number(node)
    for child in node.values if isinstance(node, ast.Dict) else ast.iter_child_nodes(node):
        yield from in_constant(child)


def in_scope(scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[str]:
    """`function number` for each number that a function, or the body of a class, compares or multiplies with."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, SCOPES):
            yield from in_scope(node)
            continue
        waiting += ast.iter_child_nodes(node)
        numbers = (found for operand in operands(node) for found in in_operand(operand))
        yield from (f"{scope.name} {found:g}" for found in numbers if found not in FREE)


def operands(node: ast.AST) -> list[ast.expr]:
    """What a comparison compares, and the factors of a product, a quotient or a power."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.BinOp) and isinstance(node.op, PRODUCTS):
        return [node.left, node.right]
    return [node.value] if isinstance(node, ast.AugAssign) and isinstance(node.op, PRODUCTS) else []


def in_operand(node: ast.expr) -> Iterator[float]:
    """Numbers in it through arithmetic, conditions, collections, `min` and `max`: not those that a call is given."""
    yield from number(node)
    chosen = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max")
    if chosen or isinstance(node, ast.BinOp | ast.UnaryOp | ast.IfExp | ast.Tuple | ast.List | ast.Set):
        for child in ast.iter_child_nodes(node):
            yield from in_operand(child)


def number(node: ast.AST) -> list[float]:
    """The number that a literal is; `True` and texts are none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return [node.value]
    return []


def test_no_module_that_decides_holds_a_weight_of_its_own():
    assert set(own_numbers()) <= set(ALLOWED)


def test_every_allowed_number_still_exists():
    assert set(ALLOWED) <= set(own_numbers())


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("_NEAR_KM = 25.0", ["_NEAR_KM"]),
        ("_LEAST, _MOST = 0.1, 0.9", ["_LEAST", "_MOST"]),
        ("_REACH: dict[str, float] = {'town': 30.0}", ["_REACH"]),
        ("_NEAR_KM = weights('grounding')['near_km']\n_LIMIT = 12", ["_LIMIT"]),
        ("_ODDS = math.log(1.0 - _W['found'])", []),
        ("_SAME_KM: Final = 1.0", ["_SAME_KM"]),
        ("_NOWHERE_KM = 0.0", []),
        ("_SEVERAL = 2\n_LAST = -1\n_WHOLE = 100\n_SURE = True", []),
        ("_CLOCK = timedelta(minutes=15)", ["_CLOCK"]),
        ("_CHANCE = {3: _W['chance_of_3']}", []),
    ],
)
def test_a_number_at_the_top_of_a_module_is_found(source, names):
    assert list(places_with_numbers(source)) == names


@pytest.mark.parametrize(
    ("expression", "numbers"),
    [
        ("len(word) >= 5", ["5"]),
        ("7 <= digits <= 11", ["7", "11"]),
        ("near >= (3 if town else 4)", ["3", "4"]),
        ("kind in (3, 4)", ["3", "4"]),
        ("away < max(5, radius)", ["5"]),
        ("away < near_km + 30.0", ["30"]),
        ("_REACH_KM / 3", ["3"]),
        ("10 * p50", ["10"]),
        ("letters // -4", ["4"]),
        ("2.718**noise", ["2.718"]),
        ("root**0.5", ["0.5"]),
        ("len(near) >= 2 and share > 0.0 and 100 * share < 1", []),
        ("away < found(limit=8)", []),
        ("scores[:5]", []),
        ("len(word) >= _LEAST_LETTERS", []),
    ],
)
def test_a_number_that_is_compared_or_multiplied_with_is_found(expression, numbers):
    places = [f"decide {number}" for number in numbers]
    assert list(places_with_numbers(f"def decide():\n    return {expression}")) == places
    assert (
        list(places_with_numbers(f"class Judge:\n    async def decide(self):\n        return {expression}")) == places
    )


def test_a_number_that_something_is_multiplied_with_in_place_is_found():
    assert list(places_with_numbers("def decide(share):\n    share *= 0.3\n    share += 5")) == ["decide 0.3"]


def test_a_number_that_is_planted_in_a_module_that_decides_is_not_allowed(tmp_path, monkeypatch):
    (tmp_path / "verify").mkdir()
    planted = "_LIMIT = 12\n\n\ndef firm(found, share):\n    return found >= 5 or share > 3 * _LEAST"
    (tmp_path / "verify" / "planted.py").write_text(planted)
    monkeypatch.setitem(globals(), "FOLDER", tmp_path)
    found = ["verify/planted.py:_LIMIT", "verify/planted.py:firm 5", "verify/planted.py:firm 3"]
    assert [place for place in own_numbers() if place not in ALLOWED] == found
