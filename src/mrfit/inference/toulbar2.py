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
    """A joint state, and whether it was proven that there is no better one."""

    codes: Indices
    log_potential: float
    proven: bool
    remarks: tuple[str, ...] = ()


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

    def best(self, factors: Factors) -> Solved:
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
            raise InputError(f"toulbar2 found no joint state in {self.seconds} s; give it more time, or observe more.")
        codes = np.array(solution[0], np.int64)
        value = float(factors.log_potential(codes[None])[0])
        if value == -np.inf:
            raise ImpossibleError
        # It does not say whether the time was up: a proof is a bound that meets the cost, both whole numbers inside.
        proven = problem.GetDDualBound() > solution[1] - 0.5 * 10.0**-_DIGITS
        remarks = () if proven else (f"toulbar2 was stopped after {self.seconds} s: there may be a better state.",)
        return Solved(codes, value, proven, remarks)


def _beyond_all(factors: Factors) -> float:
    """A cost that no sum of finite ones reaches."""
    finite = [table[np.isfinite(table)] for table in factors.tables]
    return 1.0 + sum(float(table.max() - table.min()) for table in finite if table.size)


def _package() -> Any:
    try:
        import pytoulbar2
    except ImportError as error:
        raise InputError(
            "toulbar2 needs pytoulbar2, which is not installed; run `pip install 'mrfit[map]'`, or use max-product."
        ) from error
    return pytoulbar2
