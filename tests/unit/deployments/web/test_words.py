"""The terminal has the page's words for what the service calls otherwise."""

import re
from pathlib import Path

import deployments
from tts.report.plain_words import ENDS, REQUEST_ENDS, VERDICTS, WORDS
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
