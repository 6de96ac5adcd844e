"""Erased names are remembered in order: work that began before must not write."""

from tts.erasure import erased_names
from tts.erasure.erased_names import ErasedNames


def test_work_that_began_before_an_erasure_must_not_write_and_later_work_may():
    names = ErasedNames()
    before = names.mark()
    names.add("photo")
    assert names.was_erased_since(before, ["other", "photo"])
    assert not names.was_erased_since(names.mark(), ["photo"])
    assert not names.was_erased_since(before, ["other"])


def test_the_oldest_name_is_forgotten_and_a_name_erased_again_is_the_latest(monkeypatch):
    monkeypatch.setattr(erased_names, "_MAX_NAMES", 2)
    names = ErasedNames()
    for name in ("a", "b", "a", "c"):
        names.add(name)
    assert [names.was_erased_since(0, [name]) for name in "abc"] == [True, False, True]
