"""docs/api.md is the list of public names, and what is not on it says so."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import mrfit

PAGE = (Path(__file__).parent.parent / "docs" / "api.md").read_text(encoding="utf-8")
ROOMS = [room.name for room in pkgutil.iter_modules(mrfit.__path__) if not room.name.startswith("_")]


def _documented() -> list[str]:
    """Names between backquotes in the first column of the tables, without the headers."""
    columns = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `") and "import ..." not in line]
    return [name for column in columns for name in re.findall(r"`([^`]*)`", column)]


def _paths() -> list[str]:
    return [name for name in _documented() if "." in name]


def test_the_page_lists_the_names_at_the_door() -> None:
    names = [name for name in _documented() if "." not in name]
    assert sorted(names) == sorted(mrfit.__all__)


@pytest.mark.parametrize("path", _paths())
def test_every_other_public_name_is_there(path: str) -> None:
    if path.count(".") == 1:
        assert importlib.import_module(path)
    else:
        module, _, name = path.rpartition(".")
        assert hasattr(importlib.import_module(module), name)


@pytest.mark.parametrize("room", ROOMS)
def test_what_is_not_public_says_so(room: str) -> None:
    """Packages do, but for those the page lists whole; single modules do unless they are the home of a public name."""
    module = importlib.import_module(f"mrfit.{room}")
    is_home = not hasattr(module, "__path__") and any(
        getattr(mrfit, name).__module__ == module.__name__ for name in mrfit.__all__ if name != "__version__"
    )
    is_public = is_home or f"mrfit.{room}" in _paths()
    assert (module.__doc__ or "").startswith("Internal") is not is_public


def test_a_distribution_from_the_door() -> None:
    """Two coins that like to agree."""
    factors = mrfit.Factors((2, 2), ((0, 1),), np.array([1.0, 0.0, 0.0, 1.0]))
    engine = mrfit.Enumeration()
    posterior = engine.run(engine.plan(factors), factors)
    assert posterior.log_z == pytest.approx(np.log(2 * np.e + 2))
    assert posterior.marginal((0,)) == pytest.approx([0.5, 0.5])
