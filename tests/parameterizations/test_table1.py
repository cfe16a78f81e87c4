"""Table 1 of Buchman et al. (2012): which parameterization is complete, minimal and symmetric, by ranks and flips."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest

from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.full import Full
from mrfit.parameterizations.generalized_ising import GeneralizedIsing
from mrfit.parameterizations.ising import Ising
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.parameterizations.spectral import Spectral
from mrfit.structure.structure import Structure
from populations import domain_of
from reference.features import feature_matrix

every_size = pytest.mark.parametrize("n", [2, 3, 4, 5])


@dataclass(frozen=True)
class Line:
    """What the table says of a parameterization of n variables with two states."""

    n_parameters: int  # with the constant
    rank: int
    complete: bool
    minimal: bool
    flips: bool
    swaps: bool


def _kind(name: str, n: int, c: int = 2) -> Parameterization:
    domain, structure = domain_of((c,) * n), Structure.up_to_order(n, n)
    if name in ("C1", "C2", "CR"):
        return Canonical(domain, structure, {"C1": (0,) * n, "C2": (1,) * n, "CR": (1, *(0,) * (n - 1))}[name])
    kinds = {"S": Spectral, "F": Full, "I": Ising, "GI": GeneralizedIsing}
    return kinds[name](domain, structure)


def _expected(name: str, n: int) -> Line:
    if name == "F":
        return Line(3**n, 2**n, complete=True, minimal=False, flips=True, swaps=True)
    if name == "I":  # two variables are the first footnote: one agreement is one pair
        rank = 2 ** (n - 1) + n
        return Line(2**n, rank, complete=n == 2, minimal=n == 2, flips=n == 2, swaps=True)
    if name == "GI":  # the paper's empty set has a constant for each of the two states: one more
        return Line(2 ** (n + 1) - 1, 2**n, complete=True, minimal=False, flips=False, swaps=True)
    return Line(2**n, 2**n, complete=True, minimal=True, flips=name == "S", swaps=name != "CR")


def _with_constant(parameters: Parameterization) -> np.ndarray:
    features = feature_matrix(parameters)
    return np.hstack([np.ones((len(features), 1)), features])


def _as_set(features: np.ndarray, *, signed: bool) -> list[tuple[float, ...]]:
    """The columns, but for a constant and, if ``signed``, for their signs; in an order of their own."""
    centred = np.round(features - features.mean(axis=0), 9)
    if signed:
        first = centred[np.argmax(centred != 0, axis=0), np.arange(centred.shape[1])]
        centred = centred * np.where(first < 0, -1.0, 1.0)
    return sorted(map(tuple, centred.T + 0.0))


def _moved(features: np.ndarray, n: int, *, flip: tuple[int, ...] = (), swap: tuple[int, int] = (0, 0)) -> np.ndarray:
    """The features of every state after it was flipped or two of its variables changed places."""
    by_state = np.swapaxes(features.reshape(*(2,) * n, -1), *swap)
    return np.flip(by_state, flip).reshape(features.shape)


def _flips(features: np.ndarray, n: int, which: list[tuple[int, ...]]) -> bool:
    own = _as_set(features, signed=True)
    return all(_as_set(_moved(features, n, flip=flip), signed=True) == own for flip in which)


def _swaps(features: np.ndarray, n: int) -> bool:
    own = _as_set(features, signed=False)
    return all(_as_set(_moved(features, n, swap=swap), signed=False) == own for swap in combinations(range(n), 2))


@every_size
@pytest.mark.parametrize("name", ["F", "I", "GI", "CR", "C1", "C2", "S"])
def test_table_1(name: str, n: int) -> None:
    """Complete: every function of the states is a sum of features. Minimal: none is a sum of others."""
    everything = _with_constant(_kind(name, n))
    features = everything[:, 1:]
    rank = int(np.linalg.matrix_rank(everything))
    found = Line(
        n_parameters=everything.shape[1],
        rank=rank,
        complete=rank == 2**n,
        minimal=rank == everything.shape[1],
        flips=_flips(features, n, [(i,) for i in range(n)]),
        swaps=_swaps(features, n),
    )
    assert found == _expected(name, n)


@every_size
def test_flipping_all_values_at_once(n: int) -> None:
    """Leaves generalized Ising features as they are, and exchanges the two canonical ones."""
    everything = tuple(range(n))
    for name in ("GI", "I", "S", "F"):
        assert _flips(feature_matrix(_kind(name, n)), n, [everything])
    c1, c2 = (feature_matrix(_kind(name, n)) for name in ("C1", "C2"))
    np.testing.assert_array_equal(_moved(c1, n, flip=everything), c2)
    assert not _flips(c1, n, [everything])


@every_size
def test_agreement_says_nothing_of_single_variables(n: int) -> None:
    """The second footnote: without parameters of their own for them Ising has rank 2^(n - 1)."""
    parameters = _kind("I", n)
    agreements = feature_matrix(parameters)[:, parameters.order_of_parameter > 1]
    assert np.linalg.matrix_rank(np.hstack([np.ones((2**n, 1)), agreements])) == 2 ** (n - 1)


def test_triples_of_agreements_are_sums_of_pairs() -> None:
    """1[i = j = k] = (1[ij] + 1[ik] + 1[jk] - 1) / 2."""
    parameters = _kind("I", 3)
    features = feature_matrix(parameters)
    pairs, triple = features[:, parameters.order_of_parameter == 2], features[:, -1]
    np.testing.assert_array_equal(triple, (pairs.sum(axis=1) - 1.0) / 2.0)


@pytest.mark.parametrize(("n", "rank"), [(2, 8), (3, 19), (4, 42)])
def test_generalized_ising_is_incomplete_beyond_two_states(n: int, rank: int) -> None:
    """For three states 8 of 9, 19 of 27, 42 of 81; spectral and canonical stay complete and minimal."""
    assert np.linalg.matrix_rank(_with_constant(_kind("GI", n, c=3))) == rank
    for name in ("S", "C1"):
        features = _with_constant(_kind(name, n, c=3))
        assert features.shape == (3**n, 3**n)
        assert np.linalg.matrix_rank(features) == 3**n
    assert np.linalg.matrix_rank(_with_constant(_kind("F", n, c=3))) == 3**n
