"""Differences over shared splits and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mrfit_papers.paired import Paired


def test_the_t_interval_is_that_of_scipy(rng: np.random.Generator) -> None:
    ours, others = rng.normal(1.0, 0.3, 10), rng.normal(1.0, 0.3, 10)
    paired = Paired.of(list(ours), list(others))
    low, high = stats.ttest_rel(ours, others).confidence_interval(0.95)
    assert paired.mean == pytest.approx((ours - others).mean())
    assert (paired.mean - paired.half, paired.mean + paired.half) == pytest.approx((low, high))
    assert paired.n_worse == np.count_nonzero(ours > others)


def test_the_correction_of_nadeau_and_bengio() -> None:
    """The variance of a mean of n splits is (1/n + test/train) times that of one, instead of 1/n."""
    paired = Paired.of([1.0, 2.0, 4.0, 3.0], [1.0, 1.0, 1.0, 1.0], test_share=0.5)
    assert paired.corrected == pytest.approx(paired.half * np.sqrt((1 / 4 + 0.5) / (1 / 4)))
    assert Paired.of([1.0, 2.0], [1.0, 1.0], test_share=0.0).corrected == pytest.approx(
        Paired.of([1.0, 2.0], [1.0, 1.0]).half
    )


def test_clear_is_by_the_longer_interval() -> None:
    same = [1.0] * 5
    assert Paired.of([1.101, 1.102, 1.099, 1.1, 1.1], same).is_clear
    noisy = Paired.of([1.05, 1.15, 1.1, 1.12, 1.08], same)
    assert noisy.half < noisy.mean < noisy.corrected
    assert not noisy.is_clear


def test_one_split_says_nothing() -> None:
    one = Paired.of([2.0], [1.0])
    assert (one.mean, one.half, one.corrected) == (1.0, np.inf, np.inf)
    assert not one.is_clear
