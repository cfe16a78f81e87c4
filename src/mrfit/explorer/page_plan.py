"""The plan by which a page without a server computes: an order of elimination, or sampling."""

from __future__ import annotations

from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.exact.tree_plan import TreePlan
from mrfit.model.markov_network import MarkovNetwork

_MOST_CELLS = 2**21  # of all cliques: a tenth of a second in a browser
_EFFORT = 0.1  # of the default search for an order


def page_plan(model: MarkovNetwork, *, seed: int = 0) -> TreePlan | None:
    """Return a plan that a browser can run, because searching for one takes it too long; None if nothing fits."""
    engine = JunctionTree(max_cells=_MOST_CELLS, seed=seed, effort=_EFFORT, merge=False)
    return engine.fitting_plan(model.factors, order=model.stored_order)
