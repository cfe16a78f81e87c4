"""Distinct rows of a table and their counts in every group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices
from mrfit.core.domain import Domain
from mrfit.core.errors import DataError, InputError, listed
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Rows of several groups, distinguished by a column that is not a variable.

    Parameters
    ----------
    by, labels
        The column, and its states that occur: the groups.
    rows
        Distinct rows of all groups together, without that column.
    counts
        Weights of the distinct rows in every group, (groups, distinct).
    members
        For persons with one row in each group: their distinct rows, (persons, groups).
    """

    by: str
    labels: tuple[str, ...]
    rows: UniqueRows
    counts: Floats
    members: Indices | None = None

    @classmethod
    def of(cls, rows: UniqueRows, by: str) -> GroupedRows:
        """Split a table by its column ``by``."""
        position, others = _columns(rows.domain, by)
        pooled = rows.on_columns(others)
        number = pooled.places_of(rows.codes[:, others])
        present, group = np.unique(rows.codes[:, position], return_inverse=True)
        counts = np.zeros((len(present), pooled.n_distinct))
        np.add.at(counts, (group, number), rows.sample_weight)
        labels = tuple(rows.domain[position].states[k] for k in present)
        _check_groups(by, labels, counts)
        return cls(by, labels, pooled, counts)

    @classmethod
    def paired(cls, dataset: Dataset, by: str, ids: object) -> GroupedRows:
        """Split rows by group, where each person in ``ids`` (one per row) has one row in every group."""
        names = np.asarray(ids).astype(str)
        if names.shape != (dataset.n_rows,):
            raise InputError(
                f"Each of the {dataset.n_rows:,} rows needs the name of its person; got an array of shape "
                f"{names.shape}."
            )
        if (dataset.sample_weight != 1).any():
            raise InputError("Rows with weights cannot be paired; give every row of every person once.")
        found = cls.of(UniqueRows.from_dataset(dataset), by)
        position, others = _columns(dataset.domain, by)
        states = dataset.domain[position].states
        group = np.array([found.labels.index(state) if state in found.labels else -1 for state in states])
        persons, person = np.unique(names, return_inverse=True)
        own = group[dataset.codes[:, position]]
        _check_pairs(persons, person, found.labels, own)
        members = np.empty((len(persons), len(found.labels)), np.int64)
        members[person, own] = found.rows.places_of(dataset.codes[:, others])
        return cls(by, found.labels, found.rows, found.counts, members)

    @property
    def sizes(self) -> Floats:
        """Weight of each group."""
        return np.asarray(self.counts.sum(axis=1), np.float64)

    def groups(self) -> list[UniqueRows]:
        """Return the rows of each group."""
        return [self.rows.reweighted(counts) for counts in self.counts]


def variables_beside(domain: Domain, by: str) -> Domain:
    """Return the domain without the group column."""
    return Domain(tuple(domain[i] for i in _columns(domain, by)[1]))


def _columns(domain: Domain, by: str) -> tuple[int, list[int]]:
    if by not in domain:
        raise InputError(f"There is no column {by!r} to define groups; the columns are {listed(domain.names)}.")
    if len(domain) < 3:
        raise InputError(f"Without {by!r} fewer than two columns are left; groups are compared by pairs of variables.")
    position = domain.index(by)
    return position, [i for i in range(len(domain)) if i != position]


def _check_groups(by: str, labels: tuple[str, ...], counts: Floats) -> None:
    if len(labels) < 2:
        raise DataError(f"Column {by!r} has one value, {labels[0]!r}; there is nothing to compare. Use another column.")
    small = [label for label, own in zip(labels, counts, strict=True) if np.count_nonzero(own) < 2]
    if small:
        raise DataError(
            f"All rows of the group {small[0]!r} of {by!r} are identical, so no network can be learned from it. Leave "
            "its rows out, or merge it with another group."
        )


def _check_pairs(persons: NDArray[np.str_], person: Indices, labels: tuple[str, ...], group: Indices) -> None:
    n_rows = np.zeros((len(persons), len(labels)), np.int64)
    np.add.at(n_rows, (person, group), 1)
    wrong = np.argwhere(n_rows != 1)
    if len(wrong):
        who, where = wrong[0]
        raise DataError(
            f"Person {str(persons[who])!r} has {n_rows[who, where]} rows in the group {labels[where]!r}; pairs need "
            "exactly one in each. Leave the person out, or compare without pairs."
        )
