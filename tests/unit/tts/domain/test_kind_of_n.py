"""Samples of one policy and mixtures of models are two kinds of N. What is said of N names the kind."""

import pytest

from tts.domain.answer import RunCount
from tts.domain.kind_of_n import FittedKind, KindOfN, fitted_kind, kind_of_n
from tts.domain.stop_table import shipped_stop_table

SAMPLE, POLICY, MIXTURE = KindOfN


def test_rollouts_of_one_model_are_samples_and_of_several_models_a_mixture():
    assert [kind_of_n(count, models) for count, models in ((1, 1), (4, 1), (4, 2))] == [SAMPLE, POLICY, MIXTURE]


@pytest.mark.parametrize(("kinds", "fitted"), [
    ((), FittedKind.NOT_STATED), ((SAMPLE, POLICY), FittedKind.ONE_POLICY), ((MIXTURE,), FittedKind.MIXTURE),
    ((MIXTURE, POLICY), FittedKind.BOTH), ((SAMPLE, MIXTURE), FittedKind.BOTH),
])  # fmt: skip
def test_a_table_has_the_kind_of_the_runs_it_was_fitted_to(kinds, fitted):
    assert fitted_kind(kinds) is fitted


def test_a_table_is_of_another_kind_only_if_none_of_its_runs_was_of_this_one():
    of_another = {(table, kind) for table in FittedKind for kind in KindOfN if table.is_other_than(kind)}
    assert of_another == {
        (FittedKind.ONE_POLICY, MIXTURE), (FittedKind.MIXTURE, POLICY), (FittedKind.MIXTURE, SAMPLE),
    }  # fmt: skip


def test_the_shipped_stop_table_is_of_a_mixture():
    assert shipped_stop_table().kind_of_n is FittedKind.MIXTURE


@pytest.mark.parametrize(("models", "run", "abstained", "text"), [
    (1, 4, 0, "4 of 4 rollouts of one model answered"),
    (3, 4, 1, "3 of 4 rollouts of 3 models answered, 1 does not know"),
    (1, 1, 0, "1 of 1 rollouts answered"),
    (None, 4, 2, "2 of 4 rollouts answered, 2 do not know"),
])  # fmt: skip
def test_the_number_of_rollouts_is_told_with_the_number_of_models(models, run, abstained, text):
    count = RunCount(asked=run, planned=run, run=run, answered=run, abstained=abstained, models=models)
    assert count.text == text
