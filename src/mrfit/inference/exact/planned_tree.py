"""A junction tree that answers where it can, and leaves it to others where it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mrfit.core.factors import Factors
from mrfit.inference.engine import AUTO
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.exact.tree_plan import TreePlan


@dataclass(frozen=True, eq=False)
class PlannedTree:
    """An engine and its plan, for any factors of the same shape and scopes."""

    engine: JunctionTree
    plan: TreePlan

    @classmethod
    def of(cls, factors: Factors, **settings: Any) -> PlannedTree:
        engine = JunctionTree(**settings)
        return cls(engine, engine.plan(factors))

    def answers(self, asked: str, names: Sequence[str] | None = None) -> bool:
        """Whether it does, if the engine of this word is asked for: by its own, it has to fit."""
        if asked == JunctionTree.word:
            self.plan.check(names)
        return asked == JunctionTree.word or (asked == AUTO and self.plan.fits)
