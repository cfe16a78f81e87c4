"""Factors from the files of other projects: as much of their formats as the tests need."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from mrfit.factors import Factors


def read_text(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()


def read_fg(path: Path) -> Factors:
    """libDAI: sparse tables, leftmost variable fastest."""
    lines = (line for line in read_text(path).splitlines() if not line.startswith("#"))
    tokens = iter(" ".join(lines).split())
    tables, states = [], {}
    for _ in range(int(next(tokens))):
        n = int(next(tokens))
        scope = [int(next(tokens)) for _ in range(n)]
        shape = [int(next(tokens)) for _ in range(n)]
        states |= dict(zip(scope, shape, strict=True))
        table = np.zeros(np.prod(shape, dtype=int))
        for _ in range(int(next(tokens))):
            cell = int(next(tokens))
            table[cell] = float(next(tokens))
        tables.append((scope, table.reshape(shape, order="F")))
    labels = sorted(states)
    with np.errstate(divide="ignore"):
        return Factors.from_tables(
            [states[label] for label in labels], [([labels.index(i) for i in a], np.log(t)) for a, t in tables]
        )


def read_mn(path: Path) -> Factors:
    """Libra: tables and features as lines of a log-weight and conditions +vI_s."""
    head, *lines = read_text(path).splitlines()
    shape = [int(c) for c in head.split(",")]
    tables, block = [], None
    for words in map(str.split, lines):
        if words and words[0] in ("table", "features"):
            block = []
        elif words == ["}"] and block is not None:
            tables.append(_table(shape, block))
            block = None
        elif block is not None and words:
            conditions = [tuple(map(int, word.removeprefix("+v").split("_"))) for word in words[1:]]
            block.append((float(words[0]), dict(conditions)))
    return Factors.from_tables(shape, tables)


def _table(shape: list[int], block: list[tuple[float, dict[int, int]]]) -> tuple[list[int], np.ndarray]:
    scope = sorted({i for _, conditions in block for i in conditions})
    table = np.zeros([shape[i] for i in scope])
    for value, conditions in block:
        table[tuple(conditions.get(i, slice(None)) for i in scope)] += value
    return scope, table
