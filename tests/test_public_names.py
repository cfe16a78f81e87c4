"""docs/reference.md is the list of public names, and what is not on it says so."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import mrfit

PAGE = (Path(__file__).parent.parent / "docs" / "reference.md").read_text(encoding="utf-8")
ROOMS = [room.name for room in pkgutil.iter_modules(mrfit.__path__) if not room.name.startswith("_")]


def _public_packages() -> set[str]:
    """The packages and modules that the page names whole, or whose names it lists as theirs."""
    listed = {name.rpartition(".")[0] for name in re.findall(r"^   ~(mrfit\.\w+\.\w+)$", PAGE, flags=re.MULTILINE)}
    return listed | set(re.findall(r"`(mrfit\.[a-z_.]+)`", PAGE))


@pytest.mark.parametrize("room", ROOMS)
def test_what_is_not_public_says_so(room: str) -> None:
    """Packages do, but for those the page lists whole; single modules do unless they are the home of a public name."""
    module = importlib.import_module(f"mrfit.{room}")
    is_home = not hasattr(module, "__path__") and any(
        getattr(mrfit, name).__module__ == module.__name__ for name in mrfit.__all__ if name != "__version__"
    )
    is_public = is_home or f"mrfit.{room}" in _public_packages()
    assert (module.__doc__ or "").startswith("Internal") is not is_public


def test_a_distribution_from_the_door() -> None:
    """Two coins that like to agree."""
    factors = mrfit.Factors((2, 2), ((0, 1),), np.array([1.0, 0.0, 0.0, 1.0]))
    engine = mrfit.Enumeration()
    posterior = engine.run(engine.plan(factors), factors)
    assert posterior.log_z == pytest.approx(np.log(2 * np.e + 2))
    assert posterior.marginal((0,)) == pytest.approx([0.5, 0.5])
