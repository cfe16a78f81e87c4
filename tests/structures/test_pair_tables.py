"""Tables of all pairs against counting."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.structures.pair_tables import PairTables
from populations import SHAPES, random_rows


def _counted(rows, i, j):
    table = np.zeros((rows.domain.shape[i], rows.domain.shape[j]))
    np.add.at(table, (rows.codes[:, i], rows.codes[:, j]), rows.sample_weight)
    return table / rows.total_weight


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_tables_are_counts(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    rows = random_rows(rng, shape, 50)
    tables = PairTables.of_rows(rows)
    for i in range(len(shape)):
        assert np.allclose(tables.single(i), _counted(rows, i, i).sum(axis=1), rtol=0, atol=1e-14)
        for j in range(len(shape)):
            if i != j:
                assert np.allclose(tables.pair(i, j), _counted(rows, i, j), rtol=0, atol=1e-14)
    whole = np.vstack([block for _, _, block in tables.blocks()])
    assert np.allclose(whole, tables.block(0, len(shape)), rtol=0, atol=1e-14)
    sums = np.vstack([tables.summed(block, first, last) for first, last, block in tables.blocks()])
    assert np.allclose(sums, 1.0)


def test_smoothing_adds_even_rows(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 3, 4), 40)
    plain, smoothed = PairTables.of_rows(rows), PairTables.of_rows(rows).smoothed(0.25)
    assert np.allclose(smoothed.pair(1, 2), (plain.pair(1, 2) + 0.25 / 12) / 1.25)
    assert np.allclose(smoothed.single(0), (plain.single(0) + 0.25 / 2) / 1.25)
