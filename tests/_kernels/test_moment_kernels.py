"""Means of features over chains against their plain twins, on every shape and structure."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit._kernels.arithmetic.vector_rng import LANES
from mrfit._kernels.sampling.gibbs_sweeps import Couplings
from mrfit._kernels.sampling.table_moments import conditional_probabilities
from mrfit.inference.sampling.annealing_path import AnnealingPath
from mrfit.learning.chains.features import Features
from mrfit.learning.chains.persistent_chains import Persistent, persistent
from mrfit.parameterizations.canonical import Canonical
from populations import SHAPES, STRUCTURES, domain_of, random_factors
from reference.features import feature_matrix, joint_states
from reference.moments import all_at_once, given_others, joint_probabilities, one_after_the_other

KINDS = {
    **SHAPES,
    "two states, one of one": (2, 1, 2, 2),
    "triples that are pairs but for a variable of one state": (2, 2, 2, 1),
}


def _everywhere(parameters: Canonical) -> Persistent:
    """A block of 64 chains in each joint state."""
    codes = np.repeat(joint_states(parameters.domain.shape), LANES, axis=0).astype(np.int64)
    return persistent(Features(parameters), codes, (1,))


@pytest.mark.parametrize("scale", [1.0, 4.0])
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("shape", KINDS)
def test_means_over_chains_equal_their_twin(shape: str, structure: str, scale: float, rng: np.random.Generator) -> None:
    """Means agree in every joint state; weighted by p of these, they are the exact means."""
    domain = domain_of(KINDS[shape])
    parameters = Canonical(domain, STRUCTURES[structure](len(domain)))
    w = scale * rng.standard_normal(parameters.n_parameters)
    chains = _everywhere(parameters)
    chains.take(w)
    found = chains.block_means()
    pairs = isinstance(chains.path.model, Couplings)
    expected = (all_at_once if pairs else one_after_the_other)(parameters, w)
    np.testing.assert_allclose(found, expected, rtol=5e-6 if pairs else 1e-12, atol=1e-9 if pairs else 1e-14)
    p = joint_probabilities(parameters, w).ravel()
    np.testing.assert_allclose(p @ found, p @ feature_matrix(parameters), rtol=5e-6, atol=1e-8)


@pytest.mark.parametrize("coupling", [-15.0, -9.0, 9.0, 15.0])
def test_strong_couplings_keep_their_digits(coupling: float) -> None:
    """The odds without the neighbour are e^-J times as large, not one minus nearly one."""
    parameters = Canonical(domain_of((2, 2)), STRUCTURES["complete"](2))
    w = np.array([-0.5 * coupling, -0.5 * coupling + 1.0, coupling])
    chains = _everywhere(parameters)
    chains.take(w)
    np.testing.assert_allclose(chains.block_means(), all_at_once(parameters, w), rtol=1e-5)


def test_parameters_without_bounds_give_numbers(rng: np.random.Generator) -> None:
    """Means of chains are probabilities whatever the parameters are."""
    for shape in ("binary", "mixed"):
        domain = domain_of(KINDS[shape])
        parameters = Canonical(domain, STRUCTURES["complete"](len(domain)))
        chains = _everywhere(parameters)
        chains.sweep(1e6 * rng.standard_normal(parameters.n_parameters))
        means = chains.block_means()
        assert 0.0 <= means.min() <= means.max() <= 1.0


@pytest.mark.parametrize("shape", ["mixed", "a variable with one state"])
def test_conditional_probabilities_equal_their_twin(shape: str, rng: np.random.Generator) -> None:
    """Conditional probabilities are those of the target, whatever the base."""
    sizes = SHAPES[shape]
    scopes = [(i, (i + 1) % len(sizes)) for i in range(len(sizes))] + [(0, 1, 2)]
    target, base = random_factors(rng, sizes, scopes), random_factors(rng, sizes, [(0, 1), (2,)])
    model = AnnealingPath.between(base, target).model
    x = joint_states(sizes)
    p = np.exp(target.log_potential(x.astype(np.int64))).reshape(sizes)
    first = np.cumsum(sizes) - sizes
    for codes in x[:: max(1, len(x) // 5)]:
        out = np.empty((sum(sizes), LANES))
        conditional_probabilities(model, first, np.repeat(codes[:, None], LANES, axis=1).astype(np.int32), out)
        for i, c in enumerate(sizes):
            at = tuple(slice(None) if j == i else int(s) for j, s in enumerate(codes))
            expected = np.repeat(given_others(p, (i,))[at][:, None], LANES, axis=1)
            np.testing.assert_allclose(out[first[i] : first[i] + c], expected, rtol=1e-12)
