"""The forest that learning begins with: its marginals are those of the data."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.parameterizations.canonical import Canonical
from mrfit.stochastic.features import Features
from mrfit.stochastic.spanning_forest import forest_parameters
from mrfit.structure.structure import Structure
from populations import SHAPES, STRUCTURES, full_rows, random_rows
from reference.features import DenseLikelihood, feature_matrix
from reference.moments import joint_probabilities

FORESTS = ("independent", "tree", "chain", "disconnected")


@pytest.mark.parametrize("structure", FORESTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_on_a_forest_it_is_the_optimum(shape: str, structure: str, rng: np.random.Generator) -> None:
    """Without added rows: all moments match, and no derivative of the exact likelihood is left."""
    rows = full_rows(rng, SHAPES[shape])
    parameters = Canonical(rows.domain, STRUCTURES[structure](len(rows.domain)))
    w = forest_parameters(parameters, rows, pseudo_count=1e-12)
    gradient = DenseLikelihood(feature_matrix(parameters), rows).value_and_gradient(w)[1]
    np.testing.assert_allclose(gradient, 0.0, atol=1e-12)


@pytest.mark.parametrize("shape", ["binary", "mixed"])
def test_added_rows_are_independent_and_even(shape: str, rng: np.random.Generator) -> None:
    """Also where some states of the data are missing."""
    rows = random_rows(rng, SHAPES[shape], 10)
    parameters, n = Canonical(rows.domain, STRUCTURES["chain"](len(rows.domain))), len(rows.domain)
    p = joint_probabilities(parameters, forest_parameters(parameters, rows, pseudo_count=2.0))
    for i in range(n - 1):
        found = p.sum(axis=tuple(k for k in range(n) if k not in (i, i + 1)))
        counts = np.zeros_like(found)
        np.add.at(counts, (rows.codes[:, i], rows.codes[:, i + 1]), rows.sample_weight)
        np.testing.assert_allclose(found, (counts + 2.0 / counts.size) / (10.0 + 2.0), rtol=1e-10)


def test_of_a_graph_it_is_the_best_tree(rng: np.random.Generator) -> None:
    """No other spanning tree has a greater likelihood; what is not in it is zero."""
    rows = full_rows(rng, (2, 2, 3, 2))
    parameters = Canonical(rows.domain, Structure.complete(4))
    exact = DenseLikelihood(feature_matrix(parameters), rows)
    best = exact.value_and_gradient(forest_parameters(parameters, rows, pseudo_count=1e-12))[0]
    for edges in (
        [(0, 1), (1, 2), (2, 3)],
        [(0, 1), (0, 2), (0, 3)],
        [(0, 2), (1, 2), (2, 3)],
        [(0, 3), (1, 3), (2, 3)],
    ):
        other = Canonical(rows.domain, Structure.from_edges(4, edges))
        rival = DenseLikelihood(feature_matrix(other), rows)
        assert best <= rival.value_and_gradient(forest_parameters(other, rows, pseudo_count=1e-12))[0] + 1e-12
    w = forest_parameters(parameters, rows)
    scopes = {int(s) for s in parameters.scope_of_parameter[(w != 0) & (parameters.order_of_parameter == 2)]}
    assert len(scopes) == 3


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_structure_has_a_finite_start(shape: str, structure: str, rng: np.random.Generator) -> None:
    """Those without parameters of single variables too."""
    rows = random_rows(rng, SHAPES[shape], 20)
    parameters = Canonical(rows.domain, STRUCTURES[structure](len(rows.domain)))
    w = forest_parameters(parameters, rows)
    assert w.shape == Features(parameters).means(rows).of_features.shape
    assert np.isfinite(w).all()
