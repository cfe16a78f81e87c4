"""A junction tree with its plan, for callers that fall back to another engine where it does not fit."""

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
        """Return whether the tree answers a request for engine ``asked``; refuse it if it is named and does not fit."""
        if asked == JunctionTree.word:
            self.plan.check(names)
        return asked == JunctionTree.word or (asked == AUTO and self.plan.fits)
