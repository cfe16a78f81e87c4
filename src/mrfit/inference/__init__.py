"""Inference engines: log Z and marginals of `mrfit.Factors`, exact or approximate.

An engine first plans from shape and scopes alone, with cells, bytes and seconds, and then runs the plan. An engine of
your own derives from `Engine` and returns a `Posterior`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrfit._lazy import exports

if TYPE_CHECKING:
    from mrfit.factors import check_scopes
    from mrfit.inference.annealed import Annealed
    from mrfit.inference.belief_propagation import BeliefPropagation
    from mrfit.inference.engine import Engine, Posterior
    from mrfit.inference.enumeration import Enumeration
    from mrfit.inference.gibbs import Gibbs
    from mrfit.inference.junction_tree import JunctionTree
    from mrfit.inference.max_product import MaxProduct
    from mrfit.inference.mean_field import MeanField
    from mrfit.inference.plan import Plan
    from mrfit.inference.tree_reweighted import TreeReweighted

__all__ = [
    "Annealed",
    "BeliefPropagation",
    "Engine",
    "Enumeration",
    "Gibbs",
    "JunctionTree",
    "MaxProduct",
    "MeanField",
    "Plan",
    "Posterior",
    "TreeReweighted",
    "check_scopes",
]

# Loaded on first use, also because some of these build on this package.
__getattr__, __dir__ = exports(
    __name__,
    {
        "mrfit.factors": ("check_scopes",),
        "mrfit.inference.annealed": ("Annealed",),
        "mrfit.inference.belief_propagation": ("BeliefPropagation",),
        "mrfit.inference.engine": (
            "Engine",
            "Posterior",
        ),
        "mrfit.inference.enumeration": ("Enumeration",),
        "mrfit.inference.gibbs": ("Gibbs",),
        "mrfit.inference.junction_tree": ("JunctionTree",),
        "mrfit.inference.max_product": ("MaxProduct",),
        "mrfit.inference.mean_field": ("MeanField",),
        "mrfit.inference.plan": ("Plan",),
        "mrfit.inference.tree_reweighted": ("TreeReweighted",),
    },
)
