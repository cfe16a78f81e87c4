"""Evidence and queries of the UAI competitions: ``.evid`` and ``.query``.

Hard evidence comes in three dialects, distinguished by their content:

    2 5 0 7 1               one sample: how many variables, then variable and state of each (2014, 2022, merlin)

    2                       the same with a pair on each line (2008, toulbar2)
    5 0
    7 1

    2                       several samples (2010): how many, then one on each line
    2 5 0 7 1
    1 5 1

``0`` and an empty file are one sample without evidence. Soft evidence (merlin's virtual evidence) has the number of
variables, then for each of them its number, how many states it has, and the likelihood of each state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.formats.input_file import read_input
from mrfit.formats.potentials import logarithms
from mrfit.formats.tokens import Tokens

Evidence = dict[int, int]  # state of each observed variable


def read_evidence(path: str | Path, shape: Sequence[int]) -> tuple[Evidence, ...]:
    """Read the samples of an evidence file, one or more, for variables with the given numbers of states."""
    content, name = read_input(path), Path(path).name
    tokens = Tokens(content, name)
    if not tokens.n_left:
        return ({},)
    n_tokens = tokens.n_left
    first = tokens.integer("the number of observed variables, or of samples")
    if n_tokens == 1 + 2 * first and not _has_a_sample_on_each_line(content):
        samples = [_pairs(tokens, first, shape)]
    else:
        samples = [_sample(tokens, shape) for _ in range(first)]
    tokens.finish()
    return tuple(samples) or ({},)


def evidence_bytes(samples: Sequence[Mapping[int, int]]) -> bytes:
    """Return the content of an evidence file: the form of 2014 for one sample, of 2010 for several."""
    lines = [_joined([len(sample), *(k for pair in sample.items() for k in pair)]) for sample in samples]
    return "\n".join([*([str(len(lines))] if len(lines) != 1 else []), *lines, ""]).encode()


def read_soft_evidence(path: str | Path, shape: Sequence[int]) -> dict[int, Floats]:
    """Read log-likelihoods of the states of some variables: a table to add for each variable."""
    tokens = Tokens(read_input(path), Path(path).name)
    out: dict[int, Floats] = {}
    for _ in range(tokens.integer("the number of variables", most=len(shape)) if tokens.n_left else 0):
        i = tokens.integer("a variable", most=len(shape) - 1)
        if i in out:
            raise tokens.wrong(f"variable {i} has likelihoods already")
        c = tokens.integer(f"the number of states of variable {i}", least=shape[i], most=shape[i])
        likelihood = tokens.numbers(c, "a likelihood", least=0.0)
        if not likelihood.any():
            raise tokens.wrong(f"at least one state of variable {i} must have a likelihood above zero")
        out[i] = logarithms(likelihood)
    tokens.finish()
    return out


def soft_evidence_bytes(logs: Mapping[int, Floats]) -> bytes:
    """Return the content of a soft evidence file; likelihoods are divided by the largest of their variable."""
    lines = [f"{i} {len(log)} {_joined(np.exp(log - np.max(log)).tolist())}" for i, log in logs.items()]
    return "\n".join([str(len(lines)), *lines, ""]).encode()


def read_query(path: str | Path, n_variables: int) -> tuple[int, ...]:
    """Read the queried variables: their number, then the variables."""
    tokens = Tokens(read_input(path), Path(path).name)
    size = tokens.integer("the number of query variables", most=n_variables)
    query = tuple(tokens.integers(size, "a variable", most=n_variables - 1))
    tokens.finish()
    if len(set(query)) < size:
        raise InputError(f"{Path(path).name!r} names a query variable twice; name each once.")
    return query


def query_bytes(query: Sequence[int]) -> bytes:
    """Return the content of a query file."""
    return (_joined([len(query), *query]) + "\n").encode()


def _has_a_sample_on_each_line(content: bytes) -> bool:
    """Whether lines settle the ambiguous case: ``2``, ``1 5 0``, ``0`` are two samples or two odd pairs."""
    (count, *_), *lines = [line.split() for line in content.splitlines() if line.strip()]
    if count != b"%d" % len(lines):
        return False
    return all(line[0] == b"%d" % (len(line) // 2) and len(line) % 2 == 1 for line in lines)


def _sample(tokens: Tokens, shape: Sequence[int]) -> Evidence:
    return _pairs(tokens, tokens.integer("the number of observed variables", most=len(shape)), shape)


def _pairs(tokens: Tokens, count: int, shape: Sequence[int]) -> Evidence:
    evidence: Evidence = {}
    for _ in range(count):
        i = tokens.integer("a variable", most=len(shape) - 1)
        state = tokens.integer(f"a state of variable {i}", most=shape[i] - 1)
        if evidence.setdefault(i, state) != state:
            raise tokens.wrong(f"variable {i} is in state {evidence[i]} earlier in the file")
    return evidence


def _joined(numbers: Sequence[float]) -> str:
    return " ".join(map(repr, numbers))
