"""Forward selection: the bound, the wishes of the user, and how good the choice is."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.design_matrix import IndicatorTable
from mrfit.structures.nodewise.forward_neighbours import ForwardGraph, ForwardNeighbours
from mrfit.structures.nodewise.neighbour_selection import NeighbourSelection
from mrfit.structures.nodewise.regressions import Regressions
from mrfit.structures.simple import Learned
from populations import SHAPES, domain_of, random_codes, random_rows
from reference.nodewise import drawn_rows, pairwise_probabilities


def _found(
    kind: type[NeighbourSelection], rows: UniqueRows, max_degree: int, pairs: AllowedPairs, **more: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the selected neighbours and the coefficients."""
    neighbours = kind(max_degree).neighbours(rows, pairs, **more)
    chosen, coefficients = np.zeros((len(rows.domain),) * 2, bool), np.zeros((len(rows.domain),) * 2)
    chosen[tuple(neighbours.arcs.T)], coefficients[tuple(neighbours.arcs.T)] = (
        neighbours.chosen,
        neighbours.coefficients,
    )
    return chosen, coefficients


_neighbours, _graph = partial(_found, ForwardNeighbours), partial(_found, ForwardGraph)
BY_GAIN = {"gain": _neighbours, "graph": _graph}
both = pytest.mark.parametrize("by_gain", BY_GAIN.values(), ids=BY_GAIN.keys())

RING = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)]


def _ring(n_rows: int = 2000, seed: int = 0, states: int = 2) -> UniqueRows:
    shape = (states,) * 6
    return drawn_rows(np.random.default_rng(seed), shape, pairwise_probabilities(shape, RING, 0.5), n_rows)


def _star(rng: np.random.Generator, leaves: int = 5) -> UniqueRows:
    """A centre and its noisy copies."""
    centre = rng.integers(0, 2, 2000)
    columns = [centre] + [np.where(rng.random(2000) < 0.2, 1 - centre, centre) for _ in range(leaves)]
    return UniqueRows.from_codes(domain_of((2,) * (leaves + 1)), np.stack(columns, 1).astype(np.uint8), np.ones(2000))


def _wish(n: int, *, required: tuple = (), forbidden: tuple = ()) -> AllowedPairs:
    allowed = AllowedPairs.all(n)
    for matrix, pairs in ((allowed.required, required), (allowed.forbidden, forbidden)):
        for a, b in pairs:
            matrix[a, b] = matrix[b, a] = True
    return allowed


def _adjacency(n: int, edges: list[tuple[int, int]]) -> np.ndarray:
    adjacency = np.zeros((n, n), bool)
    for a, b in edges:
        adjacency[a, b] = adjacency[b, a] = True
    return adjacency


@both
@pytest.mark.parametrize("states", [2, 3])
def test_a_ring_is_found_by_either_way(by_gain, states: int) -> None:
    chosen, coefficient = by_gain(_ring(5000, states=states), 2, AllowedPairs.all(6))
    np.testing.assert_array_equal(chosen, _adjacency(6, RING))
    np.testing.assert_array_equal(coefficient != 0, chosen)


@both
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("most", [1, 2, 10])
def test_the_bound_holds_on_every_shape(by_gain, shape: tuple[int, ...], most: int, rng: np.random.Generator) -> None:
    rows = random_rows(rng, shape, 300, fractional=True)
    chosen, coefficient = by_gain(rows, most, AllowedPairs.all(len(shape)))
    assert (chosen.sum(axis=1) <= most).all()
    assert not chosen.diagonal().any()
    assert np.isfinite(coefficient).all()
    assert not coefficient[~chosen].any()


def test_a_graph_is_symmetric_and_bounded_where_single_regressions_are_not(rng: np.random.Generator) -> None:
    """All leaves of a star choose its centre."""
    rows = _star(rng)
    single, _ = _neighbours(rows, 1, AllowedPairs.all(6))
    assert single[1:, 0].all()
    graph, _ = _graph(rows, 1, AllowedPairs.all(6))
    np.testing.assert_array_equal(graph, graph.T)
    assert graph.sum(axis=1).max() == 1


