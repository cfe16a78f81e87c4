"""A most probable joint state, by whatever finds one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.errors import ImpossibleError, InputError
from mrfit.factors import Factors
from mrfit.inference.engine import AUTO
from mrfit.inference.junction_tree import JunctionTree
from mrfit.inference.max_product import MaxBeliefs, MaxProduct
from mrfit.inference.planned_tree import PlannedTree
from mrfit.inference.state_search import Found, StateSearch
from mrfit.inference.toulbar2 import Solved, Toulbar2

Indices = NDArray[np.int64]

WAYS = (JunctionTree.word, Toulbar2.word, StateSearch.word, MaxProduct.word)
_EXTRA = (
    "For a proof, install the extra 'map' (pip install 'mrfit[map]'), which is toulbar2, or observe more variables."
)


@dataclass(frozen=True, eq=False)
class Best:
    """Codes of all variables, and the sum of all tables there.

    No joint state has a larger sum than ``bound``; None where no bound is known. Where it is exact, both are equal.
    """

    codes: Indices
    log_potential: float
    engine: str
    why: str
    exact: bool
    remarks: tuple[str, ...] = ()
    bound: float | None = None


def best_state(
    factors: Factors,
    *,
    engine: str = AUTO,
    names: Sequence[str] | None = None,
    tree: PlannedTree | None = None,
    seed: int = 0,
    rows: NDArray[Any] | None = None,
) -> Best:
    """By a junction tree (planned here unless given) where it fits, else by toulbar2 if it is installed and gets done,
    else by local search.

    ``seed`` and ``rows`` of codes, as further starts, are for the search.
    """
    if engine not in (AUTO, *WAYS):
        raise InputError(f"There is no engine {engine!r} for most probable states; choose auto, {', '.join(WAYS)}.")
    tree = tree or PlannedTree.of(factors)
    if tree.answers(engine, names):
        codes, largest = tree.engine.best(tree.plan, factors)
        return Best(codes, largest, tree.engine.word, tree.plan.why, exact=True, bound=largest)
    why = "it was asked for" if engine != AUTO else f"no tree fits. {tree.plan.figures(names)}"
    if engine == MaxProduct.word:
        return _guessed(factors, why)
    installed = find_spec("pytoulbar2") is not None
    solved = None
    if engine == Toulbar2.word or (engine == AUTO and installed):
        solved = Toulbar2().best(factors)
        if engine == Toulbar2.word or (solved is not None and solved.proven):
            return _solved(solved, why)
    found = _searched(factors, seed, rows, solved)
    extra = () if found.proven or installed else (_EXTRA,)
    return Best(
        found.codes,
        found.log_potential,
        StateSearch.word,
        why,
        found.proven,
        (*found.remarks, *extra),
        bound=found.bound,
    )


def _solved(solved: Solved | None, why: str) -> Best:
    if solved is None:
        raise InputError(f"toulbar2 found no joint state in {Toulbar2.seconds} s; use search, or observe more.")
    return Best(
        solved.codes, solved.log_potential, Toulbar2.word, why, solved.proven, solved.remarks, bound=solved.bound
    )


def _searched(factors: Factors, seed: int, rows: NDArray[Any] | None, stopped: Solved | None) -> Found:
    """The state of a search, which begins from what toulbar2 had when it was stopped and keeps the better bound."""
    if stopped is None:
        return StateSearch(seed=seed).best(factors, rows)
    rows = stopped.codes[None] if rows is None else np.concatenate([stopped.codes[None], rows])
    found = StateSearch(seed=seed).best(factors, rows)
    return replace(found, bound=max(found.log_potential, min(found.bound, stopped.bound)))


def _guessed(factors: Factors, why: str) -> Best:
    passing = MaxProduct()
    beliefs = passing.run(passing.plan(factors), factors)
    assert isinstance(beliefs, MaxBeliefs)
    if beliefs.exact and beliefs.score == -np.inf:
        raise ImpossibleError
    bound = beliefs.score if beliefs.exact else None
    return Best(beliefs.state, beliefs.score, passing.word, why, beliefs.exact, beliefs.remarks, bound)
