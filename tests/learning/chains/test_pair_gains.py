"""Gains of pairs, against divergences computed one by one."""

from __future__ import annotations

import numpy as np

from mrfit.learning.chains.pair_gains import PairGains
from mrfit.structures.pair_tables import PairTables
from populations import random_rows


def test_gains_are_divergences(rng: np.random.Generator) -> None:
    shape = (2, 3, 2)
    data, model = (PairTables.of_rows(random_rows(rng, shape, 400)) for _ in range(2))
    gains = PairGains(data, model).gains(1000.0, 3000.0)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        p = data.pair(i, j)
        q = model.pair(i, j) - np.outer(model.single(i), model.single(j)) + np.outer(data.single(i), data.single(j))
        assert np.isclose(gains[i, j], 750.0 * (p * np.log(p / q)).sum())
        assert np.isclose(gains[i, j], gains[j, i])


def test_nothing_is_gained_where_the_model_is_the_data(rng: np.random.Generator) -> None:
    data = PairTables.of_rows(random_rows(rng, (2, 2, 4), 300))
    gains = PairGains(data, data).gains(300.0, 300.0)
    assert np.abs(gains[np.triu_indices(3, 1)]).max() < 1e-9
    assert np.abs(PairGains(data, data).log_ratios(np.array([[0, 2], [1, 2]]))).max() < 1e-9


def test_ratios_of_many_pairs_are_those_of_each(rng: np.random.Generator) -> None:
    data, model = (PairTables.of_rows(random_rows(rng, (3, 2, 3, 2), 400)) for _ in range(2))
    ends = np.array([[0, 1], [0, 3], [2, 3]])
    ratios = PairGains(data, model).log_ratios(ends)
    for (i, j), ratio in zip(ends.tolist(), ratios, strict=True):
        p = data.pair(i, j)
        q = model.pair(i, j) - np.outer(model.single(i), model.single(j)) + np.outer(data.single(i), data.single(j))
        np.testing.assert_allclose(ratio, np.log((p + 5e-5 / 6) / (q + 5e-5 / 6)), atol=1e-12)
