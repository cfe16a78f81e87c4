"""docs/reliability.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def _named_tests() -> list[tuple[str, str]]:
    """Files and functions, ``::name`` in the file named before it."""
    named, file = [], ""
    for text in re.findall(r"`([^`]*)`", (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")):
        path, _, function = text.partition("::")
        if path.startswith("tests/") and path.endswith(".py"):
            file = path
        if path in ("", file) and file:
            named.append((file, function))
    return named


def test_every_promise_names_a_test_that_exists() -> None:
    named = _named_tests()
    assert len(named) > 40
    for file, function in named:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert not function or f"def {function}(" in text, f"{file}::{function} is not there"
