"""Checkpoint file of the networks of resamples: an interrupted run continues from it."""

from __future__ import annotations

import base64
import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.data.unique_rows import UniqueRows
from mrfit.formats.jsonl import LineFile, LineKind
from mrfit.learning.serialization import SHORT, learner_digest
from mrfit.learning.versions import versions

# Weights of all pairs in some resamples, NaN where learning failed; and why it did, how often.
Learned = tuple[Floats, dict[str, int]]

_KIND = LineKind("mrfit_resamples", ("resamples",), "another file")
_SECONDS = 1.0  # that a kill may cost, for each processor


class KeptResamples:
    """A file with a line for every few resamples, and before them one that says what they are resamples of."""

    def __init__(self, shape: tuple[int, int], file: LineFile) -> None:
        self._file = file
        self.weights, self.is_known = np.full(shape, np.nan), np.zeros(shape[0], bool)
        self.failures: Counter[str] = Counter()
        for line in file.lines[1:]:
            weights = np.frombuffer(base64.b64decode(line["weights"])).reshape(-1, shape[1])
            self._take(np.array(line["resamples"]), weights, line["failures"])

    @classmethod
    @contextmanager
    def opened(
        cls, path: str | Path, learner: Any, rows: UniqueRows, resamples: Floats, n_pairs: int
    ) -> Iterator[KeptResamples]:
        """Open the file to append to it; refuse one of another learner, table or set of resamples."""
        with LineFile.of_run(Path(path), _KIND, _settings(learner, rows, resamples)) as file:
            yield cls((len(resamples), n_pairs), file)

    def complete(self, learn: Callable[[Indices], Learned], *, jobs: int = 1) -> Learned:
        """Learn from the resamples that are missing, a few more at once until that takes a second."""
        missing, n = np.flatnonzero(~self.is_known), jobs
        while len(missing):
            some, missing = missing[:n], missing[n:]
            begun = time.perf_counter()
            weights, failures = learn(some)
            n *= 2 if time.perf_counter() - begun < _SECONDS else 1
            packed = base64.b64encode(np.ascontiguousarray(weights).tobytes()).decode()
            self._file.add({"resamples": some.tolist(), "weights": packed, "failures": failures})
            self._take(some, weights, failures)
        return self.weights, dict(self.failures)

    def _take(self, some: Indices, weights: Floats, failures: dict[str, int]) -> None:
        self.weights[some], self.is_known[some] = weights, True
        self.failures.update(failures)


def _settings(learner: Any, rows: UniqueRows, resamples: Floats) -> dict[str, str]:
    """All that decides what is learned, in short."""
    return {
        "version": versions()["mrfit"],
        "learner": learner_digest(learner),
        "table": rows.sha256[:SHORT],
        "resamples": hashlib.sha256(np.ascontiguousarray(resamples, np.float64).tobytes()).hexdigest()[:SHORT],
    }
