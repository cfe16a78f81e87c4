"""Rows compressed to the cells that the pseudo-likelihood depends on.

The conditional of a variable depends on a row only through the states of the variable's Markov blanket. A *cell* is
one such state with the weight of its rows, by state of the variable. Cells of different variables are independent, so
they are built and swept variable by variable, on as many threads as there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.data.partition import count_cells, feature_members, refine, representatives
from mrfit._kernels.fitting.cells import BLOCK, CellArrays
from mrfit._kernels.fitting.prefix_tree import MAX_NODES, NODE_COST, grow
from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.core.threads import deal, run
from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.counts.blanket_counts import BlanketCounts
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.conditionals import Conditionals


@dataclass(frozen=True)
class ConditionalCells:
    """Rows compressed to the cells that conditional distributions depend on.

    A cell is one state of a variable's Markov blanket, with the weight of its rows by state of the variable. Make one
    with `count`.

    Parameters
    ----------
    arrays : record
        Cells of all variables as flat arrays, for the compiled pass.
    parameter_of_slot : int array
        Parameter of each feature of each variable's conditional distribution.
    n_parameters : int
        Number of parameters of the model.
    total_weight : float
        Weight of all rows.

    See Also
    --------
    PseudoLikelihood : An objective over cells.
    UniqueRows : The rows before they are compressed.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.objectives import ConditionalCells
    >>> from mrfit.parameterizations import Canonical
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> rows = mrfit.UniqueRows.of(table)
    >>> parameters = Canonical(rows.domain, mrfit.Structure.complete(2))
    >>> cells = ConditionalCells.count(rows, parameters)
    >>> cells.n_cells, cells.n_variables, cells.total_weight
    (4, 2, 6.0)
    """

    arrays: CellArrays
    parameter_of_slot: NDArray[np.int64]
    n_parameters: int
    total_weight: float

    @classmethod
    def count(cls, rows: UniqueRows, parameters: Canonical, *, jobs: int = 1) -> ConditionalCells:
        """Count the cells of rows under the structure of parameters.

        Parameters
        ----------
        rows : UniqueRows
            Complete rows in the domain of the parameters.
        parameters : Canonical
            Coordinates with the first states as reference; their structure determines the Markov blankets.
        jobs : int, default 1
            Number of threads that count, variable by variable.

        Returns
        -------
        ConditionalCells
        """
        conditionals = parameters.conditionals
        n_active = np.diff(rows.active.start).astype(np.float64)
        work = np.concatenate([[0.0], np.cumsum(n_active[conditionals.conditions])])
        cost = np.diff(work[conditionals.condition_start[conditionals.feature_start]]) + rows.n_distinct
        parts = run(
            lambda first, last: [_count_variable(i, rows, parameters) for i in range(first, last)],
            deal(cost, jobs),
        )
        return cls._of_variables([cells for part in parts for cells in part], parameters, rows.total_weight)

    @classmethod
    def from_counts(cls, counts: BlanketCounts, parameters: Canonical, *, jobs: int = 1) -> ConditionalCells:
        """Return the cells of rows that were counted before, under their structure or one within it.

        They are those of `count` in another order, so sums may differ in their last digits.

        Parameters
        ----------
        counts : record
            Counts of each variable's states by state of its Markov blanket, as workers of a cluster return them.
        parameters : Canonical
            Coordinates of the model, over the domain of the counts.
        jobs : int, default 1
            Number of threads that build cells.

        Returns
        -------
        ConditionalCells

        Raises
        ------
        MrfitError
            If the structure joins variables that were not counted together.
        """
        _check_counted(counts, parameters)
        cost = np.array([len(states) for states in counts.states], np.float64)
        parts = run(
            lambda first, last: [_count_variable(i, counts.rows_of(i), parameters) for i in range(first, last)],
            deal(cost, jobs),
        )
        return cls._of_variables([cells for part in parts for cells in part], parameters, counts.total_weight)

    @classmethod
    def _of_variables(cls, cells: list[_VariableCells], parameters: Canonical, total_weight: float) -> ConditionalCells:
        conditionals = parameters.conditionals
        return cls(
            arrays=_joined(cells, conditionals),
            parameter_of_slot=conditionals.parameter_of_slot,
            n_parameters=parameters.n_parameters,
            total_weight=total_weight,
        )

    @property
    def n_cells(self) -> int:
        """Number of cells of all variables."""
        return int(self.arrays.cell_start[-1])

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.arrays.n_free)

    @cached_property
    def cost(self) -> Floats:
        """Work of one pass by variable, in units of about a nanosecond."""
        a = self.arrays
        lookups = np.diff(a.chunk_start) * np.diff(a.cell_start)
        nodes = np.diff(a.node_start[a.chunk_start])
        elementwise = 2.2 * np.diff(a.cell_start)
        return np.asarray(a.n_free * (elementwise + 0.8 * (lookups + NODE_COST * nodes)), np.float64)

    @property
    def n_lookups(self) -> int:
        """Number of table lookups of one matrix product, one for each cell and chunk of features."""
        return len(self.arrays.codes)

    @property
    def n_bytes(self) -> int:
        """Memory of all arrays, in bytes."""
        return sum(array.nbytes for array in self.arrays)


class _Chunk(NamedTuple):
    """Some features of a variable: the node of every cell, the parent of every node, the nodes of every feature."""

    codes: NDArray[np.uint16]
    parent: NDArray[np.uint16]
    runs: NDArray[np.int32]


@dataclass(frozen=True)
class _VariableCells:
    total: Floats
    counts: Floats
    chunks: list[_Chunk]


def _check_counted(counts: BlanketCounts, parameters: Canonical) -> None:
    """Refuse a model whose conditionals depend on columns that were not counted together."""
    if parameters.domain != counts.domain:
        raise InputError(
            "The counts are of another domain than the model; count the rows with the domain of the model."
        )
    edges = parameters.structure.edges
    if not counts.structure.adjacency[edges[:, 0], edges[:, 1]].all():
        raise InputError(
            "The structure joins variables that were not counted together; count the rows with this structure or one "
            "that contains it."
        )


def _count_variable(variable: int, rows: UniqueRows, parameters: Canonical) -> _VariableCells:
    conditionals = parameters.conditionals
    n_free = int(conditionals.n_free[variable])
    if n_free == 0:
        return _VariableCells(np.empty(0), np.empty(0), [])
    first, last = conditionals.feature_start[variable], conditionals.feature_start[variable + 1]
    span = conditionals.condition_start[first : last + 1]
    conditions = conditionals.conditions[span[0] : span[-1]]
    indicators = np.unique(conditions)
    active, own, sample_weight = rows.seen_by(variable, indicators)
    class_of = np.empty(len(sample_weight), np.int32)
    n_cells = refine(active.start, active.rows, indicators, class_of)
    class_of = _scattered(n_cells)[class_of]
    total, counts = np.empty(n_cells), np.empty(n_cells * n_free)
    count_cells(class_of, own, sample_weight, BLOCK, total, counts)
    representative = np.empty(n_cells, np.int64)
    representatives(class_of, representative)
    member_start = np.empty(last - first + 1, np.int64)
    lists = (active.start, active.rows, span - span[0], conditions, class_of, representative, member_start)
    members = np.empty(feature_members(*lists, np.empty(0, np.int32)), np.int32)
    feature_members(*lists, members)
    return _VariableCells(total, counts, _chunks(member_start, members, n_cells))


def _scattered(n_cells: int) -> NDArray[np.int32]:
    """Return an order in which successive cells differ: steps of the golden section around the circle of cells.

    Refinement gives similar cells neighbouring numbers. Two successive additions into the same tree node would wait for
    each other (about eight cycles until the first reaches memory); in this order, additions overlap.
    """
    step = max(1, round(0.618 * n_cells))
    while gcd(step, n_cells) > 1:
        step += 1
    return (np.arange(n_cells) * step % max(n_cells, 1)).astype(np.int32)


def _chunks(member_start: NDArray[np.int64], members: NDArray[np.int32], n_cells: int) -> list[_Chunk]:
    """Cut the features into chunks, and store each as a prefix tree with one code a cell."""
    code = np.empty(n_cells, np.int32)
    parent, runs = np.empty(MAX_NODES, np.int32), np.empty(len(member_start), np.int32)
    chunks, end = [], 0
    while end < len(member_start) - 1:
        first, end = end, grow(member_start, members, end, n_cells, code, parent, runs)
        used = runs[: end - first + 1].copy()
        chunks.append(_Chunk(code.astype(np.uint16), parent[: used[-1]].astype(np.uint16), used))
    return chunks


def _joined(cells: list[_VariableCells], conditionals: Conditionals) -> CellArrays:
    """Concatenate the cells of all variables."""
    chunks = [chunk for variable in cells for chunk in variable.chunks]
    return CellArrays(
        n_free=conditionals.n_free,
        n_features=np.diff(conditionals.feature_start),
        cell_start=_starts([len(variable.total) for variable in cells]),
        count_start=_starts([len(variable.counts) for variable in cells]),
        total=_flat([variable.total for variable in cells], np.float64),
        counts=_flat([variable.counts for variable in cells], np.float64),
        chunk_start=_starts([len(variable.chunks) for variable in cells]),
        node_start=_starts([len(chunk.parent) for chunk in chunks]),
        parent=_flat([chunk.parent for chunk in chunks], np.uint16),
        run_start=_starts([len(chunk.runs) for chunk in chunks]),
        runs=_flat([chunk.runs for chunk in chunks], np.int32),
        code_start=_starts([len(chunk.codes) for chunk in chunks]),
        codes=_flat([chunk.codes for chunk in chunks], np.uint16),
        slot_start=conditionals.slot_start,
    )


def _starts(lengths: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))])


def _flat(parts: list[NDArray[np.generic]], dtype: type) -> NDArray[np.generic]:
    return np.concatenate(parts) if parts else np.empty(0, dtype)
