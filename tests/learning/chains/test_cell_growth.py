"""Structures grown within a limit of cells."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.learning import Learner
from mrfit.learning.chains.likelihood_growth import LikelihoodGrowth
from mrfit.learning.objective_specs import LIKELIHOOD
from mrfit.learning.penalty_specs import L2
from mrfit.structures.simple import ChowLiuTree, FixedStructure
from mrfit.structures.structure import Structure
from populations import domain_of, random_rows, rows_from

RING = [(i, (i + 1) % 10) for i in range(10)] + [(0, 5), (2, 7)]


@cache
def _ring(seed: int, *, n_states: int = 2, one_state: bool = False) -> UniqueRows:
    """Drawn from a ring with two chords; if asked, a last variable says nothing."""
    agree = np.where(np.eye(n_states) > 0, 0.9, 0.0)
    shape = (n_states,) * 10 + (1,) * one_state
    factors = Factors.from_tables(shape, [(pair, agree) for pair in RING])
    return rows_from(factors, 4000, np.random.default_rng(seed))


def _nearly_determined(seed: int, n: int = 3000) -> UniqueRows:
    """Copies of four hidden bits, each wrong once in a hundred times, and conjunctions of them."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (n, 4))
    columns = [bits[:, k % 4] for k in range(12)] + [bits[:, k] & bits[:, (k + 1) % 4] for k in range(4)]
    codes = np.stack(columns, axis=1) ^ (rng.random((n, 16)) < 0.01)
    return UniqueRows.from_codes(domain_of((2,) * 16), codes.astype(np.uint8), np.ones(n))


def _n_cells(structure: Structure, shape: tuple[int, ...]) -> int:
    return JunctionTree().plan_scopes(shape, tuple(structure.scopes)).n_cells


@pytest.mark.parametrize("n_states", [2, 3])
def test_the_pairs_behind_the_rows_are_found(n_states: int) -> None:
    rows, valid = _ring(0, n_states=n_states), _ring(1, n_states=n_states)
    found = LikelihoodGrowth(cells=1e5).learn(rows, valid=valid)
    assert {tuple(sorted(edge)) for edge in RING} <= {tuple(edge) for edge in found.structure.edges.tolist()}
    assert len(found.structure.edges) < 25  # of 45
    assert "Grown from a tree of 9 pairs" in found.remarks[0]


@pytest.mark.parametrize("cells", [40, 100, 300, 2000])
def test_the_limit_of_cells_holds(cells: int) -> None:
    rows, valid = _ring(0), _ring(1)
    structure = LikelihoodGrowth(cells=cells).learn(rows, valid=valid).structure
    assert _n_cells(structure, rows.domain.shape) <= cells
    assert structure.is_closed


def test_the_bound_on_pairs_holds() -> None:
    assert len(LikelihoodGrowth(cells=1e4, max_pairs=11).learn(_ring(0), valid=_ring(1)).structure.edges) == 11


def test_more_cells_learn_more() -> None:
    rows, valid = _nearly_determined(0), _nearly_determined(1)
    ways = (
        ChowLiuTree(),
        LikelihoodGrowth(cells=200, order=2),
        LikelihoodGrowth(cells=1e4, order=2),
        LikelihoodGrowth(cells=1e4),
    )
    scores = [Learner(way, L2(1.0, toward="tree"), LIKELIHOOD).fit(rows, valid).best.rank for way in ways]
    assert scores[1] > scores[0] + 0.1
    assert scores[2] > scores[1]
    assert scores[3] >= scores[2] - 1e-3


def test_larger_sets_enter_inside_cliques() -> None:
    """Three of five agree in pairs, and in their parity too."""
    parity = 0.5 * (-1.0) ** np.indices((2, 2, 2)).sum(axis=0)
    agree = [((i, i + 1), 0.8 * np.eye(2)) for i in range(4)] + [((0, 2), 0.8 * np.eye(2))]
    factors = Factors.from_tables((2,) * 5, [*agree, ((0, 1, 2), parity)])
    rows, valid = (rows_from(factors, 5000, np.random.default_rng(seed)) for seed in (0, 1))
    pairs, more = (LikelihoodGrowth(cells=1e3, order=order).learn(rows, valid=valid).structure for order in (2, 4))
    assert pairs.order == 2
    assert (0, 1, 2) in set(more.scopes)
    assert more.is_closed
    fits = [Learner(FixedStructure(way), L2(0.1), LIKELIHOOD).fit(rows, valid).best for way in (pairs, more)]
    assert fits[1].rank > fits[0].rank + 0.02


def test_without_validation_rows_a_part_is_held_out_and_seeds_repeat() -> None:
    first, again = (LikelihoodGrowth(cells=1e4, seed=3).learn(_ring(0), jobs=jobs).structure for jobs in (1, 2))
    assert first == again


def test_a_variable_with_one_state_takes_no_part() -> None:
    rows, valid = (_ring(seed, one_state=True) for seed in (0, 1))
    structure = LikelihoodGrowth(cells=1e4).learn(rows, valid=valid).structure
    assert structure.degrees[:10].min() >= 2
    assert structure.degrees[10] <= 1  # as in the tree


def test_independent_columns_keep_about_their_tree(rng: np.random.Generator) -> None:
    found = LikelihoodGrowth(cells=1e4).learn(random_rows(rng, (2,) * 6, 2000), valid=random_rows(rng, (2,) * 6, 2000))
    assert len(found.structure.edges) <= 8


def test_a_tree_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match=r"cliques of 38 cells; the limit is 20. Allow more cells"):
        LikelihoodGrowth(cells=20).learn(_ring(0))


@pytest.mark.parametrize("wrong", [{"cells": 0}, {"cells": np.nan}, {"cells": np.inf}, {"cells": 10, "order": 1}])
def test_bad_settings(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="grows"):
        LikelihoodGrowth(**wrong)  # type: ignore[arg-type]


def test_it_survives_json() -> None:
    learner = Learner(LikelihoodGrowth(cells=1e5, order=3), L2((1.0, 0.3), toward="tree"), LIKELIHOOD)
    assert Learner.from_json(learner.to_json()) == learner
    assert "within 100000 cells" in learner.describe()
    assert "towards the tree" in learner.describe()
