"""Without Ray, every engine is loaded in one process: together they take no more memory than a GPU has."""

import pytest

from deployments.config import load_config
from deployments.wiring.local import local_ports
from tts.config.verifier import VERIFIERS
from tts.errors import ConfigError


def vllm(gpu_memory):
    return {"name": "vllm", "model": "m", "gpu_memory": gpu_memory}


def judged_by(gpu_memory, **more):
    return {"kind": "model", "engine": vllm(gpu_memory), **more}


@pytest.fixture
def loaded(monkeypatch):
    """The share of memory that each engine takes, in the order in which they are loaded."""
    shares = []

    def load(config, **_):
        shares.append(config.gpu_memory)
        return object()

    monkeypatch.setattr("deployments.wiring.parts.VllmModel", load)
    return shares


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"engine": vllm(0.6), "verifier": judged_by(0.5)},
            "engine and verifier.engine share a GPU in one process: the sum of their gpu_memory is 1.1, the limit is "
            "0.95. Lower engine.gpu_memory or verifier.engine.gpu_memory",
        ),
        ({"engine": vllm(0.4), "observer": vllm(0.4), "verifier": judged_by(0.4)}, "engine and observer and verifier"),
        (
            {"engine": vllm(0.6), "verifier": {"consistency": {"engine": vllm(0.6)}}},
            "engine and verifier.consistency.engine share",
        ),
    ],
)
def test_engines_that_need_more_memory_than_a_gpu_has_are_refused_before_loading(loaded, settings, message):
    with pytest.raises(ConfigError) as refused:
        local_ports(load_config(None, settings))
    assert message in str(refused.value)
    assert loaded == []


@pytest.mark.parametrize(
    ("settings", "shares"),
    [
        ({"engine": vllm(0.3), "observer": vllm(0.3), "verifier": judged_by(0.3)}, [0.3, 0.3, 0.3]),
        ({"engine": vllm(0.9), "verifier": judged_by(0.9, kind="consensus")}, [0.9]),
    ],
    ids=["a third each", "the consensus asks no model"],
)
def test_engines_that_fit_are_loaded(loaded, settings, shares):
    local_ports(load_config(None, settings))
    assert loaded == shares


def test_no_engine_is_loaded_for_a_verifier_of_another_package_unasked(loaded, monkeypatch):
    given = []

    def wary(consensus, args):
        given.append(args.verifier.engine)
        return consensus

    monkeypatch.setitem(VERIFIERS._own_entries, "wary", wary)
    local_ports(load_config(None, {"engine": vllm(0.4), "verifier": judged_by(0.5, kind="wary")}))
    assert loaded == [0.4]
    assert [engine.gpu_memory for engine in given] == [0.5], "it may load the engine itself, so it counts"
    with pytest.raises(ConfigError, match=r"engine and verifier\.engine share"):
        local_ports(load_config(None, {"engine": vllm(0.6), "verifier": judged_by(0.5, kind="wary")}))
