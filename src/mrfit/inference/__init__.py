"""Inference engines: log Z and marginals of `mrfit.Factors`, exact or approximate.

An engine first plans from shape and scopes alone, with cells, bytes and seconds, and then runs the plan. An engine of
your own derives from `Engine` and returns a `Posterior`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrfit._lazy import exports

if TYPE_CHECKING:
    from mrfit.core.factors import check_scopes
    from mrfit.inference.engine import Engine, Posterior
    from mrfit.inference.exact.enumeration import Enumeration
    from mrfit.inference.exact.junction_tree import JunctionTree
    from mrfit.inference.messages.belief_propagation import BeliefPropagation
    from mrfit.inference.messages.max_product import MaxProduct
    from mrfit.inference.messages.mean_field import MeanField
    from mrfit.inference.messages.tree_reweighted import TreeReweighted
    from mrfit.inference.plan import Plan
    from mrfit.inference.sampling.annealed import Annealed
    from mrfit.inference.sampling.gibbs import Gibbs

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
        "mrfit.core.factors": ("check_scopes",),
        "mrfit.inference.sampling.annealed": ("Annealed",),
        "mrfit.inference.messages.belief_propagation": ("BeliefPropagation",),
        "mrfit.inference.engine": (
            "Engine",
            "Posterior",
        ),
        "mrfit.inference.exact.enumeration": ("Enumeration",),
        "mrfit.inference.sampling.gibbs": ("Gibbs",),
        "mrfit.inference.exact.junction_tree": ("JunctionTree",),
        "mrfit.inference.messages.max_product": ("MaxProduct",),
        "mrfit.inference.messages.mean_field": ("MeanField",),
        "mrfit.inference.plan": ("Plan",),
        "mrfit.inference.messages.tree_reweighted": ("TreeReweighted",),
    },
)
