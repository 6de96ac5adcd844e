"""The terminal has the page's words for what the service calls otherwise."""

import re
from pathlib import Path

import pytest

import deployments
from tts.report.plain_words import ENDS, REQUEST_ENDS, VERDICTS, WORDS, plain
from tts.verify.claims.check_summary import WHY

STATIC = Path(deployments.__file__).parent / "web" / "static"


def table(file, name):
    """A constant of the page with texts: the first text of each key."""
    script = (STATIC / file).read_text("utf-8")
    body = re.search(rf"^const {name} = \{{(.*?)\}};$", script, re.DOTALL | re.MULTILINE).group(1)
    return dict(re.findall(r'(\w+): \[?"([^"]+)"', body))


def test_the_terminal_and_the_page_replace_the_same_words():
    assert table("words.js", "PLAIN") == WORDS


def test_the_report_the_terminal_and_the_page_have_the_same_sentences():
    assert table("lane.js", "ENDS") == ENDS
    assert table("check_result.js", "WHY") == WHY
    assert table("check_result.js", "VERDICTS") == VERDICTS
    assert table("answer.js", "STOPS").items() <= REQUEST_ENDS.items()


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