def test_noise_has_hardly_any_neighbours() -> None:
    """A step must promise more than the 95% point of chi-square; the best of nine outsiders often does."""
    rng = np.random.default_rng(0)
    rows = UniqueRows.from_codes(domain_of((2,) * 10), rng.integers(0, 2, (3000, 10)).astype(np.uint8), np.ones(3000))
    chosen, _ = _neighbours(rows, 9, AllowedPairs.all(10))
    assert chosen.sum() < 0.15 * 90
    graph, _ = _graph(rows, 9, AllowedPairs.all(10))
    assert graph.sum() < 0.15 * 90


def _noise(states: int, n_rows: int, seed: int, *, falling: bool = False) -> UniqueRows:
    """Twelve independent items; where ``falling``, each state half as frequent as the one before."""
    frequency = 0.5 ** np.arange(states) if falling else np.ones(states)
    codes = np.random.default_rng(seed).choice(states, (n_rows, 12), p=frequency / frequency.sum())
    return UniqueRows.from_codes(domain_of((states,) * 12), codes.astype(np.uint8), np.ones(n_rows))


@both
@pytest.mark.parametrize("falling", [False, True], ids=["even", "falling"])
@pytest.mark.parametrize("states", [3, 5])
@pytest.mark.parametrize("n_rows", [100, 1000])
def test_noise_of_many_states_has_no_more_neighbours_than_that_of_two(
    by_gain, states: int, n_rows: int, falling: bool
) -> None:
    """A pair of items with five answers has 16 parameters: what it promises by luck alone is 16 times as much."""
    found = 0
    for seed in range(10):
        chosen, _ = by_gain(_noise(states, n_rows, seed, falling=falling), 11, AllowedPairs.all(12))
        found += int(np.triu(chosen | chosen.T).sum())
    assert found <= binom.isf(1e-3, 10 * 66, 0.05)


def test_either_of_two_regressions_finds_no_more_noise_than_one_where_rows_are_few() -> None:
    """Two regressions of a pair disagree if rows are few, so that a pair has two chances; all variables are binary."""
    n_tables = 250
    found = [
        ForwardNeighbours(11).neighbours(_noise(2, 100, k), AllowedPairs.all(12)).edges("or") for k in range(n_tables)
    ]
    assert sum(map(len, found)) <= binom.isf(1e-3, n_tables * 66, 0.05)


def test_a_pair_that_both_regressions_must_choose_pays_the_price_alone() -> None:
    rows, pairs = _noise(2, 100, 0), AllowedPairs.all(12)
    edges = {}
    for rule, either in (("or", True), ("and", False)):
        found = ForwardNeighbours(11, either=either).neighbours(rows, pairs)
        edges[rule] = found.edges(rule).tolist()
        assert Learned(rule=rule).learn(rows).structure.edges.tolist() == edges[rule]
    assert len(ForwardNeighbours(11).neighbours(rows, pairs).edges("and")) < len(edges["and"])


def test_a_pair_must_score_as_rarely_by_luck_as_one_parameter_exceeds_the_price() -> None:
    found = {}
    for price in (1.0, 3.84, 6.63):
        selection = ForwardNeighbours(11, price)
        arcs = sum(
            int(selection.neighbours(_noise(4, 500, seed), AllowedPairs.all(12)).chosen.sum()) for seed in range(6)
        )
        found[price] = arcs / (6 * 132)
    assert 0.2 < found[1.0] < 0.4  # chi-square exceeds 1 in 32 % of cases, 3.84 in 5 %, 6.63 in 1 %
    assert 0.01 < found[3.84] < 0.07
    assert found[6.63] < 0.025


