"""The smallest eigenvalue: against finite differences, a full decomposition, and what it says when it cannot."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.joint_states import weighted_states
from mrfit.learning.tying import observed_curvature as curvature
from mrfit.learning.tying.observed_curvature import smallest_eigenvalue, smallest_eigenvalue_of
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.objectives.likelihood import Likelihood
from mrfit.objectives.objective import Objective
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.structure import Structure


def chain_of(*states: int) -> Canonical:
    domain = Domain.from_states({f"x{i}": [str(s) for s in range(n)] for i, n in enumerate(states)})
    return Canonical(domain, Structure.from_scopes(len(states), [(i, i + 1) for i in range(len(states) - 1)]))


def likelihood(parameters: Canonical, rows: np.ndarray | None = None) -> Likelihood:
    codes = np.zeros((1, len(parameters.domain)), np.uint8) if rows is None else rows
    return Likelihood(parameters, UniqueRows.from_codes(parameters.domain, codes, np.ones(len(codes))))


def pseudo(parameters: Canonical, rows: UniqueRows) -> PseudoLikelihood:
    return PseudoLikelihood(ConditionalCells.count(rows, parameters))


def random_rows(parameters: Canonical, n: int, rng: np.random.Generator) -> UniqueRows:
    codes = np.stack([rng.integers(0, c, n) for c in parameters.domain.shape], axis=1).astype(np.uint8)
    return UniqueRows.from_codes(parameters.domain, codes, np.ones(n))


def matrix(objective: Objective, w: np.ndarray) -> np.ndarray:
    product = objective.expand(w).product
    return np.stack([product(column) for column in np.eye(len(w))])


@pytest.mark.parametrize("states", [(2, 2, 2, 2), (3, 2, 4)])
def test_it_is_that_of_finite_differences(states: tuple[int, ...], rng: np.random.Generator) -> None:
    parameters, step = chain_of(*states), 1e-5
    w = rng.normal(size=parameters.n_parameters)
    for objective in (likelihood(parameters), pseudo(parameters, random_rows(parameters, 300, rng))):
        gradient = [[objective.value_and_gradient(w + s * e)[1] for s in (step, -step)] for e in np.eye(len(w))]
        hessian = np.array([(plus - minus) / (2.0 * step) for plus, minus in gradient])
        assert smallest_eigenvalue(objective, w) == pytest.approx(np.linalg.eigvalsh(hessian)[0], rel=1e-5)


def test_that_of_the_likelihood_does_not_depend_on_the_data(rng: np.random.Generator) -> None:
    parameters = chain_of(2, 3, 2)
    one, other = likelihood(parameters), likelihood(parameters, rng.integers(0, 2, (9, 3)).astype(np.uint8))
    w = rng.normal(size=parameters.n_parameters)
    assert smallest_eigenvalue(other, w) == pytest.approx(smallest_eigenvalue(one, w), rel=1e-12)


def test_that_of_one_bit_is_its_variance() -> None:
    w = np.array([math.log(3.0)])
    parameters = chain_of(2)
    assert smallest_eigenvalue(likelihood(parameters), w) == pytest.approx(0.25 * 0.75, rel=1e-14)
    row = UniqueRows.from_codes(parameters.domain, np.zeros((1, 1), np.uint8), np.ones(1))
    assert smallest_eigenvalue(pseudo(parameters, row), w) == pytest.approx(0.25 * 0.75, rel=1e-14)


def test_products_find_what_a_decomposition_finds(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = chain_of(*[2] * 8, 3, 4)
    w = rng.normal(size=parameters.n_parameters)
    objectives = likelihood(parameters), pseudo(parameters, random_rows(parameters, 400, rng))
    dense = [smallest_eigenvalue_of(objective, w) for objective in objectives]
    monkeypatch.setattr(curvature, "MOST_DENSE", 3)
    for objective, expected in zip(objectives, dense, strict=True):
        found = smallest_eigenvalue_of(objective, w)
        assert found.value == pytest.approx(expected.value, rel=1e-8)
        assert (expected.method, found.method) == ("dense", "iterative")
        assert found.accuracy <= curvature.TOLERANCE


def test_products_find_the_smallest_of_many_sizes(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    # Rare states make eigenvalues of all sizes, where plain Lanczos iterations settle on a wrong one.
    parameters = chain_of(*[2] * 60)
    w = rng.normal(size=parameters.n_parameters) * np.where(np.arange(parameters.n_parameters) < 20, 6.0, 1.0)
    objective = pseudo(parameters, random_rows(parameters, 300, rng))
    eigenvalues = np.linalg.eigvalsh(matrix(objective, w))
    assert eigenvalues[0] < 1e-5 * eigenvalues[-1]
    monkeypatch.setattr(curvature, "MOST_DENSE", 3)
    assert smallest_eigenvalue(objective, w) == pytest.approx(eigenvalues[0], rel=1e-6)


def test_expectations_over_all_states_equal_those_by_hand(rng: np.random.Generator) -> None:
    """The Hessian by rows weighted with p(x) is the sum over states and variables of p(x) Cov(features | rest)."""
    parameters = chain_of(2, 3, 2)
    w, shape = rng.normal(size=parameters.n_parameters), parameters.domain.shape
    features = np.zeros((*shape, len(w)))
    for k in range(len(w)):
        at = [slice(None)] * 3
        for i, state in parameters.states(k):
            at[i] = state
        features[(*at, k)] = 1.0
    p = np.exp(features @ w)
    p /= p.sum()
    expected = np.zeros((len(w), len(w)))
    for axis in range(3):
        total = p.sum(axis=axis, keepdims=True)
        mean = (p[..., None] * features).sum(axis=axis, keepdims=True) / total[..., None]
        rest = features - mean
        expected += np.einsum("abc,abci,abcj->ij", p, rest, rest)
    np.testing.assert_allclose(
        matrix(pseudo(parameters, weighted_states(parameters.domain, p)), w), expected, atol=1e-14
    )


def test_counts_in_proportion_to_probabilities_are_the_expectation() -> None:
    # Independent fair bits: four rows of each joint state are the distribution itself.
    parameters, w = chain_of(2, 2, 2), np.zeros(5)
    codes = np.stack(np.unravel_index(np.arange(8), (2, 2, 2)), axis=1).astype(np.uint8)
    counted = UniqueRows.from_codes(parameters.domain, np.repeat(codes, 4, axis=0), np.ones(32))
    listed = weighted_states(parameters.domain, np.full(8, 0.125))
    np.testing.assert_allclose(
        matrix(pseudo(parameters, counted), w), matrix(pseudo(parameters, listed), w), rtol=1e-14
    )


def test_a_flat_likelihood_has_eigenvalue_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters, w = chain_of(2, 2), np.array([-60.0, 0.0, 0.0])
    assert smallest_eigenvalue(likelihood(parameters), w) == 0.0
    monkeypatch.setattr(curvature, "MOST_DENSE", 1)
    assert smallest_eigenvalue(likelihood(parameters), w) == 0.0


def test_what_does_not_converge_is_refused(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = chain_of(*[2] * 40)
    objective = pseudo(parameters, random_rows(parameters, 300, rng))
    for name, value in (("MOST_DENSE", 3), ("_ROUNDS", 1), ("_ITERATIONS", 2)):
        monkeypatch.setattr(curvature, name, value)
    with pytest.raises(InputError, match=r"did not settle in 2 iterations: it is at most .* Use more rows") as caught:
        smallest_eigenvalue(objective, rng.normal(size=parameters.n_parameters))
    assert "\n" not in str(caught.value)


def test_a_point_of_other_size_is_refused() -> None:
    with pytest.raises(InputError, match="expected 3"):
        smallest_eigenvalue(likelihood(chain_of(2, 2)), np.zeros(2))
    with pytest.raises(InputError, match="finite"):
        smallest_eigenvalue(likelihood(chain_of(2, 2)), np.full(3, np.nan))
