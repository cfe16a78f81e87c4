"""Growing: what enters, what is exchanged, and what held-out rows choose."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.joint.grid_search import PRICES, RIDGES, Sweep
from mrfit.structures.joint.held_out_loss import HeldOutLoss
from mrfit.structures.joint.joint_growth import GrowthResult, JointGrowth, Setting
from mrfit.structures.joint.pair_model import PairModel
from mrfit.structures.joint.row_table import RowTable, StateOrder
from populations import domain_of
from reference.nodewise import drawn_rows, pairwise_probabilities

RING = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)]


def _ring(n_rows: int, states: int = 2, seed: int = 0) -> UniqueRows:
    shape = (states,) * 6
    return drawn_rows(np.random.default_rng(seed), shape, pairwise_probabilities(shape, RING, 0.5), n_rows)


def _growth(rows: UniqueRows, max_degree: int, *, required: tuple = (), forbidden: tuple = ()) -> JointGrowth:
    n = len(rows.domain)
    closed, needed = np.eye(n, dtype=bool), np.zeros((n, n), bool)
    for matrix, pairs in ((closed, forbidden), (needed, required)):
        for a, b in pairs:
            matrix[a, b] = matrix[b, a] = True
    return JointGrowth(PairModel(RowTable.of(rows, StateOrder.of(rows))), max_degree, closed, needed)


def _edges(grown: GrowthResult) -> set[tuple[int, int]]:
    return {(a, b) for a, b in grown.graph.edges.tolist()}


@pytest.mark.parametrize("states", [2, 3])
@pytest.mark.parametrize("max_degree", [1, 5])
def test_a_ring_is_found(states: int, max_degree: int) -> None:
    """Six edges among six variables: one owned by each is enough."""
    grown = _growth(_ring(5000, states), max_degree).whole(Setting(1.0, 20.0, 2), PRICES)
    assert _edges(grown) == set(RING)
    assert max_degree > 1 or grown.graph.n_owned.tolist() == [1] * 6


def test_a_price_keeps_noise_out_where_a_lower_one_lets_it_in() -> None:
    rng = np.random.default_rng(0)
    rows = UniqueRows.from_codes(domain_of((2,) * 12), rng.integers(0, 2, (500, 12)).astype(np.uint8), np.ones(500))
    dear, cheap = (len(_growth(rows, 11).whole(Setting(1.0, price), (price,)).graph) for price in (20.0, 1.0))
    assert dear == 0
    assert cheap > 5


def test_wishes_hold_through_exchanges() -> None:
    grown = _growth(_ring(800), 1, required=((0, 3), (0, 2), (2, 5)), forbidden=((0, 1),)).whole(
        Setting(1.0, 3.84, 6), PRICES
    )
    assert {(0, 3), (0, 2), (2, 5)} <= _edges(grown)
    assert (0, 1) not in _edges(grown)
    assert len(_edges(grown)) <= 6


def test_exchanges_lower_what_is_minimised() -> None:
    growth, setting = _growth(_ring(400), 2), Setting(1.0, 3.84, 6)
    first = growth.whole(Setting(1.0, 3.84), PRICES)
    assert growth.exchanged(first, setting).priced(setting) <= first.priced(setting)


def test_the_sweep_takes_the_best_of_what_it_tried() -> None:
    rows, held_out = _ring(150), _ring(150, seed=1)
    growth = _growth(rows, 5)
    sweep = Sweep(growth, HeldOutLoss.of(rows, held_out))
    best = sweep.best()
    assert best.loss <= min(chosen.loss for choices in sweep.tried.values() for chosen in choices)
    assert best.loss == sweep.judge.loss(best.grown.parameters)
    assert set(sweep.tried) <= set(RIDGES)
    assert best.setting.price in PRICES
    # With 150 rows a price of chi-square's 95% point is too low.
    assert best.setting.price > min(PRICES)
