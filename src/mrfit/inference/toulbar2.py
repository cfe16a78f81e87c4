"""Most probable states by toulbar2, a solver of cost function networks, where no tree fits.

Its Python package, pytoulbar2, is an extra: ``pip install mrfit[map]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mrfit.errors import ImpossibleError, InputError
from mrfit.factors import Factors

Indices = NDArray[np.int64]

_DIGITS = 7  # after the decimal point of costs, which are whole numbers inside


@dataclass(frozen=True, eq=False)
class Solved:
    """A joint state, and an upper bound on the score of every state; ``proven`` where both meet."""

    codes: Indices
    log_potential: float
    bound: float
    remarks: tuple[str, ...] = ()

    @property
    def proven(self) -> bool:
        return self.bound == self.log_potential


@dataclass(frozen=True)
class Toulbar2:
    """Branch and bound with soft local consistencies (Allouche et al. 2015).

    Parameters
    ----------
    seconds
        After which it stops with the best state so far.
    """

    seconds: int = 60

    word: ClassVar[str] = "toulbar2"

    def best(self, factors: Factors) -> Solved | None:
        """The best state it found, None if it found none in time."""
        problem = _package().CFN(resolution=_DIGITS, verbose=-1)
        for i, c in enumerate(factors.shape):
            problem.AddVariable(f"x{i}", range(c))
        forbidden = _beyond_all(factors)
        for scope, table in zip(factors.scopes, factors.tables, strict=True):
            costs = np.where(np.isneginf(table), forbidden, -table)
            if scope:
                problem.AddFunction(list(scope), costs.tolist())
        solution = problem.Solve(showSolutions=0, timeLimit=self.seconds)
        if solution is None:
            return None
        codes = np.array(solution[0], np.int64)
        value = float(factors.log_potential(codes[None])[0])
        if value == -np.inf:
            raise ImpossibleError
        # It does not say whether it was stopped: only a search that ended has a cost that meets its lower bound.
        cost, least = float(solution[1]), float(problem.GetDDualBound())
        unit = float(10.0**-_DIGITS)  # to which costs are rounded
        if cost - least <= unit:
            return Solved(codes, value, value)
        stopped = f"toulbar2 was stopped after {self.seconds} s: there may be a better state."
        bound = value + cost - least + unit * (1 + len(factors.scopes))
        return Solved(codes, value, bound, (stopped,))


def _beyond_all(factors: Factors) -> float:
    """A cost that no sum of finite ones reaches."""
    finite = [table[np.isfinite(table)] for table in factors.tables]
    return 1.0 + sum(float(table.max() - table.min()) for table in finite if table.size)


def _package() -> Any:
    try:
        import pytoulbar2
    except ImportError as error:
        raise InputError(
            "toulbar2 needs pytoulbar2, which is not installed; run `pip install 'mrfit[map]'`, or use search."
        ) from error
    return pytoulbar2
