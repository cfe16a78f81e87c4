"""Seconds to learn one network from a bootstrap sample, measured on some columns of the table."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log

import numpy as np

from mrfit.analysis.stability.resamples import bootstrap
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows

_FIRST = 8  # columns
_ENOUGH = 1.0  # seconds: a longer measurement says enough
_MOST_SAMPLES = 20  # of a quick learner, some of whose networks may take much longer than others
_FEW_ROWS = 50  # for the first run, which loads the compiled code
_POWER, _LEAST, _MOST = 2.0, 1.0, 3.0  # of the number of columns, with which seconds grow


def network_seconds(
    learn: Callable[[UniqueRows], object], rows: UniqueRows, *, seed: int = 0, clock: Callable[[], float] | None = None
) -> float | None:
    """Return the processor seconds of ``learn`` on a bootstrap sample of ``rows``; None where it cannot learn.

    It is measured on 8 random columns, on twice as many and so on, until a measurement takes a second or has all
    columns. What is left is extrapolated. Where all columns are quick, other samples are measured too until they take
    a second together, and the mean counts: regressions that separate take many times longer than others.
    """
    rng, clock = np.random.default_rng(seed), clock or time.process_time

    def drawn() -> UniqueRows:
        return rows.reweighted(bootstrap(rows, 1, rng)[0])

    def seconds(part: UniqueRows) -> float:
        begun = clock()
        learn(part)
        return clock() - begun

    sample, n = drawn(), len(rows.domain)
    columns, k, measured = rng.permutation(n), min(_FIRST, n), list[tuple[int, float]]()
    try:
        learn(_part(sample, columns[:k], _FEW_ROWS))
        while True:
            measured.append((k, seconds(_part(sample, columns[:k], sample.n_distinct))))
            if measured[-1][1] >= _ENOUGH:
                return extrapolated(measured, n)
            if k == n:
                break
            k = min(2 * k, n)
        found = [measured[-1][1]]
        while sum(found) < _ENOUGH and len(found) < _MOST_SAMPLES:
            found.append(seconds(drawn()))
        return sum(found) / len(found)
    except InputError:  # the command itself reports it, and what to do about it
        return None


def extrapolated(measured: Sequence[tuple[int, float]], n: int) -> float:
    """Return the seconds for ``n`` columns from pairs of columns and seconds, by how the last two grew."""
    (before, shorter), (k, longer) = measured[max(len(measured) - 2, 0)], measured[-1]
    power = _POWER
    if before < k and shorter > 0 and longer > 0:
        power = min(max(log(longer / shorter) / log(k / before), _LEAST), _MOST)
    return float(longer * (n / k) ** power)


def _part(rows: UniqueRows, columns: Sequence[int] | np.ndarray, n_rows: int) -> UniqueRows:
    """Some columns of the first rows. Rows that are then equal stay apart: whole tables have as many."""
    chosen = np.sort(np.asarray(columns, np.int64))
    weight = rows.sample_weight[:n_rows].copy()
    return replace(
        rows,
        domain=Domain(tuple(rows.domain[i] for i in chosen.tolist())),
        codes=np.ascontiguousarray(rows.codes[:n_rows][:, chosen]),
        sample_weight=weight,
        n_rows=min(rows.n_rows, n_rows) if n_rows < rows.n_distinct else rows.n_rows,
        effective_rows=float(weight.sum()),
    )
