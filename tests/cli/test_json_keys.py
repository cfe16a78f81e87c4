"""Keys of JSON documents under their new and their earlier names, which have equal values for one release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit._renamed import JSON_KEYS

Shell = Callable[..., Any]

CONVENTIONS = Path(__file__).parents[2] / "docs" / "conventions.md"
COMMANDS = {
    "fit": ("fit", "t.csv", "--strength", "1,10", "--valid", "t.csv"),
    "check": ("check", "m.mrf", "t.csv"),
    "structure": ("structure", "t.csv"),
    "stability": ("stability", "t.csv", "--structure", "learned", "--kind", "stars", "--resamples", "3"),
    "spectrum": ("spectrum", "t.csv", "--folds", "2", "--max-order", "2"),
    "query": ("query", "m.mrf", "--evidence", "a=1"),
    "logz": ("logz", "m.mrf", "--evidence", "a=1"),
    "nodes": ("nodes", "m.mrf"),
    "compare-groups": (
        *("compare-groups", "t.csv", "--by", "c", "--permutations", "2"),
        *("--structure", "complete", "--penalty", "l2", "--strength", "1"),
    ),
    "plan": ("plan", "t.csv"),
    "show": ("show", "given.mrf"),
    "demo": ("demo",),
}


@pytest.fixture
def fitted(shell: Shell, tmp_path: Path) -> Shell:
    """A table of three columns, a model of it, and one given the third."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200)
    b = np.where(rng.random(200) < 0.8, a, 1 - a)
    c = rng.integers(0, 2, 200)
    rows = "".join(f"{x},{y},{z}\n" for x, y, z in zip(a, b, c, strict=True))
    (tmp_path / "t.csv").write_text("a,b,c\n" + rows)
    assert shell("fit", "t.csv", "-o", "m.mrf", "--quiet").code == 0
    assert shell("fit", "t.csv", "--covariates", "c", "-o", "given.mrf", "--quiet").code == 0
    return shell


def test_every_command_is_here() -> None:
    assert {command for command, _, _ in JSON_KEYS} == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_earlier_keys_stand_beside_the_new_ones(command: str, fitted: Shell) -> None:
    ran = fitted(*COMMANDS[command], "--json")
    assert ran.code == 0, ran.err
    for _, new, old in (keys for keys in JSON_KEYS if keys[0] == command):
        found = _at(ran.document, new)
        assert found
        assert found == _at(ran.document, old)


def _at(document: Any, path: str) -> list[Any]:
    """Return the values at a path such as ``nodes.strength``: one for each record of a list."""
    first, _, rest = path.partition(".")
    if not rest:
        return [document[first]]
    return [value for record in document[first] for value in _at(record, rest)]


def test_the_page_on_conventions_lists_them() -> None:
    page = CONVENTIONS.read_text(encoding="utf-8").partition("## JSON keys")[2].partition("\n## ")[0]
    rows = [f"| `{command}` | `{new}` | `{old}` |" for command, new, old in JSON_KEYS]
    assert [line for line in page.splitlines() if line.startswith("| `")] == rows
