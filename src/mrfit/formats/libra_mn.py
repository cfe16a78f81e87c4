"""Markov networks of the Libra toolkit (``.mn``): weighted features, alone or in tables and trees.

    2,2,3                         numbers of states
    MN {
    0.7 +v0_1 -v2_0               weight (a natural logarithm), then conditions: v0 = 1 and v2 != 0
    table {                       a cell's value is the sum of the lines that hold in it
    0.2 +v0_1 +v1_1
    -inf +v0_0 +v1_1
    }
    features {                    the same, of lines that exclude each other
    }
    tree {
    (v0_1 0.3 (v2_0 -1 2.5))      first branch where v0 = 1, second where it is not
    }
    }

A whole number before a weight is its number. ``w NUMBER WEIGHT`` repeats a weight, and must agree with it. There are no
comments, so names of variables and states are lost.

Everything in such a file is a sum of weighted conjunctions: a branch of a tree is one too. A ``table``, ``features`` or
``tree`` block of few cells becomes one table, and so does a feature of few cells on its own line, because message
passing depends on what is a factor. Wider features over the same variables are added up if their table is not much
larger than their text. All others remain conjunctions (`mrfit.model.factor_network.Conjunction`), so that no table is
larger than its text by more than a constant factor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from mrfit._typing import Floats, Scope
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.formats.libra_data import schema_bytes, schema_of
from mrfit.formats.model_format import ModelFormat
from mrfit.formats.tokens import MOST_CELLS, numbered_domain
from mrfit.model.factor_network import Conjunction, FactorNetwork

_TOKEN = re.compile(rb"[{}()]|[^\s{}()]+")
_CONDITION = re.compile(rb"([+-])v([0-9]{1,18})_([0-9]{1,18})")
_TEST = re.compile(rb"v([0-9]{1,18})_([0-9]{1,18})")
_END_OF_LINE = b"\n"

_CELLS_OF_A_GROUP = 1024  # a group of features becomes a table up to this size, or
_CELLS_OF_A_FEATURE = 256  # a single feature up to this size,
_CELLS_OF_A_LINE = 16  # or up to this size for each line of features over the same variables
_MOST_CONDITIONS = 10**6  # on all paths of a tree together


@dataclass(frozen=True)
class _Feature:
    """A weight, and the states in which each mentioned variable may be, one bit for each."""

    weight: float
    masks: dict[int, int]


@dataclass
class _Collected:
    """Tables collected so far, and single features by scope."""

    shape: tuple[int, ...]
    tables: list[tuple[Scope, Floats]] = field(default_factory=list)
    by_scope: dict[Scope, list[_Feature]] = field(default_factory=dict)
    n_cells: int = 0

    def add_group(self, features: Sequence[_Feature]) -> None:
        """Add the group as one table, variables in order of occurrence; as single features if it would be too large."""
        scope = tuple(dict.fromkeys(i for each in features for i in each.masks))
        if self._is_small(scope, len(features), _CELLS_OF_A_GROUP):
            self._add_table(scope, features)
        else:
            for each in features:
                self.add_feature(each)

    def add_feature(self, feature: _Feature) -> None:
        self.by_scope.setdefault(tuple(sorted(feature.masks)), []).append(feature)

    def network(self, name: str) -> FactorNetwork:
        conjunctions: list[Conjunction] = []
        for scope, features in self.by_scope.items():
            if self._is_small(scope, 1, _CELLS_OF_A_FEATURE):
                for feature in features:
                    self._add_table(scope, [feature])
            elif self._is_small(scope, len(features), _CELLS_OF_A_LINE):
                self._add_table(scope, features)
            else:
                conjunctions += map(self._conjunction, features)
        domain = numbered_domain(self.shape, name)
        return FactorNetwork(domain, Factors.from_tables(self.shape, self.tables), tuple(conjunctions))

    def _is_small(self, scope: Scope, n_lines: int, limit: int) -> bool:
        return prod(self.shape[i] for i in scope) <= max(limit, _CELLS_OF_A_LINE * n_lines)

    def _add_table(self, scope: Scope, features: Sequence[_Feature]) -> None:
        table = [0.0] * prod(self.shape[i] for i in scope)
        self.n_cells += len(table)
        if self.n_cells > MOST_CELLS:
            raise InputError(f"The tables have more than {MOST_CELLS:,} cells together, the limit; split the model.")
        for each in features:
            for cell in self._cells(scope, each):
                table[cell] += each.weight
        self.tables.append((scope, np.array(table)))

    def _cells(self, scope: Scope, feature: _Feature) -> list[int]:
        cells = [0]
        for i in scope:
            c = self.shape[i]
            states = _states(feature.masks[i]) if i in feature.masks else range(c)
            cells = [cell * c + state for cell in cells for state in states]
        return cells

    @staticmethod
    def _conjunction(feature: _Feature) -> Conjunction:
        # Conditions stay in the order of the file: branches of a tree then share prefixes, and with them hidden
        # variables.
        return Conjunction(feature.weight, tuple((i, tuple(_states(mask))) for i, mask in feature.masks.items()))


def _states(mask: int) -> list[int]:
    return [state for state in range(mask.bit_length()) if mask >> state & 1]


def read_mn(content: bytes, name: str) -> FactorNetwork:
    first, _, rest = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").partition(b"\n")
    return _Parser(rest, schema_of(first, name), name).network()


class _Parser:
    """A parser that reads tokens from front to back; ends of lines are tokens, because they end features."""

    def __init__(self, text: bytes, shape: tuple[int, ...], name: str) -> None:
        numbered_domain(shape, name)  # refuses too many states before their masks take memory
        self._shape, self._name = shape, name
        self._tokens: list[bytes] = []
        self._line_starts: list[int] = []
        for line in text.split(b"\n"):
            self._line_starts.append(len(self._tokens))
            self._tokens += [*_TOKEN.findall(line), _END_OF_LINE]
        self._next = 0
        self._weights: dict[int, float] = {}

    def network(self) -> FactorNetwork:
        self._expect("mn")
        self._expect("{")
        collected = _Collected(self._shape)
        while (token := self._next_filled("a factor or '}'")) != b"}":
            word = token.lower()
            if word in (b"features", b"table"):
                self._expect("{")
                collected.add_group(list(self._feature_lines()))
            elif word == b"tree":
                self._expect("{")
                collected.add_group(self._tree())
                self._expect("}")
            elif word == b"w":
                self._shared_weight()
            else:
                self._next -= 1
                for feature in self._feature():
                    collected.add_feature(feature)
        if any(token != _END_OF_LINE for token in self._tokens[self._next :]):
            self._next_filled("the end")
            raise self._wrong("expected the end after the '}' of MN")
        return collected.network(self._name)

    def _feature_lines(self) -> Iterator[_Feature]:
        while self._next_filled("a feature or '}'") != b"}":
            self._next -= 1
            yield from self._feature()

    def _feature(self) -> list[_Feature]:
        """Parse the feature of a line; none if its conditions exclude each other."""
        weight, number = self._number(self._take("a weight")), None
        if self._is_number(self._peek()):
            number = self._number(self._tokens[self._next - 1], whole=True)
            weight = self._number(self._take("a weight"))
            self._check_shared(int(number), weight)
        masks: dict[int, int] = {}
        while self._peek() not in (_END_OF_LINE, b"}"):
            match = _CONDITION.fullmatch(self._take("a condition"))
            if match is None:
                raise self._wrong("expected a condition such as +v0_1 or -v0_1, or the end of the line")
            i, state = self._tested(match[2], match[3])
            self._restrict(masks, i, state, holds=match[1] == b"+")
        return [] if 0 in masks.values() else [_Feature(weight, masks)]

    def _tree(self) -> list[_Feature]:
        """Parse a feature for each leaf, with a stack instead of recursion, because trees may be deep."""
        leaves: list[_Feature] = []
        pending: list[dict[int, int] | None] = [{}]  # paths to unread branches; None closes one
        n_conditions = 0
        while pending:
            path = pending.pop()
            token = self._next_filled("a tree")
            if path is None:
                if token != b")":
                    raise self._wrong("expected ')' after two branches")
            elif token == b"(":
                match = _TEST.fullmatch(self._next_filled("a test"))
                if match is None:
                    raise self._wrong("expected a test such as v0_1")
                i, state = self._tested(match[1], match[2])
                then, otherwise = dict(path), dict(path)
                self._restrict(then, i, state, holds=True)
                self._restrict(otherwise, i, state, holds=False)
                pending += [None, otherwise, then]
                n_conditions += 2 * len(path)
                if n_conditions > _MOST_CONDITIONS:
                    raise self._wrong(f"the paths of a tree may have {_MOST_CONDITIONS:,} conditions together")
            else:
                weight = self._number(token)
                if 0 not in path.values():
                    leaves.append(_Feature(weight, path))
        return leaves

    def _restrict(self, masks: dict[int, int], i: int, state: int, *, holds: bool) -> None:
        every = (1 << self._shape[i]) - 1
        mask = masks.get(i, every) & (1 << state if holds else every ^ 1 << state)
        if mask == every:  # the variable has one state: always true
            return
        masks[i] = mask

    def _tested(self, variable: bytes, state: bytes) -> tuple[int, int]:
        i, s = int(variable), int(state)
        if i >= len(self._shape):
            raise self._wrong(f"there are {len(self._shape)} variables, numbered from 0")
        if s >= self._shape[i]:
            raise self._wrong(f"variable {i} has {self._shape[i]} states, numbered from 0")
        return i, s

    def _shared_weight(self) -> None:
        number = int(self._number(self._take("the number of a weight"), whole=True))
        self._check_shared(number, self._number(self._take("a weight")))

    def _check_shared(self, number: int, weight: float) -> None:
        if self._weights.setdefault(number, weight) != weight:
            raise self._wrong(f"weight {number} is {self._weights[number]!r} earlier in the file")

    # --- tokens

    def _take(self, what: str) -> bytes:
        if self._next >= len(self._tokens):
            raise InputError(f"{self._name!r} ends where {what} should follow; it is cut short. Get the file again.")
        self._next += 1
        return self._tokens[self._next - 1]

    def _peek(self) -> bytes:
        return self._tokens[self._next] if self._next < len(self._tokens) else _END_OF_LINE

    def _next_filled(self, what: str) -> bytes:
        while (token := self._take(what)) == _END_OF_LINE:
            pass
        return token

    def _expect(self, word: str) -> None:
        if self._next_filled(f"{word!r}").lower() != word.encode():
            raise self._wrong(f"expected {word.upper()!r}")

    @staticmethod
    def _is_number(token: bytes) -> bool:
        if b"v" in token:  # mostly a condition: cheaper than trying to convert it
            return False
        try:
            float(token)
        except ValueError:
            return False
        return b"_" not in token

    def _number(self, token: bytes, *, whole: bool = False) -> float:
        if not self._is_number(token):
            raise self._wrong("expected a weight, a number")
        value = float(token)
        if whole and not token.isdigit():
            raise self._wrong("expected the number of a weight, a whole number, before a weight")
        if not value < np.inf:
            raise self._wrong("expected a weight, a finite number or -inf")
        return value

    def _wrong(self, expected: str) -> InputError:
        at = self._next - 1
        line = int(np.searchsorted(self._line_starts, at, side="right"))  # from 1, after the schema's
        position = at - self._line_starts[line - 1] + 1
        text = self._tokens[at][:40].decode("utf-8", "backslashreplace")
        shown = "the end of the line" if text == "\n" else repr(text)
        return InputError(
            f"{self._name!r}, line {line + 1}, token {position}: {shown} is wrong; {expected}. Correct the file."
        )


def mn_bytes(network: FactorNetwork, *, names: bool = True) -> bytes:
    """Return a file with a ``table`` for each table, one line for each nonzero entry, and a line for each conjunction.

    The format has no names. A table of zeros retains one line, which states its scope.
    """
    factors = network.tables
    lines = ["MN {"]
    for scope, table in zip(factors.scopes, factors.tables, strict=True):
        live = [i for i in scope if factors.shape[i] > 1]
        cells = np.flatnonzero(table) if table.any() else np.zeros(1, np.int64)
        states = np.unravel_index(cells, [factors.shape[i] for i in live]) if live else ()
        columns = [[f"+v{i}_{s}" for s in column.tolist()] for i, column in zip(live, states, strict=True)]
        weights = map(repr, table[cells].tolist())
        lines += ["table {", *map(" ".join, zip(weights, *columns, strict=True)), "}", ""]
    lines += [_line(each, factors.shape) for each in network.conjunctions]
    return schema_bytes(factors.shape) + "\n".join([*lines, "}", ""]).encode()


def _line(each: Conjunction, shape: tuple[int, ...]) -> str:
    words = [repr(float(each.weight))]
    for i, states in each.conditions:
        if len(states) == 1:
            words.append(f"+v{i}_{states[0]}")
        else:
            words += [f"-v{i}_{state}" for state in range(shape[i]) if state not in states]
    return " ".join(words)


MN = ModelFormat("mn", ".mn", "Libra Markov network", read_mn, mn_bytes, holds_conjunctions=True)
