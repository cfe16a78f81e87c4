"""The price of a neighbour: fixed, or chosen on held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.learning.penalty_specs import L2
from mrfit.structures.joint.held_out_loss import HeldOutLoss
from mrfit.structures.simple import FixedStructure, Learned
from populations import domain_of, random_rows
from reference.nodewise import drawn_rows, pairwise_probabilities

STATES = (2,) * 8
DENSE = [(a, b) for b in range(8) for a in range(b)]


def _drawn(edges: list[tuple[int, int]], size: float, n_rows: int, seed: int = 0) -> UniqueRows:
    probabilities = pairwise_probabilities(STATES, edges, size)
    return drawn_rows(np.random.default_rng(seed), STATES, probabilities, n_rows)


def _n_edges(rows: UniqueRows, valid: UniqueRows | None = None, **settings: Any) -> int:
    return len(Learned(max_degree=7, **settings).learn(rows, valid=valid).structure.edges)


def test_fewer_enter_at_a_higher_price() -> None:
    rows = _drawn(DENSE, 0.1, 800)
    found = [_n_edges(rows, price=price) for price in (0.0, 3.84, 12.0, 1e6)]
    assert found[0] == len(DENSE)
    assert found == sorted(found, reverse=True)
    assert len(set(found)) > 2
    assert found[-1] == 0
    assert _n_edges(rows) == found[1]


def test_held_out_rows_want_noise_out_and_weak_couplings_in() -> None:
    noise, weak = ([_drawn(edges, 0.12, 1500, seed) for seed in (0, 1)] for edges in ([], DENSE))
    assert _n_edges(*noise, price="valid") == 0
    assert _n_edges(weak[0], price=12.0) < _n_edges(*weak, price="valid")


@pytest.mark.parametrize("rule", ["or", "and"])
def test_a_chosen_price_is_the_usual_one_or_better(rule: str) -> None:
    """The judge's own fits are those of the library, but for states penalised from the most frequent one."""
    rows, valid = (_drawn(DENSE[::3], 0.25, 300, seed) for seed in (0, 1))

    def loss(price: float | str) -> float:
        structure = Learned(max_degree=7, rule=rule, price=price).learn(rows, valid=valid).structure
        fitted = Learner(FixedStructure(structure), L2((0.01, 0.1, 1.0, 10.0))).fit(rows, valid)
        judged = HeldOutLoss.of(rows, valid).loss_of_edges(structure.edges)
        assert judged == pytest.approx(-fitted.best.rank, abs=0.02)
        return judged

    cheap, usual, dear, dearest = (loss(price) for price in (0.0, 3.84, 12.0, 20.0))
    assert loss("valid") == (min(usual, cheap) if dear >= usual else min(dear, dearest))


def test_it_says_what_was_chosen_and_keeps_to_wishes() -> None:
    rows, valid = (_drawn(DENSE[::3], 0.5, 400, seed) for seed in (0, 1))
    learner = Learned(max_degree=3, price="valid", require=[("x0", "x7")], forbid=[("x0", "x1")])
    finished: list[int] = []
    learned = learner.learn(rows, valid=valid, callback=finished.append)
    edges = set(map(tuple, learned.structure.edges.tolist()))
    assert (0, 7) in edges
    assert (0, 1) not in edges
    assert "chosen on held-out rows" in learned.remarks[-1]
    assert sum(finished) == len(STATES)
    assert learner.learn(rows, valid=valid, jobs=2).structure == learned.structure


def test_any_table_can_be_priced(rng: np.random.Generator) -> None:
    for shape in ((2, 3, 4), (2, 2), (2,), (3, 1, 2)):
        rows = random_rows(rng, shape, 30)
        structure = Learned(max_degree=2, price="valid").learn(rows, valid=rows).structure
        assert structure.n_variables == len(shape)
    constant = UniqueRows.from_codes(domain_of((2, 2)), np.zeros((5, 2), np.uint8), np.ones(5))
    assert not len(Learned(price="valid").learn(constant, valid=constant).structure.edges)


@pytest.mark.parametrize("price", [-1.0, np.nan, np.inf, "cheap", None])
def test_prices_that_are_none(price: Any) -> None:
    with pytest.raises(InputError, match=r"threshold \(price\) of a neighbour is a number"):
        Learned(price=price)


def test_where_a_price_has_no_effect_or_nobody_can_choose_it() -> None:
    with pytest.raises(InputError, match="it needs bound='gain'"):
        Learned(bound="top", price=2.0)
    with pytest.raises(InputError, match=r"price=2\.0 has no effect with select='ebic'"):
        Learned(select="ebic", price=2.0)
    with pytest.raises(InputError, match="needs them; give validation rows"):
        Learned(price="valid").learn(_drawn([], 0.0, 50))
