"""What an engine of inference is: a plan, then a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf
from typing import ClassVar

import numpy as np

from mrfit._typing import Floats, Scope
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.inference.plan import Plan

AUTO = "auto"  # the word of no engine: whichever fits


class Posterior(ABC):
    """What a run found out about a distribution.

    An approximation says how far it is to be trusted: ``error`` is a standard error of ``log_z`` where there is one,
    ``remarks`` are sentences for people, such as that it did not converge. ``log_z`` is not a number where nothing is
    known of it.
    """

    log_z: float
    exact: bool = True
    error: float | None = 0.0
    remarks: tuple[str, ...] = ()

    @abstractmethod
    def marginal(self, scope: Scope) -> Floats:
        """p(x_A) of a scope that the plan knows: flat, in C order of the scope as listed, like the table of a factor.

        For the scope of a factor it is the gradient of log Z in that factor's table.
        """

    def deviations(self, scope: Scope) -> Floats | None:
        """How far each independent part of a run, such as a chain, moves `marginal`: (cells, parts).

        The standard error of a weighted sum ``g @ marginal`` of cells is the norm of ``g @ deviations``. There are no
        parts where the marginal is exact; None where nobody knows its error.
        """
        return np.zeros((len(self.marginal(scope)), 0)) if self.exact else None

    def marginal_error(self, scope: Scope) -> Floats | None:
        """Standard errors of `marginal`, cell by cell: zeros where it is exact, None where nobody knows them."""
        parts = self.deviations(scope)
        return None if parts is None else np.asarray(np.linalg.norm(parts, axis=1))


class Engine(ABC):
    """A way to log Z and marginals. Its settings are its fields; it holds no state."""

    word: ClassVar[str]  # by which users choose it
    answers_marginals: ClassVar[bool] = True  # and log Z, rather than most probable states alone
    is_exact: ClassVar[bool] = False  # whether every run is, on any factors

    @abstractmethod
    def plan(self, factors: Factors, targets: Sequence[Scope] = ()) -> Plan:
        """What a run takes, from shape and scopes alone.

        Every factor's scope and every single variable will have its marginal; ``targets`` are further sets of
        variables whose joint marginals are wanted.
        """

    def run(self, plan: Plan, factors: Factors) -> Posterior:
        """Do what was planned; a plan beyond the limits is refused before anything is allocated.

        Factors that leave no joint state possible have no distribution, and are refused too.
        """
        if (plan.engine, plan.shape) != (self.word, factors.shape):
            raise InputError(
                f"The plan is one of {plan.engine!r} for {len(plan.shape)} variables; this is {self.word!r} with "
                f"factors of {len(factors.shape)}, or their states differ. Plan again for these factors."
            )
        plan.check()
        return self._run(plan, factors)

    @abstractmethod
    def _run(self, plan: Plan, factors: Factors) -> Posterior:
        """The work itself, on a plan that fits."""


def check_precision(precision: float | None) -> None:
    """Refuse what is no standard error to aim at."""
    if precision is None:
        return
    if not isinstance(precision, float | int | np.number) or not 0.0 < precision < inf:
        raise InputError(
            f"The precision is {precision!r}; expected a standard error of probabilities above 0, such as 0.01."
        )
