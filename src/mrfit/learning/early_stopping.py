"""Early stopping: abandon fits of a grid that cannot win on the validation rows."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from mrfit._typing import Floats
from mrfit.objectives.cached import CachedObjective

_LOOK = 50  # passes over the training rows between two checks; scoring the validation rows costs about five
_WORSE = 3e-4  # of a score: since the last look
_BEHIND = 3e-3  # of a score: behind the best


class EarlyStopping:
    """Abandon fits that cannot win on the validation rows.

    A fit is lost when its validation score falls and is already behind the ``best`` finished one. Without a penalty, a
    path to the optimum that starts to overfit keeps overfitting, so its final score would be worse still. If the best
    turns out to be worse later, an abandoned fit has to be run to its end. Short fits are never checked.
    """

    def __init__(self, objective: CachedObjective, score: Callable[[Floats], float]) -> None:
        self._objective, self._score = objective, score
        self.best = -inf

    def begun(self, w: Floats) -> Callable[[Floats], bool]:
        """Return a function of later points that tells whether the fit that begins at ``w`` is lost."""
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
