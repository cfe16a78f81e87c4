"""Objectives in other coordinates: what is divided by, and how much work that saves."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from mrfit import Learner, Structure
from mrfit.core.diagonal_in_basis import NearlyDiagonal
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.penalty_specs import L2
from mrfit.learning.tying_specs import SoftTied
from mrfit.objectives.objective import Expansion, Objective
from mrfit.objectives.reparameterized import Reparameterized
from mrfit.parameterizations.spectral import Spectral
from mrfit.penalties.cluster_penalty import ClusterPenalty as TiedPenalty
from mrfit.penalties.penalized_objective import PenalizedObjective
from mrfit.structures.simple import FixedStructure
from populations import domain_of


class Bowl(Objective):
    """1/2 sum of curvature * w^2, whose Hessian is diagonal."""

    n_cells = 1

    def __init__(self, curvature: np.ndarray) -> None:
        self.curvature, self.n_parameters = curvature, len(curvature)

    def value_and_gradient(self, w):
        return 0.5 * float(self.curvature @ (w * w)), self.curvature * w

    def expand(self, w):
        value, gradient = self.value_and_gradient(w)
        apart = NearlyDiagonal(sparse.eye_array(len(w), format="csr"), self.curvature)
        return Expansion(
            value, gradient, lambda: self.curvature, lambda v: self.curvature * v, uncorrelated=lambda: apart
        )


def spectral_map(*shape: int, order: int = 2) -> sparse.csr_array:
    domain = domain_of(shape)
    scopes = [scope for size in range(1, order + 1) for scope in combinations(range(len(shape)), size)]
    return Spectral(domain, Structure.from_scopes(len(shape), scopes)).canonical_map


MAPS = {
    "pairs": spectral_map(2, 2, 2, 2),
    "triples": spectral_map(2, 2, 2, 2, order=3),
    "more states": spectral_map(2, 3, 4),
}


@pytest.mark.parametrize("matrix", MAPS.values(), ids=MAPS)
def test_division_is_exact_where_the_other_hessian_is_diagonal(matrix: sparse.csr_array, rng) -> None:
    curvature = rng.uniform(0.1, 3.0, matrix.shape[0])
    found = Reparameterized(Bowl(curvature), matrix).expand(np.zeros(matrix.shape[1]))
    r = rng.normal(size=matrix.shape[1])
    np.testing.assert_allclose(found.product(found.preconditioned(r)), r, rtol=0, atol=1e-9)


@pytest.mark.parametrize("matrix", MAPS.values(), ids=MAPS)
def test_with_a_ridge_it_is_positive_definite_and_the_ridge_counts(matrix: sparse.csr_array, rng) -> None:
    """A larger ridge leaves less of a direction: by twice as much where it is all there is."""
    n = matrix.shape[1]
    found = Reparameterized(Bowl(np.full(matrix.shape[0], 1e-3)), matrix).expand(np.zeros(n))
    assert found.nearly_diagonal is not None
    divisions = [found.nearly_diagonal().division(np.full(n, ridge)) for ridge in (1e6, 2e6)]
    with_one, with_two = (np.stack([divide(e) for e in np.eye(n)]) for divide in divisions)
    np.testing.assert_allclose(with_one, with_one.T, atol=1e-12 * np.abs(with_one).max())
    assert np.linalg.eigvalsh(with_one).min() > 0
    np.testing.assert_allclose(with_two, with_one / 2, rtol=1e-6, atol=0)


def test_a_penalty_is_divided_by_too(rng) -> None:
    matrix = MAPS["pairs"]
    n = matrix.shape[1]
    penalty = TiedPenalty(1e9, np.zeros(n, np.int64))
    objective = Reparameterized(Bowl(np.ones(n)), matrix)
    free, tied = (
        each.expand(np.zeros(n)) for each in (objective, PenalizedObjective(objective, penalty, total_weight=1.0))
    )
    r = rng.normal(size=n)
    assert np.abs(tied.preconditioned(r)).max() < 1e-6 * np.abs(free.preconditioned(r)).max()


def test_a_map_that_has_no_inverse_divides_by_the_diagonal() -> None:
    matrix = sparse.csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]))
    found = Reparameterized(Bowl(np.ones(2)), matrix).expand(np.zeros(3))
    assert found.nearly_diagonal is None
    np.testing.assert_allclose(found.preconditioned(np.ones(3)), 1.0 / found.diagonal())


@pytest.mark.parametrize(
    "penalty", [L2((0.1, 1.0, 10.0)), SoftTied((0.1, 1.0, 10.0), groups=(5, 100))], ids=["L2", "tied"]
)
def test_sparse_data_take_about_as_many_passes_as_in_canonical_coordinates(penalty, rng) -> None:
    """Divided by the diagonal alone, spectral coordinates take ten times as many and more."""
    n, n_rows = 60, 5000
    codes = (rng.random((n_rows, n)) < 0.02).astype(np.uint8)
    codes[:, 1:] |= codes[:, :-1] & (rng.random((n_rows, n - 1)) < 0.5)
    rows = UniqueRows.from_codes(domain_of((2,) * n), codes, np.ones(n_rows))
    pairs = FixedStructure(Structure.from_edges(n, [(i, j) for i in range(n) for j in range(i + 1, min(i + 11, n))]))

    def passes(word: str) -> int:
        return sum(fit.passes for fit in Learner(pairs, penalty, parameterization=word).fit(rows, rows).fits)

    assert passes("spectral") <= 4 * passes("canonical")