@pytest.mark.parametrize("max_degree", [5, 11])
def test_few_rows_of_five_states_bring_few_false_neighbours(max_degree: int) -> None:
    """A chain: of the neighbours chosen beside those of the chain, no more than luck alone brings."""
    n, false, true = 8, 0, 0
    shape, edges = (5,) * n, [(i, i + 1) for i in range(n - 1)]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        codes = np.cumsum(rng.choice(3, (300, n), p=(0.3, 0.4, 0.3)) - 1, axis=1) + rng.integers(0, 5, (300, 1))
        rows = UniqueRows.from_codes(domain_of(shape), np.clip(codes, 0, 4).astype(np.uint8), np.ones(300))
        chosen, _ = _neighbours(rows, max_degree, AllowedPairs.all(n))
        joined, chain = np.triu(chosen | chosen.T), np.triu(_adjacency(n, edges))
        true += int((joined & chain).sum())
        false += int((joined & ~chain).sum())
    assert true == 5 * len(edges)
    assert false <= binom.isf(1e-3, 5 * 21, 0.05)


def test_the_choice_is_near_the_best_subset() -> None:
    """Forward steps and exchanges need not find the best of all subsets, but come close in loss."""
    p = pairwise_probabilities((2,) * 7, [(0, k) for k in range(1, 7)] + [(1, 2), (3, 4)], 0.35)
    rows = drawn_rows(np.random.default_rng(3), (2,) * 7, p, 600)
    chosen, _ = _neighbours(rows, 2, AllowedPairs.all(7))
    for i in range(7):
        empty = Regressions(IndicatorTable.of(rows), [i]).all[0].value
        losses = {pair: _loss(rows, i, pair) for pair in combinations([j for j in range(7) if j != i], 2)}
        mine, best = _loss(rows, i, tuple(np.flatnonzero(chosen[i]).tolist())), min(losses.values())
        assert mine - best <= 0.1 * (empty - best)


def _loss(rows: UniqueRows, variable: int, neighbours: tuple[int, ...]) -> float:
    regressions = Regressions(IndicatorTable.of(rows), [variable])
    regressions.all[0].solve(regressions.table, np.array(neighbours), 1e-6, 1e-6)
    return regressions.all[0].value


# -- wishes ------------------------------------------------------------------------------------------------------


@both
def test_required_and_forbidden_edges(by_gain) -> None:
    allowed = _wish(6, required=((0, 3),), forbidden=((0, 1), (2, 3)))
    chosen, _ = by_gain(_ring(), 3, allowed)
    assert chosen[0, 3]
    assert chosen[3, 0]
    assert not (chosen & allowed.forbidden).any()
    assert (chosen.sum(axis=1) <= 3).all()


@both
def test_required_edges_may_pass_the_bound_alone(by_gain) -> None:
    required = tuple((0, j) for j in range(1, 6))
    chosen, _ = by_gain(_ring(), 2, _wish(6, required=required))
    np.testing.assert_array_equal(np.flatnonzero(chosen[0]), [1, 2, 3, 4, 5])
    assert (chosen[1:].sum(axis=1) <= 2).all()


def test_graph_adds_nothing_to_a_variable_whose_required_edges_fill_the_bound(rng: np.random.Generator) -> None:
    chosen, _ = _graph(_star(rng), 1, _wish(6, required=((0, 1),)))
    assert chosen.sum(axis=1).max() == 1


@pytest.mark.parametrize("most", [1, 2])
def test_gain_adds_nothing_to_a_variable_whose_required_edges_fill_the_bound(
    most: int, rng: np.random.Generator
) -> None:
    """The centre of a star would gladly take more leaves."""
    required = tuple((0, j) for j in range(1, most + 1))
    chosen, _ = _neighbours(_star(rng), most, _wish(6, required=required))
    assert chosen.sum(axis=1).max() <= most


@both
def test_everything_forbidden_leaves_nothing(by_gain) -> None:
    chosen, coefficient = by_gain(_ring(), 3, _wish(6, forbidden=tuple(combinations(range(6), 2))))
    assert not chosen.any()
    assert not coefficient.any()


# -- what must not matter ----------------------------------------------------------------------------------------


