"""Containment of scopes, against sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit.core.errors import InputError, StructureError
from mrfit.structures.hierarchy import supersets, supported
from mrfit.structures.structure import AllScopes, Structure
from populations import STRUCTURES, scopes

any_structure = st.integers(1, 7).flatmap(scopes)
named = pytest.mark.parametrize("structure", [build(6) for build in STRUCTURES.values()], ids=list(STRUCTURES))


def _check_supersets(structure: Structure) -> None:
    listed = [frozenset(scope) for scope in structure.scopes]
    start, members = supersets(structure)
    assert len(start) == len(listed) + 1
    assert (start[0], start[-1]) == (0, len(members))
    for a, scope in enumerate(listed):
        mine = members[start[a] : start[a + 1]].tolist()
        assert mine == [b for b, other in enumerate(listed) if scope <= other]
        assert mine[0] == a


@given(any_structure)
def test_supersets_of_any_structure(structure: Structure) -> None:
    """Every scope that contains it, itself first."""
    _check_supersets(structure)


@named
def test_supersets_of_the_named_structures(structure: Structure) -> None:
    """All scopes without a list of them included."""
    _check_supersets(structure)


def test_too_many_pairs_are_refused() -> None:
    """The check comes before they are listed."""
    with pytest.raises(InputError, match=r"has about 1\.3e\+08 pairs .* use the hierarchical search"):
        supersets(Structure.up_to_order(17, 17))


@given(any_structure)
def test_the_closure_has_all_subsets(structure: Structure) -> None:
    """And nothing else; single variables only where a scope holds them."""
    expected = {part for scope in structure.scopes for r in range(1, len(scope) + 1) for part in combinations(scope, r)}
    closure = structure.closure()
    assert set(closure.scopes) == expected
    assert list(closure.scopes) == sorted(closure.scopes, key=lambda scope: (len(scope), scope))
    assert closure.is_closed
    assert structure.is_closed == (set(structure.scopes) == expected)
    assert closure.closure() == closure


@pytest.mark.parametrize(
    ("scopes", "closed"),
    [
        ([], True),
        ([(0,)], True),
        ([(0,), (1,), (0, 1)], True),
        ([(0,), (0, 1)], False),
        ([(0, 1)], False),
        ([(0,), (1,), (2,), (0, 1), (0, 2), (0, 1, 2)], False),
        ([(0,), (1,), (2,), (0, 1, 2)], False),
    ],
)
def test_is_closed(scopes: list[tuple[int, ...]], closed: bool) -> None:
    """Whether every subset of a scope is a scope."""
    assert Structure.from_scopes(3, scopes, closed=False).is_closed is closed


@given(any_structure, st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_find_says_where_a_scope_stands(structure: Structure, size: int, seed: int) -> None:
    """Or -1, for any number of scopes of one size."""
    n = structure.n_variables
    size = min(size, n)
    rng = np.random.default_rng(seed)
    wanted = np.array([np.sort(rng.choice(n, size, replace=False)) for _ in range(12)], np.int64)
    known = [tuple(scope) for scope in structure.blocks[size].tolist()] if size in structure.blocks else []
    expected = [known.index(tuple(row)) if tuple(row) in known else -1 for row in wanted.tolist()]
    assert structure.find(wanted).tolist() == expected
    assert structure.find(wanted[:0]).shape == (0,)


def test_find_in_many_variables() -> None:
    """Numbers beyond a byte sort as numbers."""
    structure = Structure.up_to_order(300, 2)
    wanted = np.array([[0, 1], [255, 256], [1, 256], [298, 299], [3, 2]])
    at = structure.find(wanted)
    np.testing.assert_array_equal(structure.blocks[2][at[:4]], wanted[:4])
    assert at[4] == -1


@pytest.mark.parametrize("n", [1, 2, 5])
def test_all_scopes_are_those_of_every_size(n: int) -> None:
    """Listed only when they are asked for, and then as any other structure."""
    blocks = AllScopes(n)
    assert list(blocks) == list(range(1, n + 1))
    assert len(blocks) == n
    for size, block in blocks.items():
        assert block.tolist() == [list(scope) for scope in combinations(range(n), size)]
        assert not block.flags.writeable
    for size in (0, n + 1):
        assert size not in blocks
        with pytest.raises(KeyError):
            blocks[size]
    structure = Structure.up_to_order(n, n)
    assert structure.is_saturated
    assert structure.is_closed
    assert structure.closure() is structure
    assert structure.n_scopes == 2**n - 1 == len(list(structure.scopes))
    listed = Structure.from_scopes(n, [range(n)])
    assert structure == listed
    assert not listed.is_saturated
    np.testing.assert_array_equal(structure.edges, listed.edges)
    np.testing.assert_array_equal(structure.degrees, listed.degrees)
    assert (structure.order, Structure.up_to_order(n, n + 3)) == (n, structure)


def test_all_scopes_of_many_variables_cost_nothing() -> None:
    """Scopes are listed only when a size with too many of them is asked for."""
    structure = Structure.up_to_order(60, 60)
    assert structure.n_scopes == 2**60 - 1
    assert structure.order == 60
    assert len(structure.blocks[2]) == 1770
    assert len(structure.edges) == 1770
    with pytest.raises(StructureError, match="the limit is 5e"):
        structure.blocks[30]


@given(any_structure, st.integers(2, 5))
def test_supported_sets_have_all_their_parts(structure: Structure, size: int) -> None:
    listed = set(structure.scopes)
    wanted = [
        each
        for each in combinations(range(structure.n_variables), size)
        if all(part in listed for part in combinations(each, size - 1))
    ]
    assert [tuple(each) for each in supported(structure, size).tolist()] == wanted
