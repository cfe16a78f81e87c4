"""Known sparse networks come back from exact samples, the more surely the more rows there are.

The strength is that of theory with c = 2: the guarantee (Ravikumar, Wainwright and Lafferty 2010, Theorem 1) asks for a
multiple of sqrt(log(n) / N) that is large enough to keep strangers out, and rows enough that friends survive it. The
c = 0.2 of Lokhov et al. (2018) is meant for couplings to be cut off afterwards, and lets strangers in at any N.
"""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner
from mrfit.structures.simple import Learned
from mrfit.structures.structure import Structure
from reference.nodewise import drawn_rows, pairwise_probabilities

Edges = list[tuple[int, int]]


def _chain(n: int) -> Edges:
    return [(i, i + 1) for i in range(n - 1)]


def _grid(height: int, width: int) -> Edges:
    across = [(r * width + c, r * width + c + 1) for r in range(height) for c in range(width - 1)]
    return across + [(r * width + c, (r + 1) * width + c) for r in range(height - 1) for c in range(width)]


# Drawn once from the 3-regular graphs on eight and six variables.
_CUBIC_8 = [(0, 1), (0, 3), (0, 4), (1, 4), (1, 7), (2, 3), (2, 5), (2, 6), (3, 7), (4, 6), (5, 6), (5, 7)]
_CUBIC_6 = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (3, 5), (4, 5)]

# States, variables, edges, coupling. Strong couplings around many short cycles break the incoherence that theory asks
# for, so the graphs of degree 3 have weaker ones.
NETWORKS: dict[str, tuple[int, int, Edges, float]] = {
    "chain": (2, 9, _chain(9), 0.5),
    "grid": (2, 9, _grid(3, 3), 0.5),
    "degree 3": (2, 8, _CUBIC_8, 0.25),
    "chain, 3 states": (3, 7, _chain(7), 0.5),
    "grid, 3 states": (3, 6, _grid(2, 3), 0.5),
    "degree 3, 3 states": (3, 6, _CUBIC_6, 0.25),
}
every_network = pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS.keys())


def _failures(network: tuple[int, int, Edges, float], n_rows: int, learner: PairwiseLearner, seeds: int) -> int:
    """Number of samples in which the learned graph is not exactly the true one."""
    states, n, edges, coupling = network
    shape, truth = (states,) * n, Structure.from_edges(n, edges)
    p = pairwise_probabilities(shape, edges, coupling)
    samples = (drawn_rows(np.random.default_rng(seed), shape, p, n_rows) for seed in range(seeds))
    return sum(learner.learn(rows).structure != truth for rows in samples)


@every_network
@pytest.mark.parametrize("rule", ["and", "or"])
def test_the_true_graph_is_found_exactly(network: tuple[int, int, Edges, float], rule: str) -> None:
    assert _failures(network, 10_000, Learned(select="theory", theory=2.0, rule=rule), seeds=5) == 0


@every_network
def test_failures_become_rarer_with_rows(network: tuple[int, int, Edges, float]) -> None:
    """Recovery fails nearly always with few rows and never with many."""
    learner = Learned(select="theory", theory=2.0, rule="and")
    failures = [_failures(network, n_rows, learner, seeds=12) for n_rows in (100, 1000, 10_000)]
    assert failures == sorted(failures, reverse=True)
    assert failures[0] >= 10
    assert failures[-1] == 0


@pytest.mark.parametrize("name", ["degree 3", "degree 3, 3 states"])
def test_a_known_degree_needs_no_strength(name: str) -> None:
    """Every variable has d neighbours, so that d determines the graph."""
    for bound, rule in (("graph", "or"), ("gain", "and"), ("gain", "or")):
        learner = Learned(max_degree=3, bound=bound, rule=rule)
        assert _failures(NETWORKS[name], 10_000, learner, seeds=5) == 0


@pytest.mark.parametrize("name", ["chain", "grid", "chain, 3 states"])
def test_the_ebic_keeps_every_true_edge(name: str) -> None:
    """Its losses are those of shrunken coefficients, so it may keep too many, and few if both ends must agree."""
    states, n, edges, coupling = NETWORKS[name]
    p = pairwise_probabilities((states,) * n, edges, coupling)
    for seed in range(4):
        rows = drawn_rows(np.random.default_rng(seed), (states,) * n, p, 3000)
        found = Learned(select="ebic", rule="and", gamma=1.0).learn(rows).structure.edges.tolist()
        assert {tuple(edge) for edge in found} >= set(edges)
        assert len(found) <= len(edges) + 4