@both
def test_weights_are_repeated_rows_in_any_order(by_gain, rng: np.random.Generator) -> None:
    domain, codes = domain_of((2, 3, 2, 2, 2)), random_codes(rng, (2, 3, 2, 2, 2), 80)
    times = rng.integers(1, 6, 80)
    weighted = UniqueRows.from_codes(domain, codes, times.astype(float))
    repeated = rng.permutation(np.repeat(codes, times, axis=0))
    one, other = (
        by_gain(r, 2, AllowedPairs.all(5))
        for r in (weighted, UniqueRows.from_codes(domain, repeated, np.ones(len(repeated))))
    )
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_allclose(one[1], other[1], rtol=1e-12)


@both
def test_permuted_columns_permute_the_choice(by_gain, rng: np.random.Generator) -> None:
    rows, order = _ring(), rng.permutation(6)
    turned = UniqueRows.from_codes(rows.domain, rows.codes[:, order], rows.sample_weight)
    np.testing.assert_array_equal(
        by_gain(turned, 2, AllowedPairs.all(6))[0], by_gain(rows, 2, AllowedPairs.all(6))[0][np.ix_(order, order)]
    )


@both
def test_flipped_states_flip_signs_only(by_gain) -> None:
    rows = _ring()
    codes = rows.codes.copy()
    codes[:, 2] = 1 - codes[:, 2]
    chosen, coefficient = by_gain(rows, 2, AllowedPairs.all(6))
    other, flipped = by_gain(UniqueRows.from_codes(rows.domain, codes, rows.sample_weight), 2, AllowedPairs.all(6))
    np.testing.assert_array_equal(chosen, other)
    sign = np.where(np.arange(6) == 2, -1.0, 1.0)
    np.testing.assert_allclose(flipped, coefficient * np.outer(sign, sign), atol=1e-3)


# -- awkward tables ----------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("kind", ["copies", "constants", "rare", "wide", "one row", "two", "three-state copies"])
def test_awkward_tables(by_gain, kind: str) -> None:
    """No NaN, no endless loop, nothing chosen that does not vary."""
    rng = np.random.default_rng(5)
    x = rng.integers(0, 2, (100, 4))
    rare = (np.arange(100) == 3).astype(int)
    codes, states = {
        "copies": (np.c_[x, x[:, 0], x[:, 0], 1 - x[:, 0]], 2),
        "constants": (np.c_[x, x[:, 0], 0 * rare, 0 * rare + 1], 2),
        "rare": (np.c_[x, rare, rare], 2),
        "wide": (rng.integers(0, 2, (12, 60)), 2),
        "one row": (x[:1], 2),
        "two": (x[:, :2], 2),
        "three-state copies": (np.c_[x + rare[:, None], x[:, 0]], 3),
    }[kind]
    rows = UniqueRows.from_codes(domain_of((states,) * codes.shape[1]), codes.astype(np.uint8), np.ones(len(codes)))
    chosen, coefficient = by_gain(rows, 3, AllowedPairs.all(codes.shape[1]))
    assert (chosen.sum(axis=1) <= 3).all()
    assert np.isfinite(coefficient).all()
    varies = codes.std(axis=0) > 0
    assert not chosen[~varies].any()
    assert not chosen[:, ~varies].any()


@both
def test_weights_of_very_different_size(by_gain) -> None:
    """Separable regressions of heavy rows have no curvature left in floating point."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 2, (6, 8)).astype(np.uint8)
        rows = UniqueRows.from_codes(domain_of((2,) * 8), codes, 10.0 ** rng.uniform(-6, 6, 6))
        chosen, coefficient = by_gain(rows, 3, AllowedPairs.all(8))
        assert np.isfinite(coefficient).all()
        assert (chosen.sum(axis=1) <= 3).all()


@both
def test_the_callback_is_told_of_every_round(by_gain) -> None:
    told: list[int] = []
    by_gain(_ring(), 2, AllowedPairs.all(6), callback=told.append)
    assert told
    assert all(0 <= count <= 6 for count in told)
