"""A most probable joint state, by whatever finds one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from mrfit.errors import ImpossibleError, InputError
from mrfit.factors import Factors
from mrfit.inference.engine import AUTO
from mrfit.inference.junction_tree import JunctionTree
from mrfit.inference.max_product import MaxBeliefs, MaxProduct
from mrfit.inference.planned_tree import PlannedTree
from mrfit.inference.toulbar2 import Toulbar2

Indices = NDArray[np.int64]

WAYS = (JunctionTree.word, Toulbar2.word, MaxProduct.word)


@dataclass(frozen=True, eq=False)
class Best:
    """Codes of all variables, and the sum of all tables there. Where it is not exact, there may be better ones."""

    codes: Indices
    log_potential: float
    engine: str
    why: str
    exact: bool
    remarks: tuple[str, ...] = ()


def best_state(
    factors: Factors, *, engine: str = AUTO, names: Sequence[str] | None = None, tree: PlannedTree | None = None
) -> Best:
    """By a junction tree (planned here unless given) where it fits, else by toulbar2 if it is installed, else by
    max-product."""
    if engine not in (AUTO, *WAYS):
        raise InputError(f"There is no engine {engine!r} for most probable states; choose auto, {', '.join(WAYS)}.")
    tree = tree or PlannedTree.of(factors)
    if tree.answers(engine, names):
        codes, largest = tree.engine.best(tree.plan, factors)
        return Best(codes, largest, tree.engine.word, tree.plan.why, exact=True)
    why = "it was asked for" if engine != AUTO else f"no tree fits. {tree.plan.figures(names)}"
    if engine == Toulbar2.word or (engine == AUTO and find_spec("pytoulbar2") is not None):
        found = Toulbar2().best(factors)
        return Best(found.codes, found.log_potential, Toulbar2.word, why, found.proven, found.remarks)
    passing = MaxProduct()
    beliefs = passing.run(passing.plan(factors), factors)
    assert isinstance(beliefs, MaxBeliefs)
    if beliefs.exact and beliefs.score == -np.inf:
        raise ImpossibleError
    return Best(beliefs.state, beliefs.score, passing.word, why, beliefs.exact, beliefs.remarks)
