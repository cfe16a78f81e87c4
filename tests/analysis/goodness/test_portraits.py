"""Moments by each engine, against all joint states."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from mrfit.analysis.goodness.exact_moments import by_enumeration, by_tree
from mrfit.analysis.goodness.independent_draws import Drawn
from mrfit.analysis.goodness.moment_estimates import Portrait
from mrfit.analysis.goodness.row_moments import Moments, States, mean_log_potential
from mrfit.analysis.goodness.sampled_moments import by_chains
from mrfit.analysis.goodness.typical_counts import Typical
from mrfit.core.factors import Factors
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.inference.exact.junction_tree import JunctionTree
from phantom import phantom_mode
from populations import domain_of, rows_from

SHAPES = {
    "two states": (2,) * 8,
    "several states": (3, 2, 4, 2, 3, 2),
    "some of one state": (2, 1, 3, 1, 2),
    "two variables": (2, 2),
    "one variable": (3,),
}


def random_factors(shape: tuple[int, ...], rng: np.random.Generator) -> Factors:
    """Single variables, neighbours, and a scope of three."""
    n = len(shape)
    scopes = [*((i,) for i in range(n)), *((i, i + 1) for i in range(n - 1)), *([(0, 2, 3)] if n > 3 else [])]
    return Factors.from_tables(shape, [(s, rng.normal(0, 0.7, int(np.prod([shape[i] for i in s])))) for s in scopes])


def brute_force(factors: Factors) -> tuple[Moments, float]:
    """Moments and log Z from a list of all joint states, each a row weighted by its probability."""
    codes = np.array([*product(*map(range, factors.shape))], np.uint8)
    log_p = factors.log_potential(codes)
    log_z = float(np.logaddexp.reduce(log_p))
    rows = UniqueRows(domain_of(factors.shape), codes, np.exp(log_p - log_z), len(codes))
    return Moments.of_rows(rows), log_z


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_frequencies_of_rows(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    """Frequencies agree with a count of one pair of variables after the other."""
    codes = np.stack([rng.integers(0, c, 200) for c in shape], axis=1).astype(np.uint8)
    weight = rng.random(200)
    moments = Moments.of_rows(UniqueRows.from_dataset(Dataset(domain_of(shape), codes, weight)))
    for i, j in combinations(range(len(shape)), 2):
        table = np.zeros((shape[i], shape[j]))
        np.add.at(table, (codes[:, i], codes[:, j]), weight / weight.sum())
        assert moments.table((i, j)) == pytest.approx(table.ravel(), abs=1e-12)
        assert moments.table((i,)) == pytest.approx(table.sum(axis=1), abs=1e-12)
    sums = np.bincount((codes > 0).sum(axis=1), weight / weight.sum(), len(shape) + 1)
    assert moments.sums == pytest.approx(sums)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_mean_potential_of_rows(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    factors = random_factors(shape, rng)
    rows = rows_from(factors, 50, rng)
    expected = rows.sample_weight @ factors.log_potential(rows.codes) / rows.total_weight
    assert mean_log_potential(factors, rows, Moments.of_rows(rows)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_enumeration_says_everything(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    factors = random_factors(shape, rng)
    found = by_enumeration(Enumeration().plan(factors), factors, shape, jobs=1)
    expected, log_z = brute_force(factors)
    assert found.exact
    assert found.log_z == pytest.approx(log_z)
    _assert_equal(found.moments, expected)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_tree_is_exact_within_scopes_and_close_beyond(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    factors = random_factors(shape, rng)
    found = by_tree(JunctionTree().plan(factors), factors, shape, n_rows=8192, seed=0, jobs=1)
    expected, log_z = brute_force(factors)
    assert found.log_z == pytest.approx(log_z)
    assert found.moments.single == pytest.approx(expected.single, abs=1e-12)
    for scope in factors.scopes:
        for pair in combinations(scope, 2):
            assert found.moments.table(pair) == pytest.approx(expected.table(pair), abs=1e-12)
    _assert_close(found, expected, at_most=4.5)


def test_a_plan_that_just_fits_is_enough_for_rows_too(rng: np.random.Generator) -> None:
    """Rows are drawn from cliques that are not merged, which have more cells."""
    factors, _, _ = phantom_mode(rng)
    n_cells = JunctionTree().plan(factors).n_cells
    assert JunctionTree(merge=False).plan(factors).n_cells > n_cells
    plan = JunctionTree(max_cells=n_cells).plan(factors)
    assert by_tree(plan, factors, factors.shape, n_rows=64, seed=0, jobs=1).n_rows == 64


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_chains_are_right_within_their_errors(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    factors = random_factors(shape, rng)
    rows = rows_from(factors, 300, rng)
    expected, log_z = brute_force(factors)
    typical = Typical.of(Moments.of_rows(rows).sums)
    beyond = []
    for seed in range(5):
        found = by_chains(factors, rows, typical, n_chains=128, max_temperatures=500, seed=seed, jobs=1)
        assert found.is_known
        assert abs(found.log_z - log_z) < 4.5 * found.error + 1e-9
        beyond.append(_assert_close(found, expected, at_most=5.5))
    assert 0.2 < np.sqrt(np.mean(np.square(beyond))) < 1.6  # neither too small nor too large


def _assert_equal(found: Moments, expected: Moments) -> None:
    assert found.single == pytest.approx(expected.single, abs=1e-12)
    assert found.sums == pytest.approx(expected.sums, abs=1e-12)
    apart = found.states.variable_of_indicators
    pairs = apart[:, None] != apart[None, :]
    assert found.pair[pairs] == pytest.approx(expected.pair[pairs], abs=1e-12)


def _assert_close(found: Portrait, expected: Moments, *, at_most: float) -> float:
    """Pairs within so many standard errors; the root mean square of how many."""
    moments = found.moments
    apart = moments.states.variable_of_indicators
    pairs = (apart[:, None] < apart[None, :]) & (moments.pair_error > 0)
    if not pairs.any():
        pairs = np.eye(len(apart), dtype=bool) & (moments.pair_error > 0)
    if not pairs.any():
        return 1.0
    z = (moments.pair - expected.pair)[pairs] / moments.pair_error[pairs]
    assert abs(z).max() < at_most
    return float(np.sqrt(np.mean(z**2)))


def test_errors_come_from_how_groups_differ(rng: np.random.Generator) -> None:
    """Groups of one shared state: the error is that of the number of groups, not of rows."""
    states = States((2, 3))
    one = np.stack([rng.integers(0, 2, 4000), rng.integers(0, 3, 4000)], axis=1)
    codes = np.repeat(one[:, None, :], 5, axis=1)
    found = Drawn(states, codes, np.full(4000, 1 / 4000)).moments()
    assert found.single_error[1] == pytest.approx(np.sqrt(0.25 / 4000), rel=0.02)
    assert found.pair_error[0, 1] == pytest.approx(np.sqrt(1 / 6 * 5 / 6 / 4000), rel=0.05)
    assert found.pair[0, 1] == pytest.approx(np.mean((one[:, 0] == 1) & (one[:, 1] == 1)))
