"""Variables of models that are learned again."""

from __future__ import annotations

import numpy as np
import pytest

import mrfit
from mrfit import L2, Learned, Learner, UniqueRows
from mrfit.core.errors import InputError
from populations import domain_of


def _rows(rng: np.random.Generator) -> UniqueRows:
    """Two triples of variables that agree among themselves."""
    causes = np.repeat(rng.integers(0, 2, (400, 2)), 3, axis=1)
    codes = np.where(rng.random((400, 6)) < 0.8, causes, 1 - causes).astype(np.uint8)
    return UniqueRows.from_codes(domain_of((2,) * 6), codes, np.ones(400))


def test_communities_that_stay(rng: np.random.Generator) -> None:
    rows = _rows(rng)
    model = Learner(Learned(select="ebic", rule="and"), L2(0.1)).fit(rows).model
    found = mrfit.node_stability(model, rows, resamples=10)
    assert found.nodes.community.tolist() == [0, 0, 0, 1, 1, 1]
    assert (found.of_members > 0.9).all()
    assert found.of_communities == pytest.approx([found.of_members[:3].max(), found.of_members[3:].max()], abs=0.1)
    assert found.n_communities.mean() == pytest.approx(2.0, abs=0.3)
    assert found.is_of_these_rows
    low, high = found.ranges["strength"]
    strength = found.nodes.measures["strength"]
    assert (low < strength).all()
    assert (strength < high).all()


def test_nested_rows_are_drawn_together(rng: np.random.Generator) -> None:
    """Nine copies of each row say no more than it: drawn together they leave wide ranges, one by one narrow ones."""
    table = dict(zip("abc", (rng.random((60, 3)) < 0.5).astype(int).T.repeat(9, axis=1), strict=True))
    model = Learner(penalty=L2(1.0)).fit(table).model
    together, alone = (
        mrfit.node_stability(model, table, resamples=30, clusters=clusters)
        for clusters in (np.repeat(np.arange(60), 9), None)
    )
    wide, narrow = (np.subtract(*found.ranges["expected_influence"][::-1]) for found in (together, alone))
    assert np.median(wide / narrow) == pytest.approx(3.0, abs=1.0)
    assert together.is_of_these_rows


def test_the_same_for_any_number_of_threads(rng: np.random.Generator) -> None:
    rows = _rows(rng)
    model = Learner(penalty=L2(1.0)).fit(rows).model
    one, two = (mrfit.node_stability(model, rows, resamples=4, jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.networks.weights, two.networks.weights)


def test_what_validation_rows_chose_stays_chosen(rng: np.random.Generator) -> None:
    rows = _rows(rng)
    model = Learner(penalty=L2((0.1, 30.0))).fit(rows, _rows(rng)).model
    found = mrfit.node_stability(model, rows, resamples=2)
    assert found.is_of_these_rows


def test_other_rows_are_noticed(rng: np.random.Generator) -> None:
    model = Learner(penalty=L2(1.0)).fit(_rows(rng)).model
    assert not mrfit.node_stability(model, _rows(rng), resamples=2).is_of_these_rows


def test_a_model_that_does_not_say_how_it_was_learned(rng: np.random.Generator) -> None:
    model = Learner(penalty=L2(1.0)).fit(_rows(rng)).model
    unknown = mrfit.MarkovNetwork(model.parameters, model.w)
    with pytest.raises(InputError, match="does not say how it was learned"):
        mrfit.node_stability(unknown, _rows(rng), resamples=2)
    with pytest.raises(InputError, match="at least 2 bootstrap samples"):
        mrfit.node_stability(model, _rows(rng), resamples=1)
