"""What hosted models cost: counted by a dated table, expected in the plan, and bounded by the request."""

from hypothesis import given
from hypothesis import strategies as st
from support.basics import a_context
from support.chat_servers import BY_NAME, Turn, play_server
from support.dialect_rollouts import toolbox
from support.endpoint import serving

from tts.config import OpenAIEngine
from tts.dialects import DIALECTS
from tts.domain.answer import StopReason
from tts.domain.events import Hypothesised, RolloutFinished
from tts.domain.plan import Limits, Locatability
from tts.domain.request import LocateOptions
from tts.domain.token_price import Price
from tts.domain.usage import Usage
from tts.inference.openai.endpoint.list_prices import shipped_prices
from tts.inference.openai.engine import OpenAIModel
from tts.ports.locator import Routing
from tts.ports.rollout_groups import GroupRequest, RolloutTask
from tts.rollout.agent import Agent
from tts.rollout.group import run_group
from tts.routing.depth_router import DepthRouter

OBJECT = '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}'
DEAR = Price(input=1000.0, output=10000.0)
SERVER = BY_NAME["openai-chat"]


def test_a_model_is_found_under_its_usual_names():
    table = shipped_prices()
    plain = table.price_of("gpt-5-mini")
    assert plain is not None
    assert table.price_of("openai/gpt-5-mini-2025-08-07") == table.price_of("gpt-5-mini-latest") == plain
    assert table.price_of("claude-sonnet-4-5-20250929") == table.price_of("claude-sonnet-4-5")
    assert table.price_of("GD-ML/Thinking-with-Map-30B-A3B") is None
    assert table.as_of


def test_cached_tokens_are_cheaper_and_never_counted_twice():
    price = Price(input=2.0, cached_input=0.5, output=8.0)
    usage = Usage(prompt_tokens=1_000_000, cached_tokens=400_000, completion_tokens=100_000)
    assert price.cost_usd(usage) == 0.6 * 2.0 + 0.4 * 0.5 + 0.1 * 8.0
    assert Price(input=2.0, output=8.0).cost_usd(usage) == 2.0 + 0.8


@given(money=st.floats(0, 10), prompt=st.integers(0, 10**6), rate=st.floats(0.01, 100), out=st.floats(0.01, 100))
def test_the_affordable_tokens_never_cost_more_than_the_money_left(money, prompt, rate, out):
    price = Price(input=rate, output=out)
    tokens = price.affordable_tokens(money, prompt)
    if tokens:
        assert price.cost_usd(Usage(prompt_tokens=prompt, completion_tokens=tokens)) <= money * (1 + 1e-9)


async def run(photo, *, max_cost_usd, price, turns=8):
    """One rollout that would look things up for ever."""

    def speak(body):
        if body.get("tool_choice") == "auto":
            return Turn(text=f"Perhaps {OBJECT}", tool="poi_keyword_search", arguments={"query": "Otaru"})
        return Turn(text=OBJECT)

    async with serving(play_server(SERVER, speak), SERVER.pages) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model=SERVER.model, price=price))
        group = GroupRequest(
            context=a_context(30.0),
            photos=(photo,),
            tasks=(RolloutTask(rollout_id=0, seed=1),),
            n_total=1,
            limits=Limits(max_turns=turns, max_cost_usd=max_cost_usd),
        )
        agent = Agent(model, DIALECTS["generic"], toolbox())
        items = [item async for batch in run_group(agent, group, coalesce_s=0.01) for item in batch]
        await model.aclose()
    (end,) = [item for item in items if isinstance(item, RolloutFinished)]
    return end, items, endpoint


async def test_a_rollout_ends_before_it_exceeds_its_money_with_its_best_hypothesis(sign_photo):
    free, _, _ = await run(sign_photo, max_cost_usd=None, price=DEAR)
    assert free.usage.cost_usd > 0
    for share in (0.3, 0.5, 0.8):
        bound = share * free.usage.cost_usd
        end, items, endpoint = await run(sign_photo, max_cost_usd=bound, price=DEAR)
        assert end.usage.cost_usd <= bound
        assert len(endpoint.bodies) < free.usage.turns
        if any(isinstance(item, Hypothesised) for item in items):
            assert end.answer is not None


async def test_without_money_for_one_turn_nothing_is_sent(sign_photo):
    end, _, endpoint = await run(sign_photo, max_cost_usd=1e-9, price=DEAR)
    assert (end.stop_reason, endpoint.bodies) == (StopReason.BUDGET, [])


async def test_bytes_sent_are_counted_with_their_pictures(sign_photo):
    end, _, endpoint = await run(sign_photo, max_cost_usd=None, price=None, turns=2)
    assert end.usage.bytes_sent == sum(int(headers["content-length"]) for headers in endpoint.headers)
    assert end.usage.cost_usd == 0


def test_the_plan_says_what_is_expected_and_shares_the_limit_among_the_rollouts():
    routing = Routing(Locatability(score=0.5, method="fixed"))
    router = DepthRouter(Limits(max_cost_usd=2.0), price=Price(input=1.0, output=10.0))
    plan = router.plan(LocateOptions(n_parallel=4, depth="deep", max_cost_usd=1.0), routing)
    assert plan.predicted_cost["cost_usd"] > 0
    assert plan.limits.max_cost_usd == 0.25
    again = router.escalate(plan, LocateOptions(n_parallel=8, max_cost_usd=1.0), started=4, spent=Usage(cost_usd=0.6))
    assert again is not None
    assert again.limits.max_cost_usd is not None
    assert again.limits.max_cost_usd * again.n_planned <= 0.4 + 1e-9


def test_the_plan_says_that_a_limit_cannot_be_kept():
    routing = Routing(Locatability(score=0.5, method="fixed"))
    plan = DepthRouter(Limits()).plan(LocateOptions(max_cost_usd=1.0), routing)
    assert "set engine.price" in plan.summary
