"""What reports share: a single HTML page with its data, style sheet and script, under a content security policy."""

from __future__ import annotations

import json
import platform
import re
from base64 import b64encode
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

import numpy as np

_ESCAPED = re.compile("[<>&\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""Characters that are escaped in JSON: those with a meaning in HTML, and control characters."""


def versions() -> dict[str, str]:
    """Return the versions of topshap, Python and numpy."""
    try:
        own = version("topshap")
    except PackageNotFoundError:  # imported from a directory without being installed
        own = "not installed"
    return {"topshap": own, "python": platform.python_version(), "numpy": np.__version__}


def policy(style: str, script: str | None = None) -> str:
    """Return the content security policy: nothing is loaded, and only this style sheet and this script are used."""
    scripts = "" if script is None else f"script-src {_hash(script)}; "
    return f"default-src 'none'; style-src {_hash(style)}; {scripts}img-src data:; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    """Return the hash of an inline style sheet or script, as a content security policy states it."""
    return f"'sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def part(package: str, name: str) -> str:
    """Return a file of a package as text."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def as_json(data: object) -> str:
    """Return JSON for a script element; escape characters that could end the element or the line, or are invisible."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _ESCAPED.sub(lambda character: f"\\u{ord(character.group()):04x}", text)


def clean(text: str) -> str:
    """Return a text that can be encoded as UTF-8: lone surrogates are replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
