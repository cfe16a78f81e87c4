"""Exact inference by enumeration of all joint states, for factors of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from mrfit._typing import Floats, Scope
from mrfit.core.errors import ImpossibleError, InputError
from mrfit.core.factors import Factors, check_scopes
from mrfit.core.transforms import exponentiate
from mrfit.inference.engine import Engine, Posterior
from mrfit.inference.plan import Plan, as_float

MOST_CELLS = 2**26  # joint states: vectors of 512 MB
_VECTORS = 3  # of one number a joint state, at most: potentials while they double, then probabilities and partial sums
_SECONDS = 2e-9  # a cell of a table that is added, or summed to a marginal
_EXPONENTIAL = 4e-9  # seconds a joint state: its exponential and partial sums
_OVERHEAD = 2e-5  # seconds a table or a marginal, however small


@dataclass(frozen=True)
class Enumeration(Engine):
    """Exact inference by enumeration of all joint states: for any scopes, if there are few states.

    Parameters
    ----------
    max_cells : int, default 67108864
        Largest number of joint states, by default 2^26: vectors of 512 MB.
    jobs : int, default 1
        Number of threads for exponentials; the result does not depend on it.

    See Also
    --------
    JunctionTree : Exact inference for sparse structures, however many joint states.
    Factors : The distributions that it takes.

    Notes
    -----
    Variables enter one after another, the last of them first. A table is added as soon as all its variables have
    entered, so most additions are to short arrays: a table whose first variable is k costs the joint states of
    variables k, k + 1, ... Marginals are summed in the opposite direction.

    Examples
    --------
    >>> import mrfit
    >>> factors = mrfit.Factors.from_tables((2, 2), [((0, 1), [1.0, 0.0, 0.0, 1.0])])
    >>> engine = mrfit.Enumeration()
    >>> posterior = engine.run(engine.plan(factors), factors)
    >>> posterior.probabilities.round(3)
    array([0.366, 0.134, 0.134, 0.366])
    """

    max_cells: int = MOST_CELLS
    jobs: int = 1

    word: ClassVar[str] = "enumeration"
    is_exact: ClassVar[bool] = True

    def plan(self, factors: Factors, targets: Sequence[Scope] = ()) -> Plan:
        check_scopes(factors.shape, targets)
        n_cells = prod(factors.shape)
        singles = [(i,) for i in range(len(factors.shape))]
        passes = [*factors.scopes, *factors.scopes, *targets, *singles]  # tables added, then marginals
        seconds = _SECONDS * as_float(_touched(factors.shape, passes)) + _OVERHEAD * len(passes)
        return Plan(
            engine=self.word,
            shape=factors.shape,
            task="Enumeration",
            n_cells=n_cells,
            max_cells=self.max_cells,
            n_bytes=8 * _VECTORS * n_cells,
            forecast=seconds + _EXPONENTIAL * as_float(n_cells),
            why="it is exact for any scopes and needs no search for an order",
            suggestion="Observe some of the variables, use fewer, or raise max_cells.",
        )

    def _run(self, plan: Plan, factors: Factors) -> JointTable:
        q = log_potentials(factors)
        impossible = np.isneginf(q) if factors.has_impossible_states else None
        largest, total = exponentiate(q, jobs=self.jobs)
        if largest == -np.inf:
            raise ImpossibleError
        if not np.isfinite(largest) or np.isnan(total):
            raise InputError("The tables are so large that their sums overflow; subtract a constant from each.")
        q /= total
        if impossible is not None:
            q[impossible] = 0.0  # the kernel's exponentials do not go below 3e-308
        return JointTable(factors.shape, q, largest + float(np.log(total)))


class JointTable(Posterior):
    """Probabilities of all joint states, and the marginals of the last variables."""

    def __init__(self, shape: tuple[int, ...], p: Floats, log_z: float) -> None:
        self.log_z, self._shape = log_z, shape
        self._from = {0: p}  # k -> p of the variables from k on
        for k, c in enumerate(shape[:-1]):
            p = p if c == 1 else p.reshape(c, -1).sum(axis=0)
            self._from[k + 1] = p

    @property
    def probabilities(self) -> Floats:
        """Probabilities of all joint states, flat in C order."""
        return self._from[0]

    def marginal(self, scope: Scope) -> Floats:
        check_scopes(self._shape, (scope,))
        first, inner, order = _axes_of(scope, self._shape)
        if not inner:
            return np.ones(1)
        p = self._from[first].reshape(inner).sum(axis=tuple(range(0, len(inner), 2)))
        return np.ascontiguousarray(np.transpose(p, order)).ravel()


def log_potentials(factors: Factors) -> Floats:
    """Return the sum of all tables at every joint state, flat in C order."""
    by_first: dict[int, list[tuple[list[int], Floats]]] = {}
    q = np.zeros(1)
    for scope, table in zip(factors.scopes, factors.tables, strict=True):
        first, inner, order = _axes_of(scope, factors.shape)
        if not inner:
            q += table  # a constant: all variables of the scope have one state, or it has none
            continue
        cards = [inner[1::2][position] for position in order]
        ordered = np.transpose(table.reshape(cards), np.argsort(order))
        by_first.setdefault(first, []).append((inner, np.expand_dims(ordered, tuple(range(0, len(inner), 2)))))
    with np.errstate(over="ignore", invalid="ignore"):  # the engine checks the sums
        for k in range(len(factors.shape) - 1, -1, -1):
            q = np.tile(q, factors.shape[k]) if factors.shape[k] > 1 else q
            for inner, table in by_first.get(k, ()):
                view = q.reshape(inner)
                view += table
    return q


def _axes_of(scope: Scope, shape: tuple[int, ...]) -> tuple[int, list[int], list[int]]:
    """Return the first variable of a scope, the shape of an array of all variables from it on, and the axes' order.

    Variables of one state are left out. In the shape, variables outside the scope are merged with their neighbours, so
    that even axes are merged ones and odd axes are the scope's variables, ascending. The order lists the position of
    each variable of the scope among these.

    There are at most about twice as many axes as the table has variables, however many variables have one state.
    numpy limits the number of axes.
    """
    live = [i for i in scope if shape[i] > 1]
    ascending = sorted(live)
    if not live:
        return 0, [], []
    inner, at = [], ascending[0]
    for i in ascending:
        inner += [prod(shape[at:i]), shape[i]]
        at = i + 1
    return ascending[0], [*inner, prod(shape[at:])], [ascending.index(i) for i in live]


def _touched(shape: tuple[int, ...], scopes: Sequence[Scope]) -> int:
    """Count the cells that passes over these scopes touch: all variables from the first of each scope on."""
    after = [1]
    for c in reversed(shape):
        after.append(after[-1] * c)
    return sum(after[len(shape) - min(scope)] for scope in scopes if scope)
