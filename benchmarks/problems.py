"""Problems of the benchmarks: the 20 sets, and for each variable its d strongest mutual informations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from mrfit.core.domain import Domain
from mrfit.data.encoding import ParseOptions
from mrfit.data.named_datasets import catalogue, find
from mrfit.data.readers import read_batches
from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.mutual_information import pairwise_mutual_information
from mrfit.structures.structure import Structure


def benchmark_names() -> list[str]:
    """The 20 density-estimation sets, in the order of the literature."""
    return [entry.name for entry in catalogue() if set(entry.splits) >= {"train", "valid", "test"}]


@dataclass(frozen=True)
class Problem:
    """A data set's training rows and a graph on its variables."""

    name: str

    @cached_property
    def rows(self) -> UniqueRows:
        return UniqueRows.from_batches(read_batches(find(self.name, "train")), ParseOptions())

    @cached_property
    def _information(self) -> np.ndarray:
        information = pairwise_mutual_information(self.rows)
        np.fill_diagonal(information, -1.0)
        return information

    def neighbour_graph(self, degree: int) -> np.ndarray:
        """An edge where either end is among the other's ``degree`` strongest, as a 0/1 matrix."""
        n = len(self._information)
        graph = np.zeros((n, n), bool)
        strongest = np.argsort(-self._information, axis=1, kind="stable")[:, : min(degree, n - 1)]
        np.put_along_axis(graph, strongest, True, axis=1)
        np.fill_diagonal(graph, False)
        return graph | graph.T

    def parameters(self, graph: np.ndarray) -> Canonical:
        return Canonical(self.rows.domain, Structure.from_adjacency(graph))


@lru_cache(maxsize=1)
def problem(name: str) -> Problem:
    """Return the problem of a set; the same object for all cases of that set in a row."""
    return Problem(name)


def rows_of(name: str, part: str, domain: Domain) -> UniqueRows:
    """Rows of a part of a set, coded by the domain of another part."""
    return UniqueRows.from_file(find(name, part), ParseOptions(domain))
