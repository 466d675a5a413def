"""Untrusted text, such as the names of players, escaped for printing."""

from __future__ import annotations

from unicodedata import category

_JOINERS = "\u200c\u200d"
"""Invisible characters that some languages and emoji need."""


def printable(text: str) -> str:
    r"""Return a text with its control characters escaped, so that it stays on one line and cannot move the cursor.

    Control characters are line breaks, terminal escapes and marks that change the direction of text. Other kinds of
    spaces are replaced by ordinary ones.

    Examples
    --------
    >>> print(printable("tri\nglycerides \x1b[2J"))
    tri\nglycerides \x1b[2J
    """
    return text if text.isprintable() else "".join(map(_escape, text))


def printable_lines(text: str) -> str:
    """Return a text with its control characters escaped, except for line breaks."""
    return "\n".join(map(printable, text.split("\n")))


def _escape(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    return " " if category(character) == "Zs" else character.encode("unicode_escape").decode("ascii")
