"""An objective that remembers its last expansion: what it answers elsewhere, and what it counts."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.objectives.cached import CachedObjective
from mrfit.objectives.objective import Objective
from mrfit.parameterizations.canonical import Canonical
from populations import SHAPES, STRUCTURES, pseudo_likelihood, random_rows


@pytest.fixture
def objective(rng: np.random.Generator) -> Objective:
    rows = random_rows(rng, SHAPES["mixed"], 40)
    return pseudo_likelihood(rows, Canonical(rows.domain, STRUCTURES["complete"](len(rows.domain))))


def test_what_is_remembered_is_of_one_point_alone(objective: Objective, rng: np.random.Generator) -> None:
    """Also where other points begin like it, or it is written to."""
    cached, w = CachedObjective(objective), rng.standard_normal(objective.n_parameters)
    beside = w.copy()
    beside[-1] += 1.0
    cached.expand(w)
    for other in (beside, np.zeros_like(w)):
        value, gradient = cached.value_and_gradient(other)
        assert value == objective.value_and_gradient(other)[0]
        np.testing.assert_array_equal(gradient, objective.value_and_gradient(other)[1])
    assert cached.expand(beside).value == objective.expand(beside).value
    beside[-1] += 1.0
    assert cached.expand(beside).value == objective.expand(beside).value


def test_long_points_are_compared_to_their_end(objective: Objective) -> None:
    class Long(Objective):
        """A sum of squares."""

        n_parameters, n_cells = 3000, 1

        def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
            return float(w @ w), 2.0 * w

        def expand(self, w: np.ndarray):  # type: ignore[no-untyped-def]
            return objective.expand(np.full(objective.n_parameters, w.sum()))

    cached, w = CachedObjective(Long()), np.zeros(3000)
    first = cached.expand(w)
    w = w.copy()
    w[-1] = 1.0
    assert cached.expand(w).value != first.value


def test_passes_are_those_that_were_done(objective: Objective, rng: np.random.Generator) -> None:
    cached, w = CachedObjective(objective), rng.standard_normal(objective.n_parameters)
    for _ in range(2):  # the second time for nothing
        expansion = cached.expand(w)
        cached.value_and_gradient(w)
    assert cached.passes == 1
    expansion.product(w)
    assert cached.passes == 2
    cached.value_and_gradient(w + 1.0)
    assert cached.passes == 3
    explicit = expansion.explicit
    assert explicit is not None
    assert explicit.previous() is None
    assert explicit.spent() == 3
    worked_out = explicit.hessian()
    assert cached.passes == 3 + round(explicit.products) > 3
    assert explicit.spent() == 0
    previous = cached.expand(w + 1.0).explicit.previous()  # type: ignore[union-attr]
    assert previous is not None
    assert previous() is worked_out
    assert explicit.spent() == 1
    cached.forget()
    assert cached.passes == 0
