"""The list of decision records names every record, and every number that was never used."""

import re

import pytest
from support.docs_blocks import ROOT

FOLDER = ROOT / "docs" / "adr"
_RANGE = re.compile(r"\b(\d{4})(?: to (\d{4}))?\b")


def unused_numbers(text):
    """Numbers that the last paragraph of a list names, one by one or as ranges ("0005 to 0008")."""
    paragraph = text.strip().rpartition("\n\n")[2]
    ranges = [range(int(first), int(last or first) + 1) for first, last in _RANGE.findall(paragraph)]
    return set().union(*ranges)


def gaps(used):
    """Numbers below the highest one that no record has."""
    return set(range(1, max(used))) - used


def test_the_list_of_decisions_names_every_number_that_was_never_used():
    used = {int(path.name[:4]) for path in FOLDER.glob("[0-9][0-9][0-9][0-9]-*.md")}
    assert len(used) > 40
    assert unused_numbers((FOLDER / "README.md").read_text("utf-8")) == gaps(used)


def test_the_list_of_decisions_has_a_row_for_every_record():
    text = (FOLDER / "README.md").read_text("utf-8")
    listed = re.findall(r"^\| \[(\d{4})\]\((\d{4}-[\w-]+\.md)\) \|", text, re.MULTILINE)
    assert all(file.startswith(number) for number, file in listed)
    assert [file for _, file in listed] == sorted(path.name for path in FOLDER.glob("[0-9]*.md"))


def test_a_row_of_the_list_has_the_date_and_the_status_of_its_record():
    text = (FOLDER / "README.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| \[(\d{4})\].*\| (\S+ \| \w+(?:, amended)?)[^|]*\|$", text, re.MULTILINE))
    for path in FOLDER.glob("[0-9]*.md"):
        record = path.read_text("utf-8")
        date = re.search(r"^\* Date: (\S+)$", record, re.MULTILINE)
        status = re.search(r"^\* Status: ((?:.|\n  )*)", record, re.MULTILINE)
        assert date
        assert status
        amended = ", amended" if re.search("amended|extended|what becomes", status[1]) else ""
        assert rows[path.name[:4]] == f"{date[1]} | accepted{amended}", path.name


@pytest.mark.parametrize(
    ("paragraph", "numbers"),
    [
        ("There is no record 0003.", {3}),
        ("no 0005 to 0008,\n0010 and 0016", {5, 6, 7, 8, 10, 16}),
        ("All are used.", set()),
    ],
)
def test_numbers_are_read_from_the_last_paragraph_only(paragraph, numbers):
    assert unused_numbers(f"| 0001 |\n\n{paragraph}\n") == numbers


def test_a_gap_is_a_number_between_records():
    assert gaps({1, 2, 4, 7}) == {3, 5, 6}
