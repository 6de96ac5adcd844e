"""The terminal has the page's words for what the service calls otherwise."""

import re
from pathlib import Path

import pytest

import deployments
from deployments.cli.plain_words import WORDS, plain


def test_the_terminal_and_the_page_replace_the_same_words():
    script = (Path(deployments.__file__).parent / "web" / "static" / "words.js").read_text("utf-8")
    assert dict(re.findall(r'\[/\\b(\w+)\\b/g, "(\w+)"\]', script)) == WORDS


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("4 of 4 rollouts point to Bern.", "4 of 4 attempts point to Bern."),
        ("Rollout 2 failed after 3 turns", "Attempt 2 failed after 3 turns"),
        (
            "the text that all rollouts read, rollout by rollout.",
            "the text that all attempts read, attempt by attempt.",
        ),
        ("set deployments.rollout.replicas or rollout_id", "set deployments.rollout.replicas or rollout_id"),
    ],
)
def test_sentences_change_and_names_stay(sentence, words):
    assert plain(sentence) == words
