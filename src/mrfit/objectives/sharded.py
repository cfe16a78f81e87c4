"""An objective whose rows are on other workers, as a sum over shards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from mrfit._typing import Floats
from mrfit.core.cluster import Held
from mrfit.objectives.hessian import Hessian
from mrfit.objectives.objective import Expansion, ExplicitHessian, Objective, read_only


class HessianCost(NamedTuple):
    """The numbers of an `ExplicitHessian`, whose functions cannot be pickled."""

    products: float
    nanoseconds: float
    dividing: float
    n_entries: int
    reuse_across_steps: bool

    @classmethod
    def of(cls, explicit: ExplicitHessian | None) -> HessianCost | None:
        if explicit is None:
            return None
        return cls(
            explicit.products, explicit.nanoseconds, explicit.dividing, explicit.n_entries, explicit.reuse_across_steps
        )


class Shard:
    """The objective of some rows, and their total weight.

    The shard caches its expansion for the products that follow. Every product also names its point, so a shard that was
    rebuilt after its worker died expands there first, and no result depends on the cache.
    """

    def __init__(self, objective: Objective, total_weight: float) -> None:
        self.objective, self.total_weight = objective, total_weight
        self._point: Floats | None = None
        self._expansion: Expansion | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the expansion, whose functions cannot be pickled."""
        return {**self.__dict__, "_point": None, "_expansion": None}

    def traits(self) -> tuple[int, int, bool, float]:
        own = self.objective
        return own.n_parameters, own.n_cells, own.is_convex, self.total_weight

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        return self.objective.value_and_gradient(w)

    def expand(self, w: Floats) -> tuple[float, Floats, HessianCost | None]:
        expansion = self._at(w)
        return expansion.value, expansion.gradient, HessianCost.of(expansion.explicit)

    def hessian(self, w: Floats) -> Hessian | None:
        explicit = self._at(w).explicit
        return None if explicit is None else explicit.hessian()

    def product(self, w: Floats, v: Floats) -> Floats:
        return self._at(w).product(v)

    def diagonal(self, w: Floats) -> Floats:
        return self._at(w).diagonal()

    def _at(self, w: Floats) -> Expansion:
        if self._expansion is None or not np.array_equal(self._point, w):  # type: ignore[arg-type]
            self._point = self._expansion = None  # release memory before the next one is computed
            self._point, self._expansion = read_only(w), self.objective.expand(w)
        return self._expansion


class Sharded(Objective):
    """The mean of the objectives of all shards, weighted by their rows and always added in their order.

    Results are the same to the last bit on any workers; for one shard they are those of its own objective.
    """

    def __init__(self, shards: Held) -> None:
        self._shards = shards
        n_parameters, n_cells, are_convex, weights = zip(*shards.ask(Shard.traits), strict=True)
        self.n_parameters, self.n_cells, self.is_convex = n_parameters[0], sum(n_cells), all(are_convex)
        self._shares = [weight / sum(weights) for weight in weights]

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        values, gradients = zip(*self._shards.ask(Shard.value_and_gradient, w), strict=True)
        return float(self._mean(values)), self._mean(gradients)

    def expand(self, w: Floats) -> Expansion:
        at = read_only(w)
        values, gradients, costs = zip(*self._shards.ask(Shard.expand, at), strict=True)
        return Expansion(
            value=float(self._mean(values)),
            gradient=self._mean(gradients),
            diagonal=cache(lambda: self._mean(self._shards.ask(Shard.diagonal, at))),
            product=lambda v: self._mean(self._shards.ask(Shard.product, at, v)),
            explicit=None if None in costs else self._explicit(costs, at),
        )

    def _explicit(self, costs: Sequence[HessianCost], w: Floats) -> ExplicitHessian:
        """Return the Hessian of all shards together."""

        def hessian() -> Hessian:
            parts: list[Hessian] = self._shards.ask(Shard.hessian, w)
            return parts[0].with_entries(self._mean([part.entries for part in parts]))

        nanoseconds = sum(cost.nanoseconds for cost in costs)
        products = sum(cost.products * cost.nanoseconds for cost in costs) / nanoseconds
        _, _, dividing, n_entries, reuse_across_steps = costs[0]
        return ExplicitHessian(hessian, products, nanoseconds, dividing, n_entries, reuse_across_steps)

    def _mean(self, of_shards: Any) -> Any:
        terms = [share * each for share, each in zip(self._shares, of_shards, strict=True)]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total
