"""How the page computes by itself: an order of elimination that was found here, or by sampling."""

from __future__ import annotations

from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.exact.tree_plan import TreePlan
from mrfit.model.markov_network import MarkovNetwork

_MOST_CELLS = 2**21  # of all cliques: a tenth of a second in a browser
_EFFORT = 0.1  # of a usual search for an order


def page_plan(model: MarkovNetwork, *, seed: int = 0) -> TreePlan | None:
    """A plan that a browser can run, as looking for one takes it too long; None where there is none."""
    engine = JunctionTree(max_cells=_MOST_CELLS, seed=seed, effort=_EFFORT, merge=False)
    return engine.fitting_plan(model.factors, order=model.stored_order)
