"""The interface of inference engines: plan, then run, then read a posterior."""

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

AUTO = "auto"  # names no engine: mrfit chooses one that fits


class Posterior(ABC):
    """log Z and marginals of a distribution, as a run computed them.

    An approximation reports how far to trust it: ``error`` is a standard error of ``log_z`` where one is known, and
    ``remarks`` are sentences for people, such as that it did not converge. ``log_z`` is NaN where it is unknown.
    """

    log_z: float
    exact: bool = True
    error: float | None = 0.0
    remarks: tuple[str, ...] = ()

    @abstractmethod
    def marginal(self, scope: Scope) -> Floats:
        """Return p(x_A) for a scope in the plan: flat, in C order of the scope as listed, like the table of a factor.

        For the scope of a factor it is the gradient of log Z in that factor's table.
        """

    def deviations(self, scope: Scope) -> Floats | None:
        """Return the deviations of `marginal` in each independent part of a run, such as a chain: (cells, parts).

        The standard error of a weighted sum ``g @ marginal`` of cells is the norm of ``g @ deviations``. An exact
        marginal has no parts. If the error is unknown, returns None.
        """
        return np.zeros((len(self.marginal(scope)), 0)) if self.exact else None

    def marginal_error(self, scope: Scope) -> Floats | None:
        """Return standard errors of `marginal`, cell by cell: zeros where it is exact, None where they are unknown."""
        parts = self.deviations(scope)
        return None if parts is None else np.asarray(np.linalg.norm(parts, axis=1))


class Engine(ABC):
    """An algorithm for log Z and marginals. Its fields are its settings; it holds no state."""

    word: ClassVar[str]  # the name by which users choose it
    answers_marginals: ClassVar[bool] = True  # False: it finds most probable states only
    is_exact: ClassVar[bool] = False  # True: every run is exact, on any factors

    @abstractmethod
    def plan(self, factors: Factors, targets: Sequence[Scope] = ()) -> Plan:
        """Forecast the cells, bytes and seconds of a run, from shape and scopes alone.

        The posterior will have the marginal of every factor's scope and of every single variable. ``targets`` are
        further sets of variables whose joint marginals you want.
        """

    def run(self, plan: Plan, factors: Factors) -> Posterior:
        """Run a plan. A plan beyond the limits is refused before anything is allocated.

        Factors that make every joint state impossible define no distribution, and are refused too.
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
        """Run a plan that fits."""


def check_precision(precision: float | None) -> None:
    """Refuse a precision that is no finite positive standard error."""
    if precision is None:
        return
    if not isinstance(precision, float | int | np.number) or not 0.0 < precision < inf:
        raise InputError(
            f"The precision is {precision!r}; expected a standard error of probabilities above 0, such as 0.01."
        )
