"""Made-up tables of budgets, and recorded runs from which one is fitted."""

from support.made_answers import an_answer
from tts.domain.geo import LatLon, destination
from tts.domain.plan import Depth, Limits, Locatability
from tts.domain.request import LocateOptions
from tts.domain.stop_table import Band
from tts.domain.token_price import Price
from tts.domain.trajectory import Run, Trajectory
from tts.domain.usage import Usage
from tts.eval.runs.record import Record
from tts.eval.sample import Truth
from tts.ports.locator import Routing
from tts.routing.budget_table import Amount, BudgetRow, BudgetTable, RightShare
from tts.routing.depth_router import DepthRouter

HERE = LatLon(lat=48.8566, lon=2.3522)
PRICE = Price(input=1.0, output=10.0)
SOMETHING = Routing(Locatability(score=0.5, method="cues", parts={"text": 0.3, "content": 0.9}))


def row(n, right, tokens, seconds, **more):
    share = RightShare(value=right, low=right - 5, high=right + 5)
    return BudgetRow(
        n=n, photos=100, right=dict.fromkeys(Band, share), tokens=Amount(mean=0.8 * tokens, p90=tokens),
        prompt_tokens=Amount(mean=2 * tokens, p90=3 * tokens), seconds=Amount(mean=0.8 * seconds, p90=seconds),
        **{"turns": 8, **more},
    )  # fmt: skip


TABLE = BudgetTable(
    origin="made up",
    engine="clues",
    rows=(
        row(1, 30, 100, 1, turns=1),
        row(1, 50, 500, 3),
        row(4, 60, 2000, 4),
        row(4, 60.3, 2500, 5, answer_draws=3),
        row(8, 70, 4000, 6, questions=4, stop="loss:1.0"),
    ),
)


# the rows with questions, draws or a stop differ in nothing but their times: they were recorded while nothing else ran
MADE_IN_TWO_SESSIONS = BudgetTable(
    origin="made up",
    engine="clues",
    rows=(
        row(2, 60, 1000, 3),
        row(4, 60, 2000, 4),
        row(4, 60, 2000, 1, questions=4),
        row(4, 60, 2500, 1, answer_draws=3),
        row(8, 60, 4000, 1, stop="loss:1.0"),
    ),
)


def a_run(errors_km, *, n, tokens, **options):
    """Records of photos that were missed by so many km; each rollout wrote so many tokens."""
    found = []
    asked = LocateOptions(n_parallel=n, **{"depth": Depth.DEEP, "stop": "none", **options})
    for number, error_km in enumerate(errors_km):
        point = destination(HERE, bearing_deg=90, distance_km=error_km)
        routed = {"locatability": SOMETHING.locatability, "plan": DepthRouter(Limits()).plan(asked, SOMETHING)}
        rollouts = {i: Trajectory(rollout_id=i, usage=Usage(completion_tokens=tokens)) for i in range(n)}
        run = Run.model_validate({"routed": {"type": "routed", **routed}, "rollouts": rollouts})
        answer = an_answer(lat=point.lat, lon=point.lon, usage=Usage(prompt_tokens=10 * tokens))
        truth = Truth(point=HERE, country="France", city="Paris")
        found.append(
            Record(
                dataset="made", sample=str(number), truth=truth, options=asked, elapsed_s=n, answer=answer, run=run
            )
        )  # fmt: skip
    return found
