"""Most probable states by toulbar2, a solver of cost function networks, where no tree fits.

Its Python package, pytoulbar2, is an extra: ``pip install mrfit[map]``. It searches in a process of its own, because it
holds Python's global lock: neither a progress bar nor Ctrl-C would get a turn for a minute.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import ClassVar

import numpy as np

from mrfit._typing import Indices
from mrfit.core.errors import ImpossibleError, InputError
from mrfit.core.factors import Factors

_DIGITS = 7  # after the decimal point of costs, which toulbar2 rounds to integers


@dataclass(frozen=True, eq=False)
class WCSPSolution:
    """A joint state, and an upper bound on the score of every state; ``proven`` where they are equal."""

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
        Time limit, after which it returns the best state so far.
    """

    seconds: int = 60

    word: ClassVar[str] = "toulbar2"

    def best(self, factors: Factors) -> WCSPSolution | None:
        """Return the best state it found, None if it found none in time."""
        if find_spec("pytoulbar2") is None:
            raise InputError(
                "toulbar2 needs pytoulbar2, which is not installed; run `pip install 'mrfit[map]'`, or use search."
            )
        found = _in_a_process(factors, self.seconds)
        if found is None:
            return None
        state, cost, least = found
        codes = np.array(state, np.int64)
        value = float(factors.log_potential(codes[None])[0])
        if value == -np.inf:
            raise ImpossibleError
        # It does not say whether it was stopped: only a search that ended has a cost that meets its lower bound.
        unit = float(10.0**-_DIGITS)  # to which costs are rounded
        if cost - least <= unit:
            return WCSPSolution(codes, value, value)
        stopped = f"toulbar2 was stopped after {self.seconds} s: there may be a better state."
        bound = value + cost - least + unit * (1 + len(factors.scopes))
        return WCSPSolution(codes, value, bound, (stopped,))


_State = tuple[list[int], float, float]  # codes, their cost, and a lower bound on all costs


def _in_a_process(factors: Factors, seconds: int) -> _State | None:
    """Solve in a process that runs this file; it ends with this one."""
    with subprocess.Popen(
        [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            answer, complaint = process.communicate(pickle.dumps((factors, seconds)))
        except BaseException:  # an interrupt: nobody waits for the answer any more
            process.kill()
            raise
    if process.returncode:
        lines = complaint.decode(errors="replace").strip().splitlines()
        raise InputError(f"toulbar2 failed: {lines[-1] if lines else 'it was killed'}. Use search instead.")
    found: _State | None = pickle.loads(answer)
    return found


def _solved(factors: Factors, seconds: int) -> _State | None:
    """Search in this process."""
    import pytoulbar2

    problem = pytoulbar2.CFN(resolution=_DIGITS, verbose=-1)
    for i, c in enumerate(factors.shape):
        problem.AddVariable(f"x{i}", range(c))
    forbidden = _beyond_all(factors)
    for scope, table in zip(factors.scopes, factors.tables, strict=True):
        costs = np.where(np.isneginf(table), forbidden, -table)
        if scope:
            problem.AddFunction(list(scope), costs.tolist())
    solution = problem.Solve(showSolutions=0, timeLimit=seconds)
    return None if solution is None else (list(solution[0]), float(solution[1]), float(problem.GetDDualBound()))


def _beyond_all(factors: Factors) -> float:
    """Return a cost larger than every sum of finite ones."""
    finite = [table[np.isfinite(table)] for table in factors.tables]
    return 1.0 + sum(float(table.max() - table.min()) for table in finite if table.size)


def _serve() -> None:
    """Read a problem from standard input and write its solution to standard output, where nothing else may print."""
    answer = os.dup(1)
    os.dup2(2, 1)
    factors, seconds = pickle.load(sys.stdin.buffer)
    with os.fdopen(answer, "wb") as out:
        pickle.dump(_solved(factors, seconds), out)


if __name__ == "__main__":
    _serve()
