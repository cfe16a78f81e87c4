"""Rows with the same variables observed, run together, are what each row is by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrfit.core.factors import Factors
from mrfit.inference.exact.row_runs import RowRuns
from populations import SCOPES, factors, random_factors
from reference import factors as reference


def _codes(rng: np.random.Generator, product: Factors, n_rows: int) -> np.ndarray:
    return rng.integers(0, product.shape, (n_rows, len(product.shape)))


def _check(product: Factors, observed: list[int], codes: np.ndarray) -> None:
    free = [i for i in range(len(product.shape)) if i not in observed]
    runs = RowRuns(product, observed, free)
    found, best = runs.answers(codes), runs.best(codes)
    for row, states in enumerate(codes):
        known = product.given({i: int(states[i]) for i in observed})
        log_z, p = reference.probabilities(known)
        if log_z == -np.inf:
            assert found.log_z[row] == -np.inf
            continue
        assert found.log_z[row] == pytest.approx(log_z, rel=1e-12, abs=1e-12)
        for i in free:
            np.testing.assert_allclose(found.marginals[i][row], reference.marginal(known, p, (i,)), rtol=1e-10, atol=0)
        np.testing.assert_array_equal(best[row, observed], states[observed])
        largest = np.log(max(p.values())) + log_z
        assert product.log_potential(best[row : row + 1])[0] == pytest.approx(largest, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("zeros", [0.0, 0.3], ids=["finite", "zeros"])
@pytest.mark.parametrize("name", SCOPES)
def test_rows_together_equal_rows_alone(name: str, zeros: float, rng: np.random.Generator) -> None:
    """log Z, marginals and best states, for every second variable observed, none, and all."""
    product = random_factors(rng, *SCOPES[name], zeros=zeros)
    everything = list(range(len(product.shape)))
    for observed in (everything[::2], [], everything):
        _check(product, observed, _codes(rng, product, 7))


@settings(max_examples=50, deadline=None)
@given(factors(), st.integers(0, 2**32 - 1))
def test_rows_together_equal_rows_alone_on_any_factors(product: Factors, seed: int) -> None:
    rng = np.random.default_rng(seed)
    observed = np.flatnonzero(rng.random(len(product.shape)) < 0.5).tolist()
    _check(product, observed, _codes(rng, product, 3))


def test_rows_that_differ_by_thousands_of_nats(rng: np.random.Generator) -> None:
    """Each is scaled by itself, and what no scale saves is run in logarithms."""
    product = random_factors(rng, (3, 2, 2, 3), [(0, 1), (1, 2), (2, 3), (0, 3)])
    product = product.with_values(product.values * 1000.0)
    _check(product, [0], np.array([[0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]] * 5))


def test_many_rows_are_cut_into_runs(rng: np.random.Generator) -> None:
    """More than one run takes, the last one incomplete."""
    product = random_factors(rng, (2, 2, 2), [(0, 1), (1, 2)])
    codes = _codes(rng, product, 1100)
    runs = RowRuns(product, [0], [2])
    found, one = runs.answers(codes), RowRuns(product, [0], [2]).answers(codes[:1])
    same = codes[:, 0] == codes[0, 0]
    np.testing.assert_array_equal(found.log_z[same], found.log_z[same][0])
    assert found.log_z[0] == pytest.approx(one.log_z[0], rel=1e-14)
    assert found.marginals[2].shape == (1100, 2)


def test_draws_follow_the_conditional_distribution(rng: np.random.Generator) -> None:
    """Chi-square over all states of what is not observed, in rows of two kinds side by side."""
    product = random_factors(rng, (2, 3, 2, 2), [(0, 1), (1, 2), (2, 3), (3, 0)])
    codes = np.zeros((40_000, 4), np.int64)
    codes[::2, 0] = 1
    drawn = RowRuns(product, [0]).draws(codes, rng=rng)
    np.testing.assert_array_equal(drawn[:, 0], codes[:, 0])
    for state in (0, 1):
        _, p = reference.probabilities(product.given({0: state}))
        rows = drawn[drawn[:, 0] == state]
        count = np.bincount(np.ravel_multi_index(rows[:, 1:].T, (3, 2, 2)), minlength=12)
        expected = np.array([*p.values()]) * len(rows)
        assert ((count - expected) ** 2 / expected).sum() < 35.0  # 11 degrees of freedom: 2e-4


def test_the_number_of_threads_changes_nothing(rng: np.random.Generator) -> None:
    product = random_factors(rng, *SCOPES["mixed cardinalities"])
    codes = _codes(rng, product, 1600)
    runs = RowRuns(product, [1], [0, 3])
    one, two = runs.answers(codes), runs.answers(codes, jobs=2)
    np.testing.assert_array_equal(one.log_z, two.log_z)
    np.testing.assert_array_equal(one.marginals[3], two.marginals[3])
    np.testing.assert_array_equal(runs.best(codes), runs.best(codes, jobs=2))
    drawn = [runs.draws(codes, rng=np.random.default_rng(5), jobs=jobs) for jobs in (1, 2)]
    np.testing.assert_array_equal(*drawn)
    assert not np.array_equal(drawn[0][:512], drawn[0][512:1024])


def test_a_variable_of_one_state_is_filled_in(rng: np.random.Generator) -> None:
    """Whatever stands in its cells, which no table of the tree has."""
    product = random_factors(rng, (2, 1, 3), [(0, 1), (0, 2)])
    codes = np.array([[0, 255, 255], [1, 255, 255]])
    runs = RowRuns(product, [0])
    for filled in (runs.best(codes), runs.draws(codes, rng=rng)):
        np.testing.assert_array_equal(filled[:, :2], [[0, 0], [1, 0]])
        assert (filled[:, 2] < 3).all()
