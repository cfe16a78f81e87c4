"""Soft tying by stochastic gradients, the way Chou et al. (2018) ran it: for comparison, not for speed.

Each step takes the gradient of one batch of rows; the groups and centers follow every so many steps. Step lengths are
those of AdaGrad (Duchi, Hazan and Singer 2011). It comes near an optimum and does not certify it; the violation it
returns with is that of all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.learning.tying.soft_tying import TiedSolution, TyingRecord, TyingTask
from mrfit.learning.tying.tying_problem import TyingProblem
from mrfit.objectives.objective import Objective
from mrfit.solvers.solution import Record, Solution, Status


@dataclass(frozen=True)
class Stochastic:
    """Settings of soft tying by stochastic gradients (AdaGrad), as in the experiments of Chou et al. (2018).

    For comparison with the paper, not for speed: it comes near an optimum and does not certify it.

    Parameters
    ----------
    batch_rows : int, default=100
        Approximate number of rows in a batch.
    epochs : int, default=50
        Passes over all batches, in a new random order each time.
    cluster_every : int, default=50
        Steps between two clusterings.
    rate : float, default=0.3
        Length of the first step of every parameter.

    See Also
    --------
    mrfit.SoftTied : Takes these settings as ``stochastic``.

    Examples
    --------
    >>> from mrfit import SoftTied
    >>> from mrfit.penalties import Stochastic
    >>> SoftTied(groups=5, stochastic=Stochastic(epochs=10)).stochastic.batch_rows
    100
    """

    batch_rows: int = 100
    epochs: int = 50
    cluster_every: int = 50
    rate: float = 0.3

    def __post_init__(self) -> None:
        for name in ("batch_rows", "epochs", "cluster_every"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} of stochastic tying must be at least 1; got {getattr(self, name)}.")
        if not 0 < self.rate < np.inf:
            raise InputError(f"The rate of stochastic tying must be positive and finite; got {self.rate:g}.")


def tie_stochastically(
    problem: TyingProblem,
    batches: Sequence[Objective],
    w: Floats,
    tying: TyingTask,
    how: Stochastic,
    *,
    rng: np.random.Generator,
    callback: Callable[[TyingRecord], bool | None] | None = None,
) -> TiedSolution:
    """Tie softly from ``w`` by stochastic gradients; the objective over all rows is evaluated at the end only."""
    objective, bound = problem.objective, problem.bound
    groups = tying.groups(w)
    squares = np.full(len(w), 1e-12)
    step = 0
    for _ in range(how.epochs):
        for number in rng.permutation(len(batches)):
            _, gradient = batches[number].value_and_gradient(w)
            gradient = gradient + tying.strength / problem.total_weight * (w - groups.tied(w))
            squares += gradient**2
            w = np.clip(w - how.rate * gradient / np.sqrt(squares), -bound, bound)
            step += 1
            if step % how.cluster_every == 0:
                groups = tying.groups(w)
    groups = tying.groups(w)
    passes = objective.passes
    groups, value, violation = problem.certificate(groups, w, tying.strength)
    # A pass over all batches is a pass over the data.
    latest = TyingRecord(0, tying.strength, value, violation, 0, how.epochs + objective.passes - passes)
    record = Record(step, value, violation, latest.passes, 0, how.rate)
    solution = Solution(w, value, violation, Status.ITERATION_LIMIT, (record,), np.flatnonzero(np.abs(w) >= bound))
    if callback is not None:
        callback(latest)
    return TiedSolution(solution, groups, 0.0, (latest,), latest.passes)
