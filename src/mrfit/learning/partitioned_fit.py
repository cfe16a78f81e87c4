"""Fit problems from a table in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mrfit.core.cluster import mapped, n_at_once
from mrfit.core.errors import InputError
from mrfit.data.partitioned_table import PartitionedTable
from mrfit.learning.cross_validation import FoldProblem
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.partitioned_rows import CountedRows, PartedRows, ShardedRows
from mrfit.objectives.counts.blanket_counts import BlanketCounts, has_small_tables
from mrfit.objectives.counts.part_counts import PartCounts, count_part
from mrfit.structures.base import LearnedStructure
from mrfit.structures.structure import Structure

if TYPE_CHECKING:
    from mrfit.learning.learner import Learner

_MOST_STATES = 0.1  # of rows times variables: counts of more hardly merge


def problems_in_parts(
    learner: Learner, parts: PartitionedTable, *, jobs: int
) -> tuple[LearnedStructure, FitProblem, list[FoldProblem]]:
    """The problem of all rows, and those of the folds of a cross-validation; one pass over the files counts for all."""
    if learner.folds and learner.judge not in (None, learner.objective.measure):
        raise InputError(
            f"Folds of a table in parts are scored from counts, which give {learner.objective.measure} only; "
            f"{learner.judge} needs whole rows. Give validation rows, or leave the judge out."
        )
    learned = learner.learn_structure_in_parts(parts, jobs=jobs)
    own, *of_folds = [each.structure for each in learned]
    learner.penalty.check_free_orders(own)
    rows, folds = observed_in_parts(parts, _union(own, of_folds), learner.folds, learner.seed)
    problem = FitProblem.within(rows, own, learner, jobs=jobs)
    problems = [
        FoldProblem(FitProblem.within(train, structure, learner, jobs=jobs), held_out)
        for structure, (train, held_out) in zip(of_folds, folds, strict=True)
    ]
    said = replace(learned[0], remarks=(*learned[0].remarks, rows.describe()))
    return said, problem, problems


def _union(own: Structure, others: Sequence[Structure]) -> Structure:
    """Return the union of the structures: its counts serve each of them."""
    if all(other == own for other in others):
        return own
    pairs = np.unique(np.concatenate([own.edges, *(other.edges for other in others)]), axis=0)
    return Structure.from_edges(own.n_variables, pairs.tolist())


def observed_in_parts(
    parts: PartitionedTable, structure: Structure, n_folds: int = 0, seed: int = 0
) -> tuple[PartedRows, list[tuple[CountedRows, CountedRows]]]:
    """Counts where they merge, which the first file tells, else shards; and train and held-out rows of every fold."""
    counted = _counted(parts, structure, n_folds, seed)
    if counted is None:
        if n_folds:
            raise InputError(
                "Variables have so many neighbours that this table in parts cannot be stored as counts, which "
                "folds need. Give validation rows instead, or use a sparser structure."
            )
        return ShardedRows(parts), []
    whole = BlanketCounts.merged(counted.folds)
    share = counted.independent.n_rows / whole.total_weight

    def rows_of(counts: BlanketCounts) -> CountedRows:
        is_whole = counts is whole
        n_rows = counted.n_rows if is_whole else round(counted.n_rows * counts.total_weight / whole.total_weight)
        return CountedRows(parts, counts, n_rows, counted.dropped_rows if is_whole else 0, share * counts.total_weight)

    folds = []
    for k in range(n_folds):
        others = BlanketCounts.merged([fold for i, fold in enumerate(counted.folds) if i != k])
        folds.append((rows_of(others), rows_of(counted.folds[k].checked())))
    return rows_of(whole), folds


def _counted(parts: PartitionedTable, structure: Structure, n_folds: int, seed: int) -> PartCounts | None:
    """Count all files; None if the first shows nearly as many joint states as rows, which counts hardly merge."""
    numbered = list(enumerate(parts.each()))
    first: list[PartCounts] = []
    if not has_small_tables(parts.domain.shape, structure):
        first = _counts(structure, n_folds, seed, numbered[:1])
        n_states = BlanketCounts.merged(first[0].folds).n_states
        if n_states > _MOST_STATES * first[0].n_rows * len(parts.domain):
            return None
    return PartCounts.merged([*first, *_counts(structure, n_folds, seed, numbered[len(first) :])])


def _counts(
    structure: Structure, n_folds: int, seed: int, numbered: list[tuple[int, PartitionedTable]]
) -> list[PartCounts]:
    return mapped(
        count_part, numbered, shared=(structure, n_folds, seed), jobs=n_at_once(), name=lambda each: each[1].called()
    )
