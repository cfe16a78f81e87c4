"""The mean of several objectives of the same parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TypeVar

import numpy as np

from mrfit._typing import Floats
from mrfit.objectives.objective import Expansion, Objective

Value = TypeVar("Value", float, Floats)


class WeightedMean(Objective):
    """Sum over parts of share * objective.

    Parameters
    ----------
    parts
        One objective or more, of the same parameters.
    shares
        Weight of each objective; they sum to one.
    """

    def __init__(self, parts: Sequence[Objective], shares: Sequence[float]) -> None:
        self.parts, self.shares = parts, shares
        self.n_parameters, self.n_cells = parts[0].n_parameters, sum(part.n_cells for part in parts)
        self.is_convex = all(part.is_convex for part in parts)

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        values, gradients = zip(*(part.value_and_gradient(w) for part in self.parts), strict=True)
        return self._mean(values), self._mean(gradients)

    def expand(self, w: Floats) -> Expansion:
        found = [part.expand(w) for part in self.parts]
        duals = [each.dual for each in found if each.dual is not None]
        return Expansion(
            value=self._mean(each.value for each in found),
            gradient=self._mean(each.gradient for each in found),
            diagonal=cache(lambda: self._mean(each.diagonal() for each in found)),
            product=lambda v: self._mean(each.product(v) for each in found),
            block=lambda chosen: self._mean(each.hessian()[np.ix_(chosen, chosen)] for each in found),
            # If each gradient is t times that of its part, so is their mean: the duals average too.
            dual=(lambda t: self._mean(dual(t) for dual in duals)) if len(duals) == len(found) else None,
        )

    def rough_hessian(self) -> Floats | None:
        found = [part.rough_hessian() for part in self.parts]
        known = [each for each in found if each is not None]
        return self._mean(known) if len(known) == len(found) else None

    def _mean(self, of_parts: Iterable[Value]) -> Value:
        terms = [share * each for share, each in zip(self.shares, of_parts, strict=True)]
        return sum(terms[1:], start=terms[0])
