"""A distribution as a product of tables: a scope and a table of log-potentials for each factor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mrfit._typing import Floats, Indices, Scope
from mrfit.core.errors import InputError, listed


@dataclass(frozen=True, eq=False)
class Factors:
    """A distribution as a product of tables: log p(x) = sum over scopes A of theta_A(x_A), minus log Z.

    Scopes may repeat, be contained in each other, list their variables in any order, be empty (a constant), and leave
    variables out. Minus infinity in a table marks impossible states. A variable fixed by evidence has one state:
    evidence gives smaller tables, not another kind of distribution.

    Parameters
    ----------
    shape : tuple of int
        Number of states of each variable.
    scopes : tuple of tuple of int
        Numbers of variables, counted from 0; a scope names each variable once.
    values : ndarray of float
        All tables of log-potentials, one after another, each in C order of its scope as listed (last variable fastest).

    Raises
    ------
    InputError
        If the number of values is not that of the cells, a value is not a number or plus infinity, or a scope is wrong.

    See Also
    --------
    Enumeration : Exact inference for few variables.
    FactorNetwork : The same with names.

    Examples
    --------
    >>> from mrfit import Enumeration, Factors
    >>> factors = Factors.from_tables((2, 2), [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])
    >>> engine = Enumeration()
    >>> posterior = engine.run(engine.plan(factors), factors)
    >>> posterior.marginal((0, 1)).round(3)
    array([0.366, 0.134, 0.134, 0.366])
    """

    shape: tuple[int, ...]
    scopes: tuple[Scope, ...]
    values: Floats

    def __post_init__(self) -> None:
        shape = tuple(int(c) for c in self.shape)
        scopes = tuple(tuple(int(i) for i in scope) for scope in self.scopes)
        if min(shape, default=1) < 1:
            raise InputError(f"Variable {shape.index(min(shape))} has {min(shape)} states; give each at least one.")
        check_scopes(shape, scopes)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "scopes", scopes)
        values = np.array(self.values, np.float64)
        if values.shape != (self._ends[-1],):
            raise InputError(
                f"The {len(scopes)} tables have {self._ends[-1]} cells; got an array of shape {values.shape}. Pass one "
                "number for each, table after table."
            )
        _check_values(values)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @classmethod
    def from_tables(cls, shape: Sequence[int], tables: Iterable[tuple[Sequence[int], ArrayLike]]) -> Factors:
        """Build factors from pairs of a scope and its log-table.

        Parameters
        ----------
        shape : sequence of int
            Number of states of each variable.
        tables : iterable of pairs
            A scope and its log-table, flat or with one axis for each variable.
        """
        shape, scopes, values = tuple(shape), [], [np.empty(0)]
        for scope, table in tables:
            array = np.asarray(table, np.float64)
            check_scopes(shape, (tuple(scope),))
            expected = tuple(shape[i] for i in scope)
            if array.shape not in (expected, (prod(expected),)):
                raise InputError(
                    f"The table of scope {tuple(scope)} has shape {array.shape}; expected {expected}, one axis for "
                    "each variable in the order of the scope, or the same numbers flat."
                )
            scopes.append(tuple(scope))
            values.append(array.ravel())
        return cls(shape, tuple(scopes), np.concatenate(values))

    def with_values(self, values: Floats) -> Factors:
        """Return the factors with other numbers in the tables; a plan made for these factors remains valid."""
        return replace(self, values=values)

    def given(self, known: Mapping[int, int]) -> Factors:
        """Return the factors conditioned on evidence: the known variables keep their numbers, with one state each.

        The log Z of the result covers all joint states that agree with the evidence.
        """
        check_scopes(self.shape, (tuple(known),))
        for i, state in known.items():
            if not 0 <= state < self.shape[i]:
                raise InputError(f"Variable {i} has {self.shape[i]} states, numbered from 0; got state {state}.")
        if not known:
            return self
        tables = []
        for scope, table in zip(self.scopes, self.tables, strict=True):
            if known.keys() & scope:
                live = [i for i in scope if self.shape[i] > 1]  # an array has at most 64 axes
                at = tuple(known.get(i, slice(None)) for i in live)
                table = table.reshape([self.shape[i] for i in live])[at].ravel()
            tables.append(table)
        shape = tuple(1 if i in known else c for i, c in enumerate(self.shape))
        return Factors(shape, self.scopes, np.concatenate([np.empty(0), *tables]))

    def times(self, tables: Iterable[tuple[Sequence[int], ArrayLike]]) -> Factors:
        """Multiply by further tables, such as soft evidence on single variables."""
        more = Factors.from_tables(self.shape, tables)
        return Factors(self.shape, self.scopes + more.scopes, np.concatenate([self.values, more.values]))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.shape)

    @cached_property
    def _ends(self) -> tuple[int, ...]:
        """Ends of the tables, 0 first; Python integers, because scopes may exceed any memory."""
        cells = (prod(self.shape[i] for i in scope) for scope in self.scopes)
        return tuple(accumulate(cells, initial=0))

    def table(self, number: int) -> Floats:
        """Return one table, flat; a view."""
        return self.values[self._ends[number] : self._ends[number + 1]]

    @property
    def tables(self) -> tuple[Floats, ...]:
        """All tables, flat, in the order of ``scopes``; views."""
        return tuple(self.table(number) for number in range(len(self.scopes)))

    @cached_property
    def has_impossible_states(self) -> bool:
        """Whether some table contains minus infinity."""
        return bool(np.isneginf(self.values).any())

    def log_potential(self, codes: NDArray[Any]) -> Floats:
        """Return the sum of the tables at each row of codes, shape (rows,): log p plus log Z."""
        codes = np.asarray(codes)
        self._check_codes(codes)
        out = np.zeros(len(codes))
        for scope, table in zip(self.scopes, self.tables, strict=True):
            out += table[positions(codes, scope, self.shape)]
        return out

    def _check_codes(self, codes: NDArray[Any]) -> None:
        if codes.ndim != 2 or codes.shape[1] != len(self.shape) or codes.dtype.kind not in "iu":
            raise InputError(
                f"The rows are of type {codes.dtype} and shape {codes.shape}; expected whole numbers, one column for "
                f"each of the {len(self.shape)} variables."
            )
        wrong = ((codes < 0) | (codes >= np.array(self.shape, np.int64))).any(axis=0)
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            raise InputError(f"Column {i} has codes beyond its {self.shape[i]} states; expected 0 to c - 1. Recode it.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Factors):
            return NotImplemented
        same = self.shape == other.shape and self.scopes == other.scopes
        return same and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash((self.shape, self.scopes, (self.values + 0.0).tobytes()))  # -0.0 equals 0.0

    def __repr__(self) -> str:
        return f"Factors({len(self.shape)} variables, {len(self.scopes)} tables, {len(self.values):,} cells)"


def positions(codes: NDArray[Any], scope: Scope, shape: tuple[int, ...]) -> Indices:
    """Return the index of each row's states in the flat table of a scope."""
    out = np.zeros(len(codes), np.int64)
    for i in scope:
        out *= shape[i]
        out += codes[:, i]
    return out


