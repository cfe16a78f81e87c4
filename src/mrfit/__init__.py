"""mrfit: learn discrete Markov networks from tables, and ask them questions."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mrfit._version import __version__

if TYPE_CHECKING:
    from mrfit.data.dataset import Dataset
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.domain import Domain, Variable
    from mrfit.errors import MrfitError
    from mrfit.estimator import MarkovNetworkLearner
    from mrfit.learning import Settings, learn
    from mrfit.model import MarkovNetwork
    from mrfit.structure.structure import Structure

# Loaded on first use: numba and scikit-learn take longer to import than most commands take to run.
_HOME = {
    "Dataset": "mrfit.data.dataset",
    "Domain": "mrfit.domain",
    "MarkovNetwork": "mrfit.model",
    "MarkovNetworkLearner": "mrfit.estimator",
    "MrfitError": "mrfit.errors",
    "Settings": "mrfit.learning",
    "Structure": "mrfit.structure.structure",
    "UniqueRows": "mrfit.data.unique_rows",
    "Variable": "mrfit.domain",
    "learn": "mrfit.learning",
}

__all__ = [
    "Dataset",
    "Domain",
    "MarkovNetwork",
    "MarkovNetworkLearner",
    "MrfitError",
    "Settings",
    "Structure",
    "UniqueRows",
    "Variable",
    "__version__",
    "learn",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'mrfit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
