"""Every public object of the library, by its full name."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

MODULES = (
    "mrfit",
    "mrfit.objectives",
    "mrfit.penalties",
    "mrfit.solvers",
    "mrfit.structures",
    "mrfit.parameterizations",
    "mrfit.inference",
    "mrfit.formats",
    "mrfit.testing",
    "mrfit.registry",
    "mrfit.core.errors",
)


def public_objects() -> Iterator[tuple[str, Any]]:
    """Yield the names of public modules with their objects, each object once."""
    known: set[int] = set()
    for module in MODULES:
        home = importlib.import_module(module)
        for name in home.__all__:
            thing = getattr(home, name)
            if name != "__version__" and id(thing) not in known:
                known.add(id(thing))
                yield f"{module}.{name}", thing


PUBLIC = dict(public_objects())
