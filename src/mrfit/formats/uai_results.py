"""Answers in the formats of the UAI competitions: a task on the first line, then its solution.

    PR    log of the sum over all states, to base 10 in the competition and e in merlin
    MAR   how many variables, then for each how many states and their probabilities
    MAP   how many variables, then their states (MPE is the same)
    MMAP  how many variables, then variable and state of each

Anytime programs write ``-BEGIN-`` between successive solutions; the last one counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.core.rounding import in_file
from mrfit.formats.input_file import read_input
from mrfit.formats.tokens import Tokens

_BEGIN = b"-BEGIN-"


def read_pr(path: str | Path, *, base: float = 10.0) -> float:
    """Read log Z and convert it to a natural logarithm from its base: 10, or math.e for merlin's files."""
    tokens = _solution(path, "PR")
    (value,) = tokens.numbers(1, "log Z").tolist()
    tokens.finish()
    return float(value) * _log(base)


def pr_bytes(log_z: float, *, base: float = 10.0, error: float | None = 0.0) -> bytes:
    """Return a file with log Z, in no more digits than its standard ``error`` justifies."""
    scale = _log(base)
    return f"PR\n{in_file(float(log_z) / scale, error and error / abs(scale))}\n".encode()


def read_mar(path: str | Path) -> tuple[Floats, ...]:
    """Read the probabilities of the states of every variable; observed ones have 0 and 1."""
    tokens = _solution(path, "MAR")
    n_variables = tokens.integer("the number of variables")
    out = []
    for i in range(n_variables):
        c = tokens.integer(f"the number of states of variable {i}", least=1)
        out.append(tokens.numbers(c, "a probability", least=0.0))
    tokens.finish()
    return tuple(out)


def mar_bytes(marginals: Sequence[Floats], errors: Sequence[Floats] | None = None) -> bytes:
    """Return a file with the probabilities of all states, in no more digits than their standard ``errors`` justify."""
    known = [np.zeros(len(p)) for p in marginals] if errors is None else errors
    parts = (f"{len(p)} {_numbers(p, error)}" for p, error in zip(marginals, known, strict=True))
    return f"MAR\n{' '.join([str(len(marginals)), *parts])}\n".encode()


def _numbers(p: Floats, error: Floats) -> str:
    return " ".join(map(in_file, np.asarray(p, np.float64).tolist(), np.asarray(error, np.float64).tolist()))


def read_map(path: str | Path) -> tuple[int, ...]:
    """Read the states of all variables, observed ones included."""
    tokens = _solution(path, "MAP", "MPE")
    n_variables = tokens.integer("the number of variables")
    states = tuple(tokens.integers(n_variables, "a state"))
    tokens.finish()
    return states


def map_bytes(states: Sequence[int], *, task: str = "MAP") -> bytes:
    if task not in ("MAP", "MPE"):
        raise InputError(f"There is no task {task!r} with the states of all variables; it is 'MAP' or 'MPE'.")
    return f"{task}\n{' '.join(map(str, [len(states), *map(int, states)]))}\n".encode()


def read_mmap(path: str | Path, query: Sequence[int]) -> dict[int, int]:
    """Read the states of the query variables, from pairs or from states alone in the order of the query."""
    tokens = _solution(path, "MMAP")
    size = tokens.integer("the number of variables", least=len(query), most=len(query))
    if tokens.n_left == size:
        states = dict(zip(query, tokens.integers(size, "a state"), strict=True))
    else:
        numbers = tokens.integers(2 * size, "a variable and its state")
        states = dict(zip(numbers[::2], numbers[1::2], strict=True))
    tokens.finish()
    if set(states) != set(query):
        raise InputError(f"{Path(path).name!r} answers for variables {sorted(states)}; the query has {sorted(query)}.")
    return states


def mmap_bytes(states: Mapping[int, int]) -> bytes:
    numbers = [len(states), *(int(k) for pair in states.items() for k in pair)]
    return f"MMAP\n{' '.join(map(str, numbers))}\n".encode()


def _solution(path: str | Path, *tasks: str) -> Tokens:
    """Return the tokens of the last solution; earlier ones become blanks, to preserve line numbers."""
    content = read_input(path)
    last = content.rfind(_BEGIN)
    task = Tokens(content if last < 0 else content[: content.find(_BEGIN)], Path(path).name)
    task.word(*tasks)
    if last < 0:
        return task
    blank = bytes(c if c in b"\r\n" else 32 for c in content[: last + len(_BEGIN)])
    return Tokens(blank + content[last + len(_BEGIN) :], Path(path).name)


def _log(base: float) -> float:
    if not (base > 0 and base != 1 and math.isfinite(base)):
        raise InputError(f"Logarithms have no base {base}; it is 10 in the competition and e in merlin.")
    return math.log(base)
