"""Structures grown by likelihood find the pairs that rows were drawn from."""

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
from mrfit.structures.structure import Structure
from populations import domain_of, random_rows

RING = [(i, (i + 1) % 10) for i in range(10)] + [(0, 5), (2, 7)]


@cache
def _rows(seed: int, *, n_states: int = 2) -> UniqueRows:
    """Drawn from a ring with two chords: no tree says what it says."""
    rng = np.random.default_rng(seed)
    agree = np.where(np.eye(n_states) > 0, 0.9, 0.0)
    shape = (n_states,) * 10
    factors = Factors.from_tables(shape, [(pair, agree) for pair in RING])
    engine = JunctionTree()
    codes = engine.draw(engine.plan(factors), factors, 4000, rng=rng)
    return UniqueRows.from_codes(domain_of(shape), codes.astype(np.uint8), np.ones(len(codes)))


@pytest.mark.parametrize("n_states", [2, 3])
def test_the_pairs_behind_the_rows_are_found(n_states: int) -> None:
    rows, valid = _rows(0, n_states=n_states), _rows(1, n_states=n_states)
    found = LikelihoodGrowth().learn(rows, valid=valid)
    edges = {tuple(edge) for edge in found.structure.edges.tolist()}
    assert {tuple(sorted(edge)) for edge in RING} <= edges
    assert len(edges) < 30  # of 45
    assert "Grown from a tree of 9 pairs" in found.remarks[0]


def test_without_validation_rows_a_part_is_held_out_and_seeds_repeat() -> None:
    first, again = (LikelihoodGrowth(seed=3).learn(_rows(0)).structure for _ in range(2))
    assert np.array_equal(first.edges, again.edges)
    assert {(0, 5), (2, 7)} <= {tuple(edge) for edge in first.edges.tolist()}


def test_independent_columns_keep_their_tree(rng: np.random.Generator) -> None:
    found = LikelihoodGrowth().learn(random_rows(rng, (2,) * 6, 2000), valid=random_rows(rng, (2,) * 6, 2000))
    assert len(found.structure.edges) <= 7


def test_the_bound_on_pairs_holds() -> None:
    assert len(LikelihoodGrowth(max_pairs=11).learn(_rows(0), valid=_rows(1)).structure.edges) <= 11


def test_two_variables_are_a_pair(rng: np.random.Generator) -> None:
    assert (
        LikelihoodGrowth().learn(random_rows(rng, (2, 2), 50)).structure.blocks.keys()
        == Structure.complete(2).blocks.keys()
    )


def test_a_grown_learner_survives_json() -> None:
    learner = Learner(LikelihoodGrowth(max_pairs=20, strength=1.0, seed=4))
    assert Learner.from_json(learner.to_json()) == learner


@pytest.mark.parametrize("wrong", [{"max_pairs": 0}, {"share": 0.0}, {"patience": 0}, {"seed": -1}, {"strength": -1.0}])
def test_bad_settings(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="grow"):
        LikelihoodGrowth(**wrong)  # type: ignore[arg-type]
