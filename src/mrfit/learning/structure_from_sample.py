"""Structures of tables in parts: learned from a sample, and checked on all rows where that makes them exact.

At one l1 strength the regression of each variable is a convex problem, and whether a solution is one can be seen from
the gradients of all variables: one pass over the files, which returns as many numbers as there are pairs of states.
What a sample has missed shows there; it is added, and the regressions are solved again on the counts of all rows, until
nothing is missing. Then they are those of all rows together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Codes, Floats
from mrfit.core.cluster import mapped
from mrfit.core.errors import InputError
from mrfit.data.partitioned_table import FoldedRows, PartitionedTable
from mrfit.data.row_counter import RowCounter
from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.counts.blanket_counts import BlanketCounts
from mrfit.objectives.counts.part_counts import PartCounts, count_part
from mrfit.structures.base import LearnedStructure
from mrfit.structures.edge_weights import weight_of_coefficients
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.design_matrix import IndicatorTable
from mrfit.structures.nodewise.learners import L1Path
from mrfit.structures.nodewise.neighbours import Neighbours
from mrfit.structures.nodewise.observed_states import SeenStates
from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner
from mrfit.structures.nodewise.point_selection import FixedStrength, StrengthSelection
from mrfit.structures.nodewise.regressions import Regressions
from mrfit.structures.structure import Structure

_SMALL = 2**25  # bytes of files whose rows are all taken
_MOST_ROWS = 200_000  # of a sample: beyond that weak edges alone are gained
_ROWS_AT_ONCE = 2**13
_ROUNDS = 20


def learned_in_parts(
    learner: PairwiseLearner, parts: PartitionedTable, *, seed: int = 0, jobs: int = 1
) -> LearnedStructure:
    """Learn from a sample if there are many rows; then certify the result on all of them, or add a note."""
    sample, n_rows = sampled(parts, seed)
    if sample.n_rows == n_rows:
        return learner.learn(sample, jobs=jobs)
    has_tree = learner.include_chow_liu_tree
    if isinstance(learner, L1Path) and isinstance(learner.select, StrengthSelection) and not has_tree:
        return _certified(learner, learner.select, parts, sample, jobs=jobs)
    learned = learner.learn(sample, jobs=jobs)
    said = (
        f"Learned from a sample of {sample.n_rows:,} of {n_rows:,} rows and not checked on the others: coefficients of "
        f"balanced yes/no variables have errors of about {4.0 / np.sqrt(sample.n_rows):.2g}, and weaker ones may be "
        "missed. At one strength (--select strength or theory) the structure of all rows is found."
    )
    return replace(learned, remarks=(*learned.remarks, said))


# --- the sample


def sampled(parts: PartitionedTable, seed: int) -> tuple[UniqueRows, int]:
    """Rows drawn at random, as many from every file as its bytes are of all; and how many rows there are."""
    sizes = np.array([file.place.n_bytes for file in parts.files], np.float64)
    whole = sizes.sum() <= _SMALL
    quotas = [None if whole else int(np.ceil(_MOST_ROWS * size / sizes.sum())) for size in sizes]
    items = list(zip(range(len(quotas)), quotas, parts.each(), strict=True))
    found = mapped(_sample_of, items, shared=(seed,), name=lambda item: item[2].called())
    counter, n_rows = RowCounter(), 0
    for codes, weight, n in found:
        counter.add(codes, weight)
        n_rows += n
    packed = counter.result()
    rows = UniqueRows.from_codes(parts.domain, packed.codes(), packed.sample_weight)
    return replace(rows, n_rows=counter.n_rows, effective_rows=counter.independent.n_rows), n_rows


def _sample_of(seed: int, item: tuple[int, int | None, PartitionedTable]) -> tuple[Codes, Floats, int]:
    """Draw the rows of a part with the smallest random keys, and count all of its rows."""
    number, quota, part = item
    rng, rows = np.random.default_rng([seed, number]), FoldedRows(part)
    codes, weight, key = np.empty((0, len(part.domain)), np.uint8), np.empty(0), np.empty(0)
    for more, (weights,) in rows:
        codes, weight = np.concatenate([codes, more]), np.concatenate([weight, weights])
        key = np.concatenate([key, rng.random(len(more))])
        if quota is not None and len(key) > quota:
            kept = np.sort(np.argpartition(key, quota)[:quota])
            codes, weight, key = codes[kept], weight[kept], key[kept]
    return codes, weight, rows.n_rows


# --- all rows


@dataclass(frozen=True)
class _Solutions:
    """Regressions of all variables at one strength; a column is a state that occurs, but for the first of each."""

    coefficients: Floats  # (columns, columns): of the first in the regression of the second
    constants: Floats  # (columns,)
    first: NDArray[np.int64]  # column of each variable, and one more
    violation: float

    def group_norms(self, values: Floats) -> Floats:
        """Frobenius norm of each pair's table, (variables, variables); zero for variables that do not vary."""
        some = np.diff(self.first) > 0
        starts, norms = self.first[:-1][some], np.zeros((len(some), len(some)))
        squares = np.add.reduceat(np.add.reduceat(values * values, starts, axis=0), starts, axis=1)
        norms[np.ix_(some, some)] = np.sqrt(squares)
        return norms

    def edge_weights(self) -> Floats:
        """Edge weights of all variables (columns) in the regressions of all variables (rows)."""
        weights, first = self.group_norms(self.coefficients).T, self.first
        for i, j in np.argwhere(weights).tolist():
            weights[i, j] = weight_of_coefficients(self.coefficients[first[j] : first[j + 1], first[i] : first[i + 1]])
        return weights


