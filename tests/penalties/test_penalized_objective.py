"""The sum of an objective and a penalty."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.cluster_penalty import ClusterPenalty
from mrfit.penalties.l2 import Ridge
from mrfit.penalties.penalized_objective import PenalizedObjective
from populations import SHAPES, STRUCTURES, penalized, pseudo_likelihood, random_rows, tree_likelihood


def test_penalty_stands_against_the_sum_over_rows(rng: np.random.Generator) -> None:
    """Penalized is the mean objective plus the penalty over the total weight."""
    rows = random_rows(rng, SHAPES["mixed"], 40, fractional=True)
    parameters = Canonical(rows.domain, STRUCTURES["complete"](len(rows.domain)))
    w = rng.standard_normal(parameters.n_parameters)
    with_penalty = penalized(rows, parameters, strength=3.0).value_and_gradient(w)[0]
    without = pseudo_likelihood(rows, parameters).value_and_gradient(w)[0]
    assert with_penalty - without == pytest.approx(1.5 * (w @ w) / rows.sample_weight.sum(), rel=1e-12)


@pytest.mark.parametrize("strength", [0.1, 50.0])
def test_a_tied_sum_is_divided_by_exactly_where_the_objective_is_diagonal(
    strength: float, rng: np.random.Generator
) -> None:
    """Variables of two states without neighbours: what groups do together is in the preconditioner."""
    rows = random_rows(rng, (2,) * 6, 40, fractional=True)
    objective = pseudo_likelihood(rows, Canonical(rows.domain, STRUCTURES["independent"](6)))
    penalty = ClusterPenalty(strength, np.array([0, 0, 0, 1, 1, -1]))
    expansion = PenalizedObjective(objective, penalty, total_weight=rows.total_weight).expand(rng.standard_normal(6))
    v = rng.standard_normal(6)
    np.testing.assert_allclose(expansion.preconditioned(expansion.product(v)), v, rtol=1e-9)


def test_a_rough_hessian_has_the_penalty_in_it_too(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 2, 2), 40)
    objective = tree_likelihood(rows, Canonical(rows.domain, STRUCTURES["complete"](3)))
    with_penalty = PenalizedObjective(objective, Ridge(3.0), total_weight=rows.total_weight).rough_hessian()
    np.testing.assert_allclose(
        with_penalty, objective.rough_hessian() + 3.0 / rows.total_weight * np.eye(objective.n_parameters)
    )
