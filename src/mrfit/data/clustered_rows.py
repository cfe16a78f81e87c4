"""Rows in clusters, such as all answers of one person or all pupils of one school."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows


@dataclass(frozen=True, eq=False)
class ClusteredRows:
    """Distinct rows and their counts in every cluster, (clusters, distinct); resampling draws clusters, not rows."""

    rows: UniqueRows
    counts: csr_array

    @classmethod
    def of(cls, dataset: Dataset, ids: Sequence[object]) -> ClusteredRows:
        """Group the rows of a dataset by their cluster ids."""
        names = np.asarray(ids).astype(str)
        if names.shape != (dataset.n_rows,):
            raise InputError(
                f"Each of the {dataset.n_rows:,} rows needs the name of its cluster; got an array of shape "
                f"{names.shape}."
            )
        clusters, number = np.unique(names, return_inverse=True)
        if len(clusters) < 2:
            raise InputError("All rows belong to one cluster, so clusters cannot be resampled; use another column.")
        rows = UniqueRows.from_dataset(dataset)
        entries = dataset.sample_weight, (number, rows.places_of(dataset.codes))
        return cls(rows, csr_array(entries, shape=(len(clusters), rows.n_distinct)))

    @property
    def n_distinct(self) -> int:
        """Number of clusters, the units that resampling draws."""
        return int(self.counts.shape[0])

    @property
    def sample_weight(self) -> Floats:
        return np.ones(self.n_distinct)

    @property
    def total_weight(self) -> float:
        return float(self.n_distinct)

    @property
    def effective_rows(self) -> float:
        return self.total_weight

    def weights(self, drawn: Floats) -> Floats:
        """Return the weights of the distinct rows if each cluster is drawn ``drawn`` times, (resamples, clusters)."""
        return np.asarray(drawn @ self.counts, np.float64)
