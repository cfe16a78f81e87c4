"""Decomposable structures: products of tables over tables."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.structures.decomposable import multiplicities
from mrfit.structures.structure import Structure
from populations import STRUCTURES
from reference.features import joint_states


def _by_scope(structure: Structure, shape: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    found = multiplicities(structure, shape)
    assert found is not None
    numbers = np.concatenate([*found.values(), np.empty(0, int)]).tolist()
    return {scope: number for scope, number in zip(structure.scopes, numbers, strict=True) if number}


def test_a_chain_has_its_pairs_over_what_they_share() -> None:
    assert _by_scope(STRUCTURES["chain"](4), (2, 3, 2, 2)) == {(0, 1): 1, (1, 2): 1, (2, 3): 1, (1,): -1, (2,): -1}


def test_independent_variables_have_themselves() -> None:
    assert _by_scope(Structure.independent(3), (2, 2, 3)) == {(0,): 1, (1,): 1, (2,): 1}


def test_cliques_that_share_a_pair() -> None:
    structure = Structure.from_scopes(5, [(0, 1, 2), (1, 2, 3), (3, 4)])
    assert _by_scope(structure, (2,) * 5) == {(0, 1, 2): 1, (1, 2, 3): 1, (3, 4): 1, (1, 2): -1, (3,): -1}


def test_variables_with_one_state_say_nothing() -> None:
    """A loop through one of them is none."""
    loop = Structure.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
    assert _by_scope(loop, (2, 1, 2, 2)) == {(2, 3): 1, (0, 3): 1, (3,): -1}
    assert _by_scope(loop, (1,) * 4) == {}


@pytest.mark.parametrize(
    "structure",
    [
        Structure.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)]),
        Structure.complete(3),
        Structure.from_scopes(4, [(0, 1, 2), (1, 3), (2, 3)]),
        STRUCTURES["pairs without singles"](4),
    ],
    ids=["a loop without a chord", "a clique without its table", "both", "no table of what pairs share"],
)
def test_others_are_none(structure: Structure) -> None:
    assert multiplicities(structure, (2,) * structure.n_variables) is None


@pytest.mark.parametrize("n", [2, 5, 7])
def test_chordal_graphs_at_random(n: int, rng: np.random.Generator) -> None:
    """Grown by cliques: every joint state of independent variables gets its probability back."""
    for _ in range(20):
        cliques: list[list[int]] = [[0]]
        for v in range(1, n):
            base = cliques[int(rng.integers(len(cliques)))]
            kept = [u for u in base if rng.random() < 0.6][:3]
            cliques.append([*kept, v])
        names = rng.permutation(n)
        structure = Structure.from_scopes(n, [names[clique].tolist() for clique in cliques])
        times = _by_scope(structure, (2,) * n)
        log_p = np.log(rng.dirichlet(np.ones(2), n))
        codes = joint_states((2,) * n)
        own = np.take_along_axis(log_p[None], codes[:, :, None].astype(int), axis=2)[:, :, 0]
        total = sum(number * own[:, list(scope)].sum(axis=1) for scope, number in times.items())
        np.testing.assert_allclose(total, own.sum(axis=1), atol=1e-12)
