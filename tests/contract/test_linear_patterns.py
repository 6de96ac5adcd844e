"""What every regular expression of the product owes its caller: time that grows with the text and no faster.

Models, pages and callers write the texts. One that repeats itself must not stop the loop of a gateway, so each
expression meets texts made of its own repeats (`support.pumped_texts`). Most need a few milliseconds of processor time
for `LENGTH` characters. One that needs more is tried with a quarter of the text: a linear one then takes a quarter of
the time, a quadratic one a sixteenth. That ratio decides, because it is the same on slow and fast machines.
"""

import ast
import importlib
import inspect
import math
import pkgutil
import re
import signal
import time
from collections import deque
from contextlib import contextmanager
from itertools import chain

import pytest
from support.pumped_texts import pumping_texts

import deployments
import geotts_client
import tts
from tts.clues import postal_addresses
from tts.domain.text_between_marks import Enclosure

pytestmark = pytest.mark.slow
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LENGTH = 20_000
SUSPECT_S = 0.1  # of processor time: a text that takes longer is tried with a quarter of it
PATIENCE_S = 2.0  # of processor time: a text that takes longer is too slow at any ratio
PARTS = 4
MOST_GROWTH = 8.0  # between 4, which is linear, and 16, which is quadratic
BOUNDED = {"tts.clues.postal_addresses": postal_addresses._MAX_CHARS}  # modules that look at no longer text
WHOLE = {"tts.clues.hint_names._DENIAL", "tts.net.url_secrets._SECRET_NAME", "tts.verify.evidence.small_print._DOMAIN"}
AT_ONE_PLACE = {
    "tts.dialects.call_forms._HEAD",
    "tts.dialects.released.json5._SPACE",
    "tts.rewards.released.reverse_marks._CLOSING",
}


class TooLongError(Exception):
    """The search was given up."""


def modules():
    for package in (tts, deployments, geotts_client):
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if "vllm" not in found.name and not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def patterns_in(value):
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Enclosure):
        yield from (value.opening, value.closing)
    elif isinstance(value, list | tuple | set | frozenset):
        yield from chain.from_iterable(patterns_in(one) for one in value)
    elif isinstance(value, dict):
        yield from patterns_in(list(value.values()))


def written_in_calls(module):
    """Expressions that a function gives to `re` as it runs."""
    functions = (node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, FUNCTIONS))
    for node in chain.from_iterable(ast.walk(function) for function in functions):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args:
            pattern = node.args[0]
            if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str):
                yield re.compile(pattern.value)


def expressions():
    found: dict[re.Pattern[str] | re.Pattern[bytes], str] = {}
    for module in modules():
        for name, value in vars(module).items():
            for pattern in patterns_in(value):
                found.setdefault(pattern, f"{module.__name__}.{name}")
        if module.__file__.endswith(".py"):
            for pattern in written_in_calls(module):
                found.setdefault(pattern, f"{module.__name__}, in a call")
    return {pattern: name for pattern, name in found.items() if isinstance(pattern.pattern, str)}


@contextmanager
def patience():
    def give_up(*_):
        raise TooLongError

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def search(pattern, name, text):
    """As the module does it: once for a whole text, once at one place, else wherever it fits."""
    if name in WHOLE:
        pattern.fullmatch(text)
    elif name in AT_ONE_PLACE:
        pattern.match(text)
    else:
        deque(pattern.finditer(text), maxlen=0)


def seconds(pattern, name, text):
    """Processor time of one search, or infinity when it was given up."""
    started = time.thread_time()
    try:
        with patience():
            search(pattern, name, text)
    except TooLongError:
        return math.inf
    return time.thread_time() - started


def grows_faster_than_its_text(pattern, name, text, part):
    """Whether the time for `text` is more than `MOST_GROWTH` times the time for its `part`: the least of three each."""
    whole_s = seconds(pattern, name, text)
    if whole_s <= SUSPECT_S:
        return False
    if whole_s == math.inf:
        return True
    whole_s = min(whole_s, seconds(pattern, name, text), seconds(pattern, name, text))
    return whole_s > MOST_GROWTH * min(seconds(pattern, name, part) for _ in range(3))


def slowest(pattern, name):
    """The first text that takes too long; None when none does."""
    length = BOUNDED.get(name.rpartition(".")[0], LENGTH)
    pairs = zip(pumping_texts(pattern, length), pumping_texts(pattern, length // PARTS), strict=True)
    return next((text for text, part in pairs if grows_faster_than_its_text(pattern, name, text, part)), None)


def test_every_regular_expression_takes_time_linear_in_the_length_of_the_text():
    slow = {name: text[:60] for pattern, name in expressions().items() if (text := slowest(pattern, name)) is not None}
    assert not slow


@pytest.mark.parametrize(
    "quadratic", [r"(\d+),(\d+)", r"<answer>\s*(.*?)\s*</answer>", r"\s*;\s*", r"<a>(.*?)</a>", r"(?:a+)+b"]
)
def test_the_test_texts_reveal_regular_expressions_that_are_slow(quadratic):
    pattern = re.compile(quadratic, re.DOTALL)
    assert slowest(pattern, "made up") is not None


def test_expressions_that_are_exempt_exist():
    names = set(expressions().values())
    assert names >= WHOLE | AT_ONE_PLACE
    assert {name.rpartition(".")[0] for name in names} >= set(BOUNDED)


def test_a_slow_machine_makes_no_linear_expression_suspect(monkeypatch):
    monkeypatch.setattr(f"{__name__}.SUSPECT_S", 0.0)
    many_steps_for_each_character = re.compile(r"(?:\bwww\.|@)[\w.\-]{1,250}\.(io|tv)\b(?!\.\w)")
    slow = sum(
        grows_faster_than_its_text(many_steps_for_each_character, "made up", text, part)
        for text, part in (("www.." * 4_000, "www.." * 1_000), ("@" * 20_000, "@" * 5_000))
    )
    assert slow == 0
