"""Plain words for the terms of the service."""

import pytest

from tts.report.plain_words import plain


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("4 of 4 rollouts point to Bern.", "4 of 4 attempts point to Bern."),
        ("Rollout 2 failed after 3 turns", "Attempt 2 failed after 3 turns"),
        (
            "the text that all rollouts read, rollout by rollout.",
            "the text that all attempts read, attempt by attempt.",
        ),
        ("the verifier's own questions", "the comparison's own questions"),
        ("(verifier.max_questions) of call verifier_0_1", "(verifier.max_questions) of call verifier_0_1"),
        ("set deployments.rollout.replicas or rollout_id", "set deployments.rollout.replicas or rollout_id"),
    ],
)
def test_plain_words_replace_terms_in_sentences_and_keep_names(sentence, words):
    assert plain(sentence) == words
