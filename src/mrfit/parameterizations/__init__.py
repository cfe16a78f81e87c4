"""Parameterizations: which features a structure has, in six kinds of coordinates.

A parameterization of your own derives from `Parameterization`: how many features a scope has, which, and their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrfit._lazy import exports

if TYPE_CHECKING:
    from mrfit.parameterizations.canonical import Canonical
    from mrfit.parameterizations.full import Full
    from mrfit.parameterizations.generalized_ising import GeneralizedIsing
    from mrfit.parameterizations.ising import Ising
    from mrfit.parameterizations.ordered import Ordered
    from mrfit.parameterizations.parameterization import Parameterization
    from mrfit.parameterizations.spectral import Spectral

__all__ = [
    "Canonical",
    "Full",
    "GeneralizedIsing",
    "Ising",
    "Ordered",
    "Parameterization",
    "Spectral",
]

# Loaded on first use, also because some of these build on this package.
__getattr__, __dir__ = exports(
    __name__,
    {
        "mrfit.parameterizations.canonical": ("Canonical",),
        "mrfit.parameterizations.full": ("Full",),
        "mrfit.parameterizations.generalized_ising": ("GeneralizedIsing",),
        "mrfit.parameterizations.ising": ("Ising",),
        "mrfit.parameterizations.ordered": ("Ordered",),
        "mrfit.parameterizations.parameterization": ("Parameterization",),
        "mrfit.parameterizations.spectral": ("Spectral",),
    },
)
