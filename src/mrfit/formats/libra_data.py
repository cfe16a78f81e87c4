"""Tables of the Libra toolkit: data, evidence and queries, schemas, marginals.

    0.5|0,1,*        data: states between commas, * where unknown, a weight in front of | if it is not one
    2,2,3            schema: numbers of states
    0.25 0.75        marginals: a line for each variable, an empty line between the answers to two rows of evidence

To learn from a ``.data`` file, pass it to `mrfit.learn` or ``mrfit fit``, which read tables through `mrfit.data`. This
module reads files that belong to a model: rows of evidence and queries, whose states are already numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.core.errors import InputError
from mrfit.formats.input_file import read_input
from mrfit.formats.tokens import Tokens


@dataclass(frozen=True, eq=False)
class LibraRows:
    """Rows of states, -1 where unknown, shape (rows, variables), and the weight of each row."""

    codes: Indices
    sample_weight: Floats


def read_rows(path: str | Path, shape: Sequence[int]) -> LibraRows:
    """Read data, evidence or queries over variables with the given numbers of states."""
    name = Path(path).name
    lines = read_input(path).split(b"\n")
    rows, weights = [], []
    for number, line in enumerate(lines, 1):
        if line.strip():
            weight, bar, states = line.rpartition(b"|")
            weights.append(_weight(weight, number, name) if bar else 1.0)
            rows.append(_row(states.split(b","), shape, number, name))
    codes = np.array(rows, np.int64).reshape(len(rows), len(shape))
    return LibraRows(codes, np.array(weights, np.float64))


def rows_bytes(rows: LibraRows) -> bytes:
    """Return the content of a file of data, evidence or queries; weights of 1 are omitted."""
    lines = []
    for codes, weight in zip(rows.codes.tolist(), rows.sample_weight.tolist(), strict=True):
        states = ",".join("*" if code < 0 else str(code) for code in codes)
        lines.append(states if weight == 1 else f"{weight!r}|{states}")
    return "\n".join([*lines, ""]).encode()


def read_schema(path: str | Path) -> tuple[int, ...]:
    """Read the numbers of states."""
    return schema_of(read_input(path), Path(path).name)


def schema_of(line: bytes, name: str) -> tuple[int, ...]:
    """Parse the numbers of states from their line."""
    tokens = Tokens(line.replace(b",", b" "), name)
    shape = tuple(tokens.integers(max(tokens.n_left, 1), "the number of states of a variable", least=1))
    tokens.finish()
    return shape


def schema_bytes(shape: Sequence[int]) -> bytes:
    return (",".join(map(str, shape)) + "\n").encode()


def read_marginals(path: str | Path) -> tuple[tuple[Floats, ...], ...]:
    """Read the probabilities of the states of every variable, for each row of evidence."""
    name = Path(path).name
    answers: list[list[Floats]] = [[]]
    for number, line in enumerate(read_input(path).split(b"\n"), 1):
        if not line.strip():
            answers.append([])
            continue
        try:
            answers[-1].append(np.array(list(map(float, line.split()))))
        except ValueError:
            raise InputError(
                f"{name!r}, line {number}: {line[:40]!r} is wrong; expected the probabilities of a variable's states."
            ) from None
    return tuple(tuple(answer) for answer in answers if answer)


def marginals_bytes(answers: Sequence[Sequence[Floats]]) -> bytes:
    texts = ["".join(" ".join(map(repr, np.asarray(p).tolist())) + "\n" for p in answer) for answer in answers]
    return "\n".join(texts).encode()


def _weight(text: bytes, number: int, name: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise InputError(f"{name!r}, line {number}: the weight {text!r} is wrong; expected a finite number, 0 or more.")
    return weight


def _row(fields: list[bytes], shape: Sequence[int], number: int, name: str) -> list[int]:
    if len(fields) != len(shape):
        raise InputError(
            f"{name!r}, line {number} has {len(fields)} states; expected {len(shape)}, one for each variable."
        )
    row = []
    for i, (field, c) in enumerate(zip(fields, shape, strict=True)):
        text = field.strip()
        if text == b"*":
            row.append(-1)
        elif text.isdigit() and len(text) < 18 and int(text) < c:
            row.append(int(text))
        else:
            shown = text[:40].decode("utf-8", "backslashreplace")
            raise InputError(
                f"{name!r}, line {number}, variable {i}: {shown!r} is wrong; expected a state 0 to {c - 1}, or * where "
                "it is unknown. Correct the file."
            )
    return row
