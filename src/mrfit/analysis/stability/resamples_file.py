"""Resamples that somebody else drew, from a CSV file."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError, listed
from mrfit.data.unique_rows import UniqueRows

COUNT = "count"  # a column of this name is that of the table, and no resample


def read_resamples(path: str | Path, rows: UniqueRows) -> NDArray[np.float64]:
    """Read how often each distinct row occurs in each resample, (resamples, distinct rows).

    A line for each distinct row: its states in columns named as the variables, and a column for each resample. Rows
    that have no line occur in none.
    """
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            header, *lines = list(csv.reader(file)) or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"Cannot read the resamples file {str(path)!r}: {reason}.") from error
    absent = [name for name in rows.domain.names if name not in header]
    if absent:
        raise InputError(f"The resamples file {str(path)!r} has no column {absent[0]!r}; it needs all variables.")
    chosen = [k for k, name in enumerate(header) if name not in rows.domain.names and name != COUNT]
    if not chosen:
        raise InputError(f"The resamples file {str(path)!r} has only columns of variables; add one for each resample.")
    variables = [header.index(name) for name in rows.domain.names]
    number = {row: k for k, row in enumerate(map(tuple, rows.codes.tolist()))}
    weights = np.zeros((len(chosen), rows.n_distinct))
    for place, line in enumerate(lines, 2):
        if len(line) != len(header):
            raise InputError(f"{path}, line {place}: {len(line)} fields where {len(header)} were expected.")
        row = _codes(rows.domain, [line[k] for k in variables], f"{path}, line {place}")
        if row not in number:
            states = listed([line[k] for k in variables], limit=20)
            raise InputError(f"{path}, line {place}: the row {states} is not in the data; resample rows that are.")
        try:
            weights[:, number[row]] += [float(line[k]) for k in chosen]
        except ValueError as error:
            raise InputError(f"{path}, line {place}: {error}; expected how often the row occurs.") from None
    return weights


def _codes(domain: Domain, states: list[str], where: str) -> tuple[int, ...]:
    for variable, state in zip(domain, states, strict=True):
        if state not in variable.codes:
            known = listed(variable.states)
            raise InputError(f"{where}: {state!r} is no state of {variable.name!r}, which has {known}.")
    return tuple(variable.codes[state] for variable, state in zip(domain, states, strict=True))
