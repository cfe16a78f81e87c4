"""A distribution with names: a domain, and a product of tables and of wide conjunctions over it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.domain import Domain, Variable
from mrfit.errors import InputError
from mrfit.factors import Factors, Scope, check_scopes

Floats = NDArray[np.float64]

_SWITCH = ("no", "yes")


@dataclass(frozen=True)
class Conjunction:
    """``weight`` is added to log p where every condition holds: variable i is in one of some states.

    It says in a line what a table says in the product of all numbers of states, so its variables may be many.
    """

    weight: float
    conditions: tuple[tuple[int, tuple[int, ...]], ...]  # variable, its states

    def holds(self, codes: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether it holds in rows of codes, shape (rows,)."""
        out = np.ones(len(codes), bool)
        for i, states in self.conditions:
            out &= np.isin(codes[:, i], states)
        return out


@dataclass(frozen=True)
class Network:
    """log p(x) = sum of all tables and conjunctions at x, minus log Z, with names for variables and states.

    This is what files of models hold. Engines take `factors`, in which a conjunction is a chain of small tables.

    Parameters
    ----------
    domain
        Names of variables and states.
    tables
        Over the variables of the domain, in its order.
    conjunctions
        Of variables so many that no table should be made of them; mostly none.
    """

    domain: Domain
    tables: Factors
    conjunctions: tuple[Conjunction, ...] = ()

    def __post_init__(self) -> None:
        if self.domain.shape != self.tables.shape:
            raise InputError(
                f"The tables are over {len(self.tables.shape)} variables and the domain has {len(self.domain)}, or "
                "their numbers of states differ; pass the domain that belongs to the tables."
            )
        object.__setattr__(self, "conjunctions", tuple(self.conjunctions))
        for each in self.conjunctions:
            _check(each, self.domain.shape)

    @property
    def n_hidden(self) -> int:
        """Variables of `factors` after those of the domain."""
        return sum(max(len(each.conditions) - 1, 0) for each in self.conjunctions)

    @cached_property
    def factors(self) -> Factors:
        """The same distribution as tables only.

        A conjunction of k conditions becomes k tables of at most 4 c cells, joined by k - 1 hidden variables that
        stand after all others. The j-th of them is "yes" exactly where the first j conditions hold, so that they change
        neither log Z nor any marginal of the domain's variables: whoever asks for those need not know of them.
        """
        if not self.conjunctions:
            return self.tables
        shape = self.domain.shape + (2,) * self.n_hidden
        pairs = list(zip(self.tables.scopes, self.tables.tables, strict=True))
        first = len(self.domain)
        for each in self.conjunctions:
            pairs += _chain(each, shape, first)
            first += max(len(each.conditions) - 1, 0)
        return Factors.from_tables(shape, pairs)

    def with_hidden_named(self) -> Network:
        """The same as tables only, for files and programs that hold no conjunctions: hidden variables get names."""
        if not self.conjunctions:
            return self
        prefix = "hidden"
        while any(name.startswith(prefix) for name in self.domain.names):
            prefix = f"_{prefix}"
        hidden = (Variable(f"{prefix}{number}", _SWITCH) for number in range(self.n_hidden))
        return Network(Domain((*self.domain.variables, *hidden)), self.factors)

    def log_potential(self, codes: NDArray[Any]) -> Floats:
        """The sum of tables and conjunctions at rows of codes of the domain's variables: log p plus log Z."""
        out = self.tables.log_potential(codes)
        for each in self.conjunctions:
            out[each.holds(codes)] += each.weight
        return out

    def __repr__(self) -> str:
        wide = f", {len(self.conjunctions):,} conjunctions" if self.conjunctions else ""
        return f"<Network: {len(self.domain):,} variables, {len(self.tables.scopes):,} tables{wide}>"


def _check(each: Conjunction, shape: tuple[int, ...]) -> None:
    check_scopes(shape, (tuple(i for i, _ in each.conditions),))
    for i, states in each.conditions:
        if not states or not set(states) <= set(range(shape[i])):
            raise InputError(
                f"A conjunction lets variable {i} be in states {states}; expected one or more of 0 to {shape[i] - 1}."
            )
    if not each.weight < np.inf:
        raise InputError(f"A conjunction has the weight {each.weight}; expected a finite number or minus infinity.")


def _chain(each: Conjunction, shape: tuple[int, ...], hidden: int) -> Iterator[tuple[Scope, Floats]]:
    """The tables of a conjunction, whose hidden variables are ``hidden`` and those after it."""
    before: Scope = ()
    so_far = np.array([True])  # whether the conditions before hold, at each state of ``before``
    for number, (i, states) in enumerate(each.conditions):
        holds = so_far[:, None] & np.isin(np.arange(shape[i]), states)  # (states of before, states of i)
        if number == len(each.conditions) - 1:
            yield (*before, i), np.where(holds, each.weight, 0.0).ravel()
            return
        agrees = holds[:, :, None] == np.array([False, True])
        yield (*before, i, hidden + number), np.where(agrees, 0.0, -np.inf).ravel()
        before, so_far = (hidden + number,), np.array([False, True])
    yield (), np.array([each.weight])  # of no conditions at all
