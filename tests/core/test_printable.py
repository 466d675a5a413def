"""Text from elsewhere is printed without control characters, and otherwise as it is."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.core.printable import printable, printable_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("age", "age"),
        ("naïve ἀρχή", "naïve ἀρχή"),
        ("שלום", "שלום"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("a\u00a0b", "a b"),
        ("a\nb\tc\rd", r"a\nb\tc\rd"),
        ("\x00\x07\x1b[2J\x9b", r"\x00\x07\x1b[2J\x9b"),
        ("\u202egpj.exe\u2066", r"\u202egpj.exe\u2066"),
        ("\u2028\ud800\U000e0001", r"\u2028\ud800\U000e0001"),
    ],
)
def test_control_characters_are_escaped(text, shown):
    assert printable(text) == shown


@given(st.text())
def test_a_text_stays_on_its_line_and_can_be_encoded(text):
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    shown.encode("utf-8")
    assert {unicodedata.category(c) for c in shown if c not in "\u200c\u200d"}.isdisjoint(
        {"Cc", "Cf", "Cs", "Zl", "Zp"}
    )


def test_lines_stay_lines():
    assert printable_lines("one\ntwo\x1b") == "one\ntwo\\x1b"
