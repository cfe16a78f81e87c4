"""Early stopping: abandon fits of a grid that cannot win on the validation rows."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from mrfit._typing import Floats
from mrfit.objectives.cached import CachedObjective

_LOOK = 50  # passes over the training rows between two looks at the validation rows, which take about five
_WORSE = 3e-4  # of a score: since the last look
_BEHIND = 3e-3  # of a score: behind the best


class EarlyStopping:
    """Fits of one grid against each other, by their scores on validation rows.

    A fit is lost when it is behind the ``best`` of the others and its score falls: without a penalty a way to the
    optimum that begins to follow every row goes on doing so. Where the best falls behind it later, it has to be run on.
    Short fits are never looked at.
    """

    def __init__(self, objective: CachedObjective, score: Callable[[Floats], float]) -> None:
        self._objective, self._score = objective, score
        self.best = -inf

    def begun(self, w: Floats) -> Callable[[Floats], bool]:
        """Tells of a fit that begins at ``w`` whether it is lost, from point to point."""
        latest: Floats | float = w
        then = self._objective.passes

        def is_lost(w: Floats) -> bool:
            nonlocal latest, then
            if self._objective.passes < then + _LOOK:
                return False
            before = latest if isinstance(latest, float) else self._score(latest)
            latest, then = self._score(w), self._objective.passes
            return latest < before - _WORSE * abs(before) and latest < self.best - _BEHIND * abs(self.best)

        return is_lost
