"""What the benchmarks run on: the 20 sets, and for each variable its d strongest mutual informations."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mrfit.data.coding import Reading
from mrfit.data.named import catalogue, find
from mrfit.data.readers import read_batches
from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical
from mrfit.structure.mutual_information import pairwise_mutual_information
from mrfit.structure.structure import Structure

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def pin_threads() -> None:
    """One thread for every library; they read these when they are first imported, so start over if need be."""
    if any(os.environ.get(name) != "1" for name in THREAD_VARIABLES):
        flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1"), "XLA_FLAGS": flags}
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)


def benchmark_names() -> list[str]:
    """The 20 density-estimation sets, in the order of the literature."""
    return [entry.name for entry in catalogue() if set(entry.splits) >= {"train", "valid", "test"}]


@dataclass(frozen=True)
class Problem:
    """A data set's training rows and a graph on its variables."""

    name: str

    @cached_property
    def rows(self) -> UniqueRows:
        return UniqueRows.from_batches(read_batches(find(self.name, "train")), Reading())

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


def best_seconds(call: Callable[[], object], *, at_least: float = 0.2, most: int = 200) -> float:
    """The fastest of several calls, after one that does not count: the machine is noisy, noise only adds."""
    call()
    best, spent, n = np.inf, 0.0, 0
    while (spent < at_least or n < 3) and n < most:
        begun = time.perf_counter()
        call()
        seconds = time.perf_counter() - begun
        best, spent, n = min(best, seconds), spent + seconds, n + 1
    return best


def geometric_mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def copy_bandwidth() -> float:
    """Bytes read and written a second by a plain copy of an array larger than any cache, 1e9."""
    source = np.random.default_rng(0).random(2**24)  # written pages: untouched zeros would share one
    target = source.copy()
    return 2 * source.nbytes / best_seconds(lambda: np.copyto(target, source)) / 1e9
