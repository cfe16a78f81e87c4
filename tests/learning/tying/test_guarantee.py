"""The proven bound: numbers by hand, each step of its proof on random networks, and what makes it grow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.inference.exact.joint_states import JointStates, weighted_states
from mrfit.learning.tying.guarantee import Composition, Guarantee, harmless_gradient, rows_for_error
from mrfit.learning.tying.sample_complexity import sample_size_soft
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.spectral import Spectral
from mrfit.structures.structure import Structure
from mrfit_papers.recovery import Design, Truth

SCOPES = [(0, 1), (1, 2), (0, 1, 2), (2, 3)]


def canonical(*states: int) -> Canonical:
    domain = Domain.from_states({f"x{i}": [str(s) for s in range(n)] for i, n in enumerate(states)})
    return Canonical(domain, Structure.from_scopes(len(states), SCOPES))


# What an objective is a sum of


def test_composition_counts_parameters_and_conditionals() -> None:
    parameters = canonical(2, 2, 2, 2)
    assert Composition.of_likelihood(parameters) == Composition(parameters.n_parameters, parameters.n_parameters)
    # Scopes of variable 2, with the pairs that a scope of three brings along: 2, 02, 12, 012, 23.
    assert Composition.of_pseudo_likelihood(parameters) == Composition(parameters.n_parameters, 5, 3)
    more = Composition.of_pseudo_likelihood(canonical(2, 2, 3, 4))
    assert more.n_together == 2 + 2 + 2 + 2 + 6


def test_features_of_minus_and_plus_one_have_range_two() -> None:
    parameters = canonical(2, 2, 2, 2)
    assert parameters.feature_range == 1.0
    assert Spectral(parameters.domain, parameters.structure).feature_range == 2.0


# The bound


def test_rows_by_hand() -> None:
    # d = 4, eps = 1/2: R = 1, g = 1/e, b = 0.5 * 0.1 * 0.5 / e; G = 4.
    composition = Composition(10, 4, 2)
    b = 0.025 / math.e
    assert harmless_gradient(0.5, 0.1, composition) == pytest.approx(b, rel=1e-12)
    assert rows_for_error(0.5, 0.1, composition, 0.05) == pytest.approx(20 * (4 / b) ** 2 * math.log(800), rel=1e-12)
    # A large error is limited by the curvature of the rows: 2 * 2 * 4 / 0.1 * log(400).
    tight = Composition(10, 400, 2)
    assert rows_for_error(1e3, 10.0, tight, 0.05) >= 2 * 2 * 400 / 10.0 * math.log(400)
    # The likelihood: b is twice that, G = 1.
    exact = Composition(10, 4)
    assert rows_for_error(0.5, 0.1, exact, 0.05) == pytest.approx(20 / (2 * b) ** 2 * math.log(800), rel=1e-12)


errors, eigenvalues, deltas = st.floats(1e-6, 2.0), st.floats(1e-6, 0.25), st.floats(0.001, 0.5)
compositions = st.builds(
    lambda m, d, q: Composition(m, min(d, m), q), st.integers(1, 500), st.integers(1, 50), st.integers(1, 4) | st.none()
)


@given(errors, eigenvalues, deltas, compositions)
def test_rows_grow_as_they_must(error: float, c_min: float, delta: float, composition: Composition) -> None:
    rows = rows_for_error(error, c_min, composition, delta)
    assert rows_for_error(0.5 * error, c_min, composition, delta) > rows
    assert rows_for_error(error, 0.5 * c_min, composition, delta) > rows
    assert rows_for_error(error, c_min, composition, 0.5 * delta) > rows
    assert harmless_gradient(0.5 * error, c_min, composition) < harmless_gradient(error, c_min, composition)


@given(errors, eigenvalues, deltas, st.integers(1, 500), st.integers(1, 50), st.integers(1, 4))
def test_the_form_of_the_footnote_follows(error: float, c_min: float, delta: float, m: int, d: int, q: int) -> None:
    """The printed form asks for more rows than are proven to suffice, for errors up to two and indicators."""
    d = min(d, m)
    c_min *= q * d  # anything up to the largest that d parameters in q conditionals can have
    printed = sample_size_soft(m, 0.0, 4.0 * error, c_min / q, delta)
    assert rows_for_error(error, c_min, Composition(m, d, q), delta) <= printed * (1.0 + 1e-9)
    printed = sample_size_soft(m, 0.0, 4.0 * error, c_min, delta)
    assert rows_for_error(error, c_min, Composition(m, m), delta) <= printed * (1.0 + 1e-9)


def test_small_errors_keep_their_digits() -> None:
    composition = Composition(10, 4, 2)
    around = [harmless_gradient(e, 0.1, composition) / e for e in (0.4999e-3, 0.5001e-3)]
    assert around[0] == pytest.approx(around[1], rel=1e-6)
    assert harmless_gradient(1e-12, 0.1, composition) == pytest.approx(0.5 * 0.1 * 1e-12 * 0.5, rel=1e-9)


def test_nothing_is_promised_and_anything_goes() -> None:
    composition = Composition(3, 3, 2)
    assert rows_for_error(0.0, 0.1, composition, 0.05) == math.inf
    assert rows_for_error(0.1, 0.0, composition, 0.05) == math.inf
    assert rows_for_error(math.inf, 0.1, composition, 0.05) == 1.0
    assert Guarantee.of(0.1, 0.1, np.zeros(3), 0.1, composition, delta=0.05).regularization == math.inf


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((-1.0, 0.1), "error is -1.0"), ((math.nan, 0.1), "error is nan"), ((0.1, -0.1), "c_min -0.1")],
)
def test_wrong_input_is_named_in_one_line(arguments: tuple[float, float], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        rows_for_error(*arguments, Composition(3, 3, 2), 0.05)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="delta is 0"):
        rows_for_error(0.1, 0.1, Composition(3, 3, 2), 0.0)


# The steps of the proof


@pytest.mark.parametrize("states", [(2, 2, 2, 2), (3, 2, 3, 2)])
def test_gradient_and_curvature_of_every_row_are_within_their_bounds(
    states: tuple[int, ...], rng: np.random.Generator
) -> None:
    parameters = canonical(*states)
    w = rng.normal(scale=2.0, size=parameters.n_parameters)
    composition = Composition.of_pseudo_likelihood(parameters)
    largest = 0.25 * composition.n_conditionals * composition.n_together
    gradients, total = [], np.prod(states)
    for number in range(total):
        row = weighted_states(parameters.domain, (np.arange(total) == number).astype(float))
        expansion = PseudoLikelihood(ConditionalCells.count(row, parameters)).expand(w)
        gradients.append(expansion.gradient)
        hessian = np.stack([expansion.product(column) for column in np.eye(len(w))])
        assert np.linalg.eigvalsh(hessian)[-1] <= largest
    assert np.ptp(gradients, axis=0).max() <= composition.gradient_range
    p = np.exp(JointStates(parameters).log_probabilities(w))
    np.testing.assert_allclose(p.ravel() @ gradients, 0.0, atol=1e-12)  # the truth is where the expectation is least


@pytest.mark.parametrize("objective", ["likelihood", "pseudo-likelihood"])
def test_the_function_rises_by_as_much_as_the_proof_says(objective: str, rng: np.random.Generator) -> None:
    truth = Truth.drawn(Design(5, 6, objective=objective), seed=3)
    expected = truth.objective(weighted_states(truth.parameters.domain, truth.probabilities))
    c_min, composition = truth.theory.c_min, truth.theory.composition
    share = 1.0 if objective == "likelihood" else 2.0  # the whole curvature, where it is the expected one
    for error in (0.01, 0.3, 2.0, 10.0):
        for _ in range(20):
            u = rng.normal(size=len(truth.w))
            u *= error / np.linalg.norm(u)
            rise = expected.value_and_gradient(truth.w + u)[0] - expected.value_and_gradient(truth.w)[0]
            assert rise >= share * harmless_gradient(error, c_min, composition) * error * (1.0 - 1e-6) - 1e-14
