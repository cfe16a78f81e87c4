"""A table in parts, as far as the pseudo-likelihood needs it: by counts that merge, or by shards where they do not."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mrfit._typing import Floats
from mrfit.core.cluster import held, mapped, n_at_once
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.core.threads import resolve_jobs
from mrfit.data.partitioned_table import PartitionedTable
from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.conditional_loss import ConditionalLoss
from mrfit.objectives.counts.blanket_counts import BlanketCounts
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.objectives.gradient_products import pseudo_gradient_products
from mrfit.objectives.objective import Objective
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.objectives.row_scores import row_pll
from mrfit.objectives.sharded import Shard, Sharded
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.parameterization import Parameterization


class PartedRows(ABC):
    """Rows that are not held here, and what can be said of them all the same."""

    parts: PartitionedTable
    n_rows: int
    dropped_rows: int
    total_weight: float
    effective_rows: float
    state_weights: tuple[Floats, ...]  # of the states of every variable

    @property
    def domain(self) -> Domain:
        return self.parts.domain

    @property
    def notes(self) -> tuple[str, ...]:
        return self.parts.notes

    @property
    @abstractmethod
    def sha256(self) -> str:
        """Whether two models saw the same data."""

    @abstractmethod
    def objective(self, loss: type[ConditionalLoss], parameters: Canonical, *, jobs: int) -> Objective: ...

    @abstractmethod
    def mean_pll(self, parameters: Parameterization, w: Floats) -> float: ...

    @abstractmethod
    def gradient_products(self, parameters: Canonical, w: Floats) -> Floats:
        """The mean over rows of the outer products of their own gradients, (parameters, parameters)."""

    @abstractmethod
    def describe(self) -> str:
        """Return a description of how the table is stored, for people."""


Rows = UniqueRows | PartedRows


@dataclass(frozen=True)
class RowsSummary:
    """Numbers of rows and variables that something was learned from.

    ``dropped`` rows had missing or unknown values and are not among ``n_rows``. A table in parts does not know its
    distinct rows.
    """

    n_rows: int
    n_distinct_rows: int | None
    dropped: int
    n_variables: int

    @classmethod
    def of(cls, rows: Rows) -> RowsSummary:
        n_distinct = rows.n_distinct if isinstance(rows, UniqueRows) else None
        return cls(rows.n_rows, n_distinct, rows.dropped_rows, len(rows.domain))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def together(rows: Rows) -> UniqueRows:
    """The rows themselves, for what needs more of them than a table in parts can tell."""
    if isinstance(rows, UniqueRows):
        return rows
    raise InputError(
        "This needs all rows together, and the table is in parts. Read it as one (without --cluster and --in-parts; in "
        "Python UniqueRows.from_file), or learn by the pseudo-likelihood, with another penalty."
    )


@dataclass(frozen=True, eq=False)
class CountedRows(PartedRows):
    """Rows of a table in parts, as counts of the joint states of every variable and its neighbours."""

    parts: PartitionedTable
    counts: BlanketCounts
    n_rows: int
    dropped_rows: int
    effective_rows: float

    @property
    def total_weight(self) -> float:  # type: ignore[override]
        return self.counts.total_weight

    @property
    def sha256(self) -> str:
        return self.counts.sha256

    @property
    def state_weights(self) -> tuple[Floats, ...]:  # type: ignore[override]
        return self.counts.state_weights

    def objective(self, loss: type[ConditionalLoss], parameters: Canonical, *, jobs: int) -> Objective:
        return loss(ConditionalCells.from_counts(self.counts, parameters, jobs=jobs), jobs=jobs)

    def mean_pll(self, parameters: Parameterization, w: Floats) -> float:
        objective = self.objective(PseudoLikelihood, parameters.canonical, jobs=1)
        return -objective.value_and_gradient(parameters.to_canonical(w))[0]

    def gradient_products(self, parameters: Canonical, w: Floats) -> Floats:
        """Takes whole rows: one more pass over the files."""
        products = mapped(_products_of_part, self.parts.each(), shared=(parameters, w), name=PartitionedTable.called)
        return np.asarray(sum(products) / self.total_weight, np.float64)

    def describe(self) -> str:
        n_files, counts = len(self.parts.files), self.counts
        files = "the file" if n_files == 1 else f"{n_files:,} files"
        return f"Counts of {files} were merged: {counts.n_states:,} states, {counts.n_bytes:,} bytes."


class ShardedRows(PartedRows):
    """Rows of a table in parts, as shards of distinct rows that live where a worker holds them."""

    def __init__(self, parts: PartitionedTable) -> None:
        dealt = parts.dealt(n_at_once())
        self.parts, self.rows, self._n_shards = (
            parts,
            held(PartitionedTable.rows, dealt, name=PartitionedTable.called),
            len(dealt),
        )
        facts = self.rows.ask(_facts)
        self.n_rows, self.dropped_rows = sum(each.n_rows for each in facts), sum(each.dropped_rows for each in facts)
        self.total_weight = float(sum(each.total_weight for each in facts))
        # As `UniqueRows.merged` does.
        self.effective_rows = self.total_weight**2 / sum(each.total_weight**2 / each.effective_rows for each in facts)
        self.state_weights = tuple(sum(each) for each in zip(*(fact.state_weights for fact in facts), strict=True))
        self._digests = sorted(each.sha256 for each in facts)

    @cached_property
    def sha256(self) -> str:
        """Digest of the digests of all shards."""
        return (
            self._digests[0] if len(self._digests) == 1 else hashlib.sha256("".join(self._digests).encode()).hexdigest()
        )

    def objective(self, loss: type[ConditionalLoss], parameters: Canonical, *, jobs: int) -> Objective:
        return Sharded(self.rows.made(shard_of, loss, parameters))

    def mean_pll(self, parameters: Parameterization, w: Floats) -> float:
        return float(sum(self.rows.ask(_pll_sum, parameters, w))) / self.total_weight

    def gradient_products(self, parameters: Canonical, w: Floats) -> Floats:
        return np.asarray(sum(self.rows.ask(_products, parameters, w)) / self.total_weight, np.float64)

    def describe(self) -> str:
        n_files, n = len(self.parts.files), self._n_shards
        files, shards = "file" if n_files == 1 else "files", "shard" if n == 1 else "shards"
        return (
            f"Neighbours are so many that counts do not merge: rows were held in {n:,} {shards} of {n_files:,} {files}."
        )


# --- what workers do


@dataclass(frozen=True)
class _Facts:
    n_rows: int
    dropped_rows: int
    total_weight: float
    effective_rows: float
    state_weights: tuple[Floats, ...]
    sha256: str


def _facts(rows: UniqueRows) -> _Facts:
    return _Facts(
        rows.n_rows, rows.dropped_rows, rows.total_weight, rows.effective_rows, rows.state_weights, rows.sha256
    )


def shard_of(rows: UniqueRows, loss: type[ConditionalLoss], parameters: Canonical) -> Shard:
    jobs = resolve_jobs(-1)
    return Shard(loss(ConditionalCells.count(rows, parameters, jobs=jobs), jobs=jobs), rows.total_weight)


def _pll_sum(rows: UniqueRows, parameters: Parameterization, w: Floats) -> float:
    return float(rows.sample_weight @ row_pll(parameters, w, rows.codes, jobs=resolve_jobs(-1)))


def _products(rows: UniqueRows, parameters: Canonical, w: Floats) -> Floats:
    return pseudo_gradient_products(parameters, w, rows) * rows.total_weight


def _products_of_part(parameters: Canonical, w: Floats, part: PartitionedTable) -> Floats:
    return _products(part.rows(), parameters, w)
