"""Table 1 of Buchman et al. (2012): which parameterization is complete, minimal and symmetric, by ranks and flips."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from mrfit_papers.spec_properties import (
    WORDS,
    SpecProperties,
    is_symmetric_in_values,
    joint_features,
    moved,
    parameterization,
    with_constant,
)
from reference.features import feature_matrix

every_size = pytest.mark.parametrize("n", [2, 3, 4, 5])


@dataclass(frozen=True)
class Line:
    """Row of the paper's table on a parameterization of n variables with two states."""

    n_parameters: int  # with the constants of the empty set
    rank: int
    complete: bool
    minimal: bool
    flips: bool
    swaps: bool
    unique: bool = True


def _expected(name: str, n: int) -> Line:
    if name == "F":
        return Line(3**n, 2**n, complete=True, minimal=False, flips=True, swaps=True)
    if name == "I":  # two variables are the first footnote: one agreement is one pair
        rank = 2 ** (n - 1) + n
        return Line(2**n, rank, complete=n == 2, minimal=n == 2, flips=n == 2, swaps=True)
    if name == "GI":
        return Line(2 ** (n + 1), 2**n, complete=True, minimal=False, flips=False, swaps=True)
    return Line(2**n, 2**n, complete=True, minimal=True, flips=name == "S", swaps=name != "C", unique=name != "C")


@every_size
@pytest.mark.parametrize("name", WORDS)
def test_table_1(name: str, n: int) -> None:
    """Complete: every function of the states is a sum of features. Minimal: none is a sum of others."""
    found = SpecProperties(name, n).run()
    line = Line(
        n_parameters=found["parameters"],
        rank=found["rank"],
        complete=found["complete"],
        minimal=found["minimal"],
        flips=found["values"],
        swaps=found["variables"],
        unique=found["meanings"] == 1,
    )
    assert line == _expected(name, n)


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("name", WORDS)
def test_features_of_joint_states_are_those_of_the_definition(name: str, c: int) -> None:
    parameters = parameterization(name, 3, c=c)
    np.testing.assert_allclose(joint_features(parameters), feature_matrix(parameters), atol=1e-14)


@every_size
def test_flipping_all_values_at_once(n: int) -> None:
    """Leaves generalized Ising features as they are, and exchanges the two canonical ones."""
    everything = tuple(range(n))
    for name in ("GI", "I", "S", "F"):
        assert is_symmetric_in_values(feature_matrix(parameterization(name, n)), n, [everything])
    c1, c2 = (feature_matrix(parameterization(name, n)) for name in ("C1", "C2"))
    np.testing.assert_array_equal(moved(c1, n, flip=everything), c2)
    assert not is_symmetric_in_values(c1, n, [everything])


@every_size
def test_agreement_says_nothing_of_single_variables(n: int) -> None:
    """The second footnote: without parameters of their own for them Ising has rank 2^(n - 1)."""
    parameters = parameterization("I", n)
    agreements = feature_matrix(parameters)[:, parameters.order_of_parameter > 1]
    assert np.linalg.matrix_rank(np.hstack([np.ones((2**n, 1)), agreements])) == 2 ** (n - 1)


def test_triples_of_agreements_are_sums_of_pairs() -> None:
    """1[i = j = k] = (1[ij] + 1[ik] + 1[jk] - 1) / 2."""
    parameters = parameterization("I", 3)
    features = feature_matrix(parameters)
    pairs, triple = features[:, parameters.order_of_parameter == 2], features[:, -1]
    np.testing.assert_array_equal(triple, (pairs.sum(axis=1) - 1.0) / 2.0)


@pytest.mark.parametrize(("n", "rank"), [(2, 8), (3, 19), (4, 42)])
def test_generalized_ising_is_incomplete_beyond_two_states(n: int, rank: int) -> None:
    """Three states give ranks 8 of 9, 19 of 27, 42 of 81; spectral and canonical stay complete and minimal."""
    assert np.linalg.matrix_rank(with_constant(feature_matrix(parameterization("GI", n, c=3)))) == rank
    for name in ("S", "C1"):
        features = with_constant(feature_matrix(parameterization(name, n, c=3)))
        assert features.shape == (3**n, 3**n)
        assert np.linalg.matrix_rank(features) == 3**n
    assert np.linalg.matrix_rank(with_constant(feature_matrix(parameterization("F", n, c=3)))) == 3**n