def _certified(
    learner: L1Path, selection: StrengthSelection, parts: PartitionedTable, sample: UniqueRows, *, jobs: int
) -> LearnedStructure:
    pairs = AllowedPairs.of(parts.domain, require=learner.require, forbid=learner.forbid)
    n, rounds = len(parts.domain), 0
    whole, n_rows = _counted(parts, Structure.independent(n))
    strength = selection.strength_on(whole)
    at_sample = replace(learner, select=FixedStrength(strength * sample.total_weight / whole.total_weight))
    working = at_sample.learn(sample, jobs=jobs).structure.adjacency
    seen = SeenStates.of(whole)
    while True:
        rounds += 1
        counts, _ = _counted(parts, Structure.from_adjacency(working))
        solved = _solved(counts, seen, strength, learner.tolerance)
        gradients = mapped(_gradients, parts.each(), shared=(seen, solved), name=PartitionedTable.called)
        norms = solved.group_norms(np.sum(gradients, axis=0))
        missed = (norms > (1.0 + learner.tolerance) * strength) & ~working & ~pairs.forbidden
        if not missed.any():
            break
        if rounds == _ROUNDS:
            raise InputError(f"Regressions on all rows did not converge in {_ROUNDS} rounds; use a larger strength.")
        working |= missed | missed.T
    weights = solved.edge_weights()
    weights[pairs.forbidden] = 0.0
    neighbours = Neighbours.of_matrices(weights != 0, weights)
    structure = Structure.of_pairs(n, pairs.on(neighbours.edges(learner.rule)))
    said = (
        f"Learned from a sample of {sample.n_rows:,} rows and checked on all {n_rows:,}, {rounds} times: at "
        f"strength {strength:.4g} no edge is missing."
    )
    report = neighbours.report(sample, structure.edges)
    return LearnedStructure(structure, report, solved.violation / strength, (), (said,))


def _counted(parts: PartitionedTable, structure: Structure) -> tuple[BlanketCounts, int]:
    """Count the joint states of every variable and its neighbours over all rows; also return the number of rows."""
    numbered = list(enumerate(parts.each()))
    found = mapped(count_part, numbered, shared=(structure, 0, 0), name=lambda each: each[1].called())
    merged = PartCounts.merged(found)
    return merged.folds[0], merged.n_rows


def _solved(counts: BlanketCounts, seen: SeenStates, strength: float, tolerance: float) -> _Solutions:
    """Each variable's regression on its neighbours, from counts."""
    first = np.concatenate([[0], np.cumsum(np.array(seen.domain.shape) - 1)])
    coefficients, constants, violation = np.zeros((first[-1], first[-1])), np.zeros(first[-1]), 0.0
    for i, columns in enumerate(counts.columns):
        table = IndicatorTable.of(counts.rows_of(i))
        for regression in Regressions(table, [i]).all:
            neighbours = columns[(columns != i) & (table.widths[columns] > 0)]
            regression.solve(table, neighbours, strength, tolerance * strength)
            violation = max(violation, regression.violation)
            own = slice(first[i], first[i + 1])
            constants[own] = regression.coefficients[0]
            for j in neighbours.tolist():
                there = table.indicators.group_start[j] + np.arange(table.widths[j])
                coefficients[first[j] : first[j + 1], own] = regression.coefficients[1 + there]
    return _Solutions(coefficients, constants, first, violation)


def _gradients(seen: SeenStates, solved: _Solutions, part: PartitionedTable) -> Floats:
    """Gradient of all coefficients in all regressions over the rows of some files, (columns, columns)."""
    total = np.zeros_like(solved.coefficients)
    owner = np.repeat(np.arange(len(seen.domain)), np.diff(solved.first))
    state = 1 + np.arange(len(owner)) - solved.first[owner]
    widths = np.diff(solved.first)
    starts, widths = solved.first[:-1][widths > 0], widths[widths > 0]
    for codes, (sample_weight,) in FoldedRows(part):
        places = np.stack([position[codes[:, i]] for i, position in enumerate(seen.position)], axis=1)
        for low in range(0, len(codes), _ROWS_AT_ONCE):
            block, weight = places[low : low + _ROWS_AT_ONCE], sample_weight[low : low + _ROWS_AT_ONCE]
            on = (block[:, owner] == state).astype(np.float64)  # (rows, columns)
            odds = np.exp(on @ solved.coefficients + solved.constants)
            sums = np.repeat(1.0 + np.add.reduceat(odds, starts, axis=1), widths, axis=1)
            total += on.T @ ((odds / sums - on) * weight[:, None])
    return total
