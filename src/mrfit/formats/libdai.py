"""Files of libDAI: factor graphs (``.fg``) and tables of states (``.tab``).

    # comments                       0   2     header: labels of variables, between tabs
    2          factors
                                     0   1     rows of states; an empty field is unknown
    2          variables of the first    1
    0 2        their labels
    2 3        their numbers of states
    2          entries that are not zero
    0 0.5      index and potential; the *leftmost* variable is fastest
    3 1.5

Labels need not be contiguous: the variables are those that occur, in the order of their labels, named ``v<label>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from mrfit._typing import Floats, Indices, Scope
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.formats.annotation import Annotation, names_worth_telling
from mrfit.formats.input_file import read_input
from mrfit.formats.model_format import ModelFormat
from mrfit.formats.potentials import logarithms, potentials
from mrfit.formats.tokens import MOST_CELLS, Tokens, numbered_domain, spoken
from mrfit.model.factor_network import FactorNetwork

_MOST_LABEL = 2**62
_INSTEAD = "Write a .LG or .mn file, which hold logarithms."


# --- factor graphs


@dataclass(frozen=True)
class _Entries:
    """A factor as listed in the file: labels, numbers of states, and the nonzero entries."""

    labels: Scope
    shape: tuple[int, ...]
    index: Indices
    values: Floats

    def table(self) -> Floats:
        """Return the logarithms, in C order of the labels as listed."""
        flat = np.zeros(prod(self.shape))
        flat[self.index] = self.values
        return logarithms(_in_fortran_order(flat, self.shape[::-1]))


def read_fg(content: bytes, name: str) -> FactorNetwork:
    tokens = Tokens(content, name)
    states: dict[int, int] = {}
    n_factors = tokens.integer("the number of factors")
    total, factors = 0, []
    for _ in range(n_factors):
        factors.append(_factor(tokens, states, MOST_CELLS - total))
        total += prod(factors[-1].shape)
    tokens.finish()
    labels = sorted(states)
    at = {label: i for i, label in enumerate(labels)}
    shape = tuple(states[label] for label in labels)
    domain = numbered_domain(shape, name, labels)
    tables = [(tuple(at[label] for label in factor.labels), factor.table()) for factor in factors]
    return Annotation.of(content, name).named(Factors.from_tables(shape, tables), name, domain)


def _factor(tokens: Tokens, states: dict[int, int], most_cells: int) -> _Entries:
    size = tokens.integer("the number of variables of a factor")
    labels = tuple(tokens.integers(size, "the label of a variable", most=_MOST_LABEL))
    if len(set(labels)) < size:
        raise tokens.wrong("a factor must name each of its variables once, and this one repeats a variable")
    shape = []
    for label in labels:
        c = tokens.integer(f"the number of states of variable {label}", least=1)
        if states.setdefault(label, c) != c:
            raise tokens.wrong(f"variable {label} has {states[label]} states in a factor before")
        shape.append(c)
    if prod(shape) > most_cells:
        raise tokens.wrong(
            f"all tables may have {MOST_CELLS:,} cells together, and the one whose numbers of states end here has "
            f"{spoken(prod(shape))}"
        )
    n_entries = tokens.integer("the number of entries that are not zero", most=prod(shape))
    index, values = tokens.pairs(n_entries, "an index", "a potential", most=prod(shape) - 1)
    return _Entries(labels, tuple(shape), index, values)


def fg_bytes(network: FactorNetwork, *, names: bool = True) -> bytes:
    """Return the content of a file without zeros; a variable in no table gets a table of ones, so that it is listed."""
    plain = network.with_hidden_named()
    factors = _covering(plain.tables)
    values, shift = potentials(factors, _INSTEAD)
    labels = _labels(plain.domain)
    domain = plain.domain if labels is None else None
    annotation = Annotation(names_worth_telling(domain) if names and domain is not None else None, shift)
    lines, start = [str(len(factors.scopes)), ""], 0
    for scope in factors.scopes:
        shape = [factors.shape[i] for i in scope]
        table = _in_fortran_order(values[start : start + prod(shape)], shape)
        start += table.size
        index = np.flatnonzero(table)
        numbers = scope if labels is None else [labels[i] for i in scope]
        lines += [str(len(scope)), " ".join(map(str, numbers)), " ".join(map(str, shape)), str(len(index))]
        lines += [f"{k} {value!r}" for k, value in zip(index.tolist(), table[index].tolist(), strict=True)]
        lines.append("")
    return annotation.line() + "\n".join(lines).encode()


def _in_fortran_order(table: Floats, shape: Sequence[int]) -> Floats:
    """Turn a flat table from C order into Fortran order; one-state variables are dropped, as numpy limits axes."""
    return table.reshape([c for c in shape if c > 1]).transpose().ravel()


def _covering(factors: Factors) -> Factors:
    uncovered = sorted(set(range(factors.n_variables)).difference(*factors.scopes))
    ones = np.zeros(sum(factors.shape[i] for i in uncovered))
    scopes = (*factors.scopes, *((i,) for i in uncovered))
    return Factors(factors.shape, scopes, np.concatenate([factors.values, ones]))


def _labels(domain: Domain) -> list[int] | None:
    """Return the labels, if labels can represent the names of all variables and their order."""
    labels = [int(match[1]) for name in domain.names if (match := re.fullmatch(r"v(0|[1-9][0-9]{0,17})", name))]
    if len(labels) < len(domain) or labels != sorted(labels):
        return None
    return labels if domain == numbered_domain(domain.shape, "model", labels) else None


FG = ModelFormat("fg", ".fg", "libDAI factor graph", read_fg, fg_bytes)


# --- tables of states


@dataclass(frozen=True, eq=False)
class Tab:
    """Rows of states of labelled variables, -1 where unknown: shape (rows, labels)."""

    labels: tuple[int, ...]
    codes: Indices

    def codes_of(self, domain: Domain) -> Indices:
        """Return the rows in the order of a domain, -1 for variables that are not in the table."""
        out = np.full((len(self.codes), len(domain)), -1, np.int64)
        for column, label in enumerate(self.labels):
            out[:, domain.index(f"v{label}")] = self.codes[:, column]
        return out


def read_tab(path: str | Path) -> Tab:
    """Read a ``.tab`` file."""
    name = Path(path).name
    lines = read_input(path).decode("utf-8", "replace").splitlines()
    filled = [(number, line) for number, line in enumerate(lines, 1) if line or number > 2]
    while filled and not filled[-1][1]:
        filled.pop()
    if not filled:
        raise InputError(f"{name!r} is empty; expected a line of labels, an empty line, then rows of states.")
    (first, header), *rows = filled
    labels = tuple(_fields(header, first, name))
    if len(set(labels)) < len(labels) or -1 in labels:
        raise InputError(f"{name!r}, line {first}: labels must be given, each once; got {header!r}. Correct the file.")
    codes = [list(_fields(line, number, name)) for number, line in rows]
    for (number, _), row in zip(rows, codes, strict=True):
        if len(row) != len(labels):
            raise InputError(
                f"{name!r}, line {number} has {len(row)} fields; expected {len(labels)}, one for each label, between "
                "tabs. Correct the file."
            )
    return Tab(labels, np.array(codes, np.int64).reshape(len(codes), len(labels)))


def tab_bytes(tab: Tab) -> bytes:
    """Return the content of a ``.tab`` file."""
    rows: Sequence[Sequence[int]] = tab.codes.tolist()
    lines = ["\t".join(map(str, tab.labels)), "", *("\t".join(_field(code) for code in row) for row in rows)]
    return "\n".join([*lines, ""]).encode()


def _field(code: int) -> str:
    return "" if code < 0 else str(code)


def _fields(line: str, number: int, name: str) -> Iterator[int]:
    for position, field in enumerate(line.split("\t"), 1):
        if not re.fullmatch("[0-9]{0,18}", field.strip()) or not field.isascii():
            raise InputError(
                f"{name!r}, line {number}, field {position}: {field!r} is wrong; expected a whole number, or nothing "
                "for an unknown state. Correct the file."
            )
        yield int(field.strip() or -1)
