"""Tables without what single variables say: where penalties on lengths have the optimum of full coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.learning.learner import Learner
from mrfit.learning.objective_specs import LIKELIHOOD
from mrfit.parameterizations.centred import Centred
from mrfit.parameterizations.full import Full
from mrfit.registry import PENALTIES
from mrfit.solvers.proximal_newton import ProximalNewton
from mrfit.structures.simple import AllInteractions
from mrfit.structures.structure import Structure
from populations import domain_of, random_codes


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 3, 4)])
def test_bases_are_orthonormal_and_say_nothing_of_single_variables(shape: tuple[int, ...]) -> None:
    basis = Centred(domain_of(shape), Structure.up_to_order(3, 3)).features((0, 1, 2))
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)
    by_state = basis.reshape(*shape, -1)
    for axis in range(3):
        np.testing.assert_allclose(by_state.sum(axis=tuple({0, 1, 2} - {axis})), 0.0, atol=1e-12)
    assert basis.shape[1] == np.prod(shape) - 1 - sum(c - 1 for c in shape)


def test_full_tables_keep_their_lengths(rng: np.random.Generator) -> None:
    full = Full(domain_of((2, 3, 2)), Structure.up_to_order(3, 3))
    centred = full.for_lengths()
    w = rng.normal(size=centred.n_parameters)
    tables = full.from_lengths(w)
    assert len(tables) == full.n_parameters
    for k in range(3, 7):  # scopes of several variables
        ours, theirs = w[centred.scope_of_parameter == k], tables[full.scope_of_parameter == k]
        assert np.linalg.norm(ours) == pytest.approx(np.linalg.norm(theirs))


def test_without_single_variables_there_is_no_other_way() -> None:
    full = Full(domain_of((2, 2)), Structure.from_scopes(2, [(0, 1)], closed=False))
    assert full.for_lengths() is full


@pytest.mark.parametrize("penalty", ["group", "hierarchical"])
@pytest.mark.parametrize("shape", [(2, 2, 2, 2), (2, 3, 2)])
def test_the_optimum_is_that_of_full_coordinates(
    penalty: str, shape: tuple[int, ...], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = random_codes(rng, shape, 300)
    learner = Learner(
        AllInteractions(3), PENALTIES[penalty](4.0), LIKELIHOOD, "full", solver=ProximalNewton(), tolerance=1e-8
    )
    found = learner.fit(codes).best
    monkeypatch.setattr(Full, "for_lengths", lambda self: self)
    plain = learner.fit(codes).best
    assert found.model.parameters.word == "full"
    assert found.solution.value == pytest.approx(plain.solution.value, abs=1e-10)
    larger = [found.model.parameters.order_of_parameter > 1, plain.model.parameters.order_of_parameter > 1]
    np.testing.assert_allclose(found.model.w[larger[0]], plain.model.w[larger[1]], atol=1e-5)
    assert found.solution.converged
