"""A stop that comes where Python drops exceptions is not printed with a stack; other dropped exceptions are."""

import sys

import pytest

from deployments.cli import serve


class RaisesWhenDeleted:
    def __init__(self, error):
        self._error = error

    def __del__(self):
        raise self._error


@pytest.mark.parametrize(("error", "printed"), [(KeyboardInterrupt(), False), (OSError("no space left"), True)])
def test_a_dropped_keyboard_interrupt_is_not_printed_and_other_errors_are(error, printed, monkeypatch, capsys):
    monkeypatch.setattr(sys, "unraisablehook", serve._report_all_but_stops)
    RaisesWhenDeleted(error)
    assert ("RaisesWhenDeleted" in capsys.readouterr().err) is printed
