"""The command line, called in this process."""

from __future__ import annotations

import io
import sys
import unicodedata
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from topshap.cli import main


def check_command(arguments: list[str]) -> str:
    """Run ``topshap`` with these arguments and return its output.

    It has to succeed, or to print an error of one line and exit with code 1, or 2 for a wrong use. Any exception but
    SystemExit is a finding, and so are control characters in the output.
    """
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with mock.patch.object(sys, "argv", ["topshap", *arguments]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
    text = f"topshap {' '.join(arguments)} exited with code {code}:\n{out.getvalue()}{err.getvalue()}"
    assert code in {0, 1, 2}, text
    assert "Traceback" not in err.getvalue(), text
    check_printable(out.getvalue() + err.getvalue())
    if code == 1 and "Error: " in err.getvalue():
        message = err.getvalue().partition("Error: ")[2]
        assert message.count("\n") == 1, f"an error of several lines. {text}"
    elif code == 1:
        assert out.getvalue(), text
    return out.getvalue()


def check_printable(text: str) -> None:
    """Make a finding of control characters other than line breaks."""
    found = {character for character in text if unicodedata.category(character) in {"Cc", "Cf", "Cs"}}
    allowed = {"\n", "\u200c", "\u200d"}
    assert found <= allowed, f"control characters {sorted(found - allowed)!r} in {text!r}"