def check_scopes(shape: tuple[int, ...], scopes: Sequence[Scope]) -> None:
    """Refuse scopes that name a variable twice or an unknown variable.

    Parameters
    ----------
    shape : tuple of int
        Number of states of each variable.
    scopes : sequence of tuple of int
        Numbers of variables.

    Raises
    ------
    InputError
        If a scope is wrong.

    Examples
    --------
    >>> from mrfit.inference import check_scopes
    >>> check_scopes((2, 2), [(0, 1)])
    >>> check_scopes((2, 2), [(0, 2)])
    Traceback (most recent call last):
        ...
    mrfit.core.errors.InputError: Scope (0, 2) names variable 2; there are 2, numbered from 0. Correct it, ...
    """
    n = len(shape)
    for scope in scopes:
        if missing := [i for i in scope if not 0 <= i < n]:
            raise InputError(
                f"Scope {scope} names variable {missing[0]}; there are {n}, numbered from 0. Correct it, or add the "
                "variable."
            )
        if len(set(scope)) != len(scope):
            raise InputError(f"Scope {scope} names a variable twice; name each once, and take the table's diagonal.")


def _check_values(values: Floats) -> None:
    wrong = values[np.isnan(values) | (values == np.inf)]
    if wrong.size:
        raise InputError(
            f"The tables hold {listed(sorted(set(map(str, wrong))))} ({wrong.size} times); expected logarithms, finite "
            "or minus infinity for states that are impossible. Correct these cells."
        )
