"""Thresholds of pairs with several parameters: moments over permutations, and what they come to with many rows."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2

from mrfit.structures.nodewise.null_scores import NullScores, surcharge_of_one

PRICE = 3.84


def _weights(*counts: float) -> np.ndarray:
    return np.array(counts, float)


@pytest.mark.parametrize(
    ("first", "second"), [((4, 2, 1), (3, 3, 1)), ((3, 2, 2), (5, 1, 1)), ((5, 2), (2, 2, 3)), ((1, 1, 5), (1, 1, 5))]
)
def test_moments_are_those_of_all_permutations(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    x, y = np.repeat(np.arange(len(first)), first), np.repeat(np.arange(len(second)), second)
    expected = np.outer(first, second) / len(x)
    scores = []
    for order in permutations(range(len(y))):
        observed = np.zeros_like(expected)
        np.add.at(observed, (x, y[list(order)]), 1.0)
        scores.append(((observed - expected) ** 2 / expected).sum())
    null = NullScores.of([_weights(*first), _weights(*second)])
    assert null.mean[0, 1] == pytest.approx(np.mean(scores))
    assert null.variance[0, 1] == pytest.approx(max(np.var(scores), 2.0 * (len(first) - 1) * (len(second) - 1)))


def test_pairs_of_one_parameter_pay_the_price_alone() -> None:
    null = NullScores.of([_weights(3, 97), _weights(50, 50), _weights(10, 20, 70)])
    surcharge = null.surcharge(PRICE)
    assert not surcharge[:2, :2].any()
    assert (surcharge[2] > 0).all()
    np.testing.assert_array_equal(surcharge, surcharge.T)


@pytest.mark.parametrize("price", [0.5, PRICE, 12.0, 20.0])
def test_many_rows_pay_a_quantile_of_chi_square(price: float) -> None:
    """The tail is that of one parameter, or up to a fifth smaller: a pair is tested twice."""
    null = NullScores.of([np.full(5, 1e5), np.full(3, 1e5 * 5 / 3)])
    tail = chi2.sf(price, 1)
    for a, b, free in ((0, 0, 16), (0, 1, 8), (1, 1, 4)):
        threshold = price + null.surcharge(price)[a, b]
        assert chi2.isf(tail, free) - 1e-3 < threshold < chi2.isf(tail / 1.25, free) + 1e-3


def test_rare_states_raise_the_threshold() -> None:
    even, rare = (NullScores.of([each, each]).surcharge(PRICE)[0, 1] for each in (np.full(3, 30.0), _weights(88, 1, 1)))
    assert rare > 1.5 * even


def test_a_price_of_zero_lets_everything_in() -> None:
    null = NullScores.of([_weights(10, 20, 70), np.full(4, 25.0)])
    assert not null.surcharge(0.0).any()


@pytest.mark.parametrize("price", [500.0, 5000.0])
def test_prices_beyond_all_tails_stay_finite(price: float) -> None:
    surcharge = NullScores.of([_weights(98, 1, 1), np.full(4, 25.0)]).surcharge(price)
    assert np.isfinite(surcharge).all()
    assert (surcharge >= 0).all()


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_awkward_weights_have_thresholds(size: float) -> None:
    """One state, a value of its own in every row, and weights of any size."""
    weights = [size * _weights(1), size * np.ones(50), size * _weights(1, 1, 48), size * _weights(25, 25)]
    surcharge = NullScores.of(weights).surcharge(PRICE)
    assert np.isfinite(surcharge).all()
    assert not surcharge[0].any()
    assert (surcharge[1, 1:] > 0).all()


@pytest.mark.parametrize("price", [1.0, PRICE, 12.0])
def test_a_pair_of_one_parameter_pays_more_the_fewer_rows_there_are(price: float) -> None:
    """The two tests of a pair have the tail of the price if a quarter of one's findings are its own."""
    surcharges = [surcharge_of_one(price, n_rows) for n_rows in (20, 100, 300, 1000, 1500, 10_000)]
    assert surcharges[0] == surcharges[1]
    assert (np.diff(surcharges[1:5]) < 0).all()
    assert surcharges[4:] == [0.0, 0.0]
    tail = chi2.sf(price, 1)
    assert chi2.sf(price + surcharges[1], 1) * (1.0 + 0.25 * (1.0 - tail)) == pytest.approx(tail)


@pytest.mark.parametrize("n_rows", [1e-8, 100.0, 1e8])
def test_a_pair_of_one_parameter_pays_no_less_than_the_price(n_rows: float) -> None:
    assert surcharge_of_one(0.0, n_rows) == 0.0
    assert 0.0 <= surcharge_of_one(5000.0, n_rows) < np.inf
