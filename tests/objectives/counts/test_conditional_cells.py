"""Cells of every variable against those counted in a dictionary."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from mrfit._kernels.fitting.cells import BLOCK
from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.structure import Structure
from populations import SHAPES, STRUCTURES, problems, random_rows
from reference.prefix_tree import Chunk, bits_of
from reference.tables import blanket, conditional_cells


def _variable_chunks(cells: ConditionalCells, i: int) -> list[Chunk]:
    a = cells.arrays
    return [
        (
            a.codes[a.code_start[g] : a.code_start[g + 1]],
            a.parent[a.node_start[g] : a.node_start[g + 1]],
            a.runs[a.run_start[g] : a.run_start[g + 1]],
        )
        for g in range(a.chunk_start[i], a.chunk_start[i + 1])
    ]


def _counts(cells: ConditionalCells, i: int) -> list[list[float]]:
    """Weight by state of every cell of variable i, out of the blocked layout."""
    a = cells.arrays
    total = a.total[a.cell_start[i] : a.cell_start[i + 1]]
    n_free, counts = int(a.n_free[i]), a.counts[a.count_start[i] : a.count_start[i + 1]]
    table = np.empty((len(total), 1 + n_free))
    for first in range(0, len(total), BLOCK):
        width = min(BLOCK, len(total) - first)
        block = counts[n_free * first : n_free * (first + width)].reshape(n_free, width)
        table[first : first + width, 1:] = block.T
    table[:, 0] = total - table[:, 1:].sum(axis=1)
    return table.tolist()


def _check_cells(rows: UniqueRows, parameters: Canonical) -> None:
    cells = ConditionalCells.count(rows, parameters)
    conditionals = parameters.conditionals
    first_indicator = np.concatenate([[0], np.cumsum(parameters.n_free)])
    for i, n_states in enumerate(rows.domain.shape):
        first, last = conditionals.feature_start[i], conditionals.feature_start[i + 1]
        expected = conditional_cells(rows, parameters, i) if n_states > 1 else {}
        neighbours = blanket(parameters, i)
        found = _counts(cells, i)
        bits = bits_of(_variable_chunks(cells, i), len(found))
        wanted = {}
        for state, weights in expected.items():
            holds = {first_indicator[j] + s - 1 for j, s in zip(neighbours, state, strict=True) if s > 0}
            spans = ((conditionals.condition_start[f], conditionals.condition_start[f + 1]) for f in range(first, last))
            pattern = tuple(int(holds.issuperset(conditionals.conditions[a:b])) for a, b in spans)
            # Blanket states with the same features are different cells with the same z; sums do not care.
            key = wanted.setdefault(pattern, [])
            key.append([weights.get(s, 0.0) for s in range(n_states)])
        got: dict[tuple[int, ...], list[list[float]]] = {}
        for pattern, weights in zip(map(tuple, bits.tolist()), found, strict=True):
            got.setdefault(pattern, []).append(weights)
        assert got.keys() == wanted.keys()
        for pattern in wanted:
            np.testing.assert_allclose(sorted(got[pattern]), sorted(wanted[pattern]), atol=1e-12)


@given(problems())
@settings(max_examples=60)
def test_cells_are_those_of_a_dictionary(problem: tuple[UniqueRows, Canonical, np.ndarray]) -> None:
    """Patterns and weights of the cells of every variable equal those counted by blanket state."""
    rows, parameters, _ = problem
    _check_cells(rows, parameters)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("shape", SHAPES)
def test_cells_of_every_structure_on_every_shape(shape: str, structure: str, rng: np.random.Generator) -> None:
    """The named awkward cases."""
    rows = random_rows(rng, SHAPES[shape], 25)
    _check_cells(rows, Canonical(rows.domain, STRUCTURES[structure](len(rows.domain))))


def test_cells_of_more_than_one_block(rng: np.random.Generator) -> None:
    """Thousands of cells in a variable of three states and in one of two, which all others are joined to."""
    rows = random_rows(rng, (3, *(2,) * 11), 4000)
    parameters = Canonical(rows.domain, Structure.from_edges(12, [(0, 1), *product((0, 1), range(2, 12))]))
    assert min(len(_counts(ConditionalCells.count(rows, parameters), i)) for i in (0, 1)) > BLOCK
    _check_cells(rows, parameters)


@pytest.mark.parametrize("jobs", [2, 3, 100])
def test_counting_on_threads_gives_the_same_arrays(jobs: int, rng: np.random.Generator) -> None:
    """Bit for bit, for more jobs than variables too."""
    rows = random_rows(rng, SHAPES["mixed"], 100, fractional=True)
    parameters = Canonical(rows.domain, STRUCTURES["order 3"](4))
    alone, shared = (ConditionalCells.count(rows, parameters, jobs=n).arrays for n in (1, jobs))
    for mine, theirs in zip(alone, shared, strict=True):
        np.testing.assert_array_equal(mine, theirs)
