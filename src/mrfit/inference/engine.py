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
    """log Z and marginals of a distribution, as an engine computed them; base class of the results of engines.

    A subclass sets ``log_z`` (NaN where it is unknown), and if it is approximate ``exact``, ``error`` and ``remarks``.

    Attributes
    ----------
    log_z : float
        Logarithm of the partition function, in nats; an estimate or a bound if ``exact`` is false.
    exact : bool
        Whether log Z and marginals are exact up to rounding.
    error : float or None
        Standard error of ``log_z``: 0 if exact, None if unknown.
    remarks : tuple of str
        Sentences for people on how far to trust the numbers, such as that messages did not converge.

    See Also
    --------
    Engine : Returns a posterior from ``run``.
    mrfit.MarkovNetwork.marginals : The same by names of variables.

    Examples
    --------
    >>> import mrfit
    >>> factors = mrfit.Factors.from_tables((2, 2), [((0, 1), [1.0, 0.0, 0.0, 1.0])])
    >>> engine = mrfit.Enumeration()
    >>> posterior = engine.run(engine.plan(factors), factors)
    >>> round(posterior.log_z, 3), posterior.marginal((0, 1)).round(3).tolist()
    (2.006, [0.366, 0.134, 0.134, 0.366])
    """

    log_z: float
    exact: bool = True
    error: float | None = 0.0
    remarks: tuple[str, ...] = ()

    @abstractmethod
    def marginal(self, scope: Scope) -> Floats:
        """Return the joint probabilities of the variables of a scope in the plan.

        For the scope of a factor it is the gradient of log Z in that factor's table.

        Parameters
        ----------
        scope : tuple of int
            Positions of variables: a single one, the scope of a factor, or a target of the plan.

        Returns
        -------
        array
            Flat, in C order of the scope as listed, like the table of a factor.
        """

    def deviations(self, scope: Scope) -> Floats | None:
        """Return the deviations of `marginal` in each independent part of a run, such as a chain.

        Parameters
        ----------
        scope : tuple of int
            Positions of variables, as in `marginal`.

        Returns
        -------
        array of shape (n_cells, n_parts) or None
            The standard error of a weighted sum ``g @ marginal`` is the norm of ``g @ deviations``. An exact marginal
            has no parts; None means that the error is unknown.
        """
        return np.zeros((len(self.marginal(scope)), 0)) if self.exact else None

    def marginal_error(self, scope: Scope) -> Floats | None:
        """Return the standard error of every cell of `marginal`.

        Parameters
        ----------
        scope : tuple of int
            Positions of variables, as in `marginal`.

        Returns
        -------
        array of shape (n_cells,) or None
            Zeros where the marginal is exact, None where errors are unknown.
        """
        parts = self.deviations(scope)
        return None if parts is None else np.asarray(np.linalg.norm(parts, axis=1))


class Engine(ABC):
    """Algorithm for log Z and marginals of factors; base class of all engines.

    Its fields are its settings; it holds no state. A subclass defines ``word`` (the name by which users choose it),
    ``plan`` and ``_run``. The class attributes ``is_exact`` (every run is exact, on any factors) and
    ``answers_marginals`` (false: it finds most probable states only) describe what it can do.

    See Also
    --------
    JunctionTree : Exact inference by variable elimination.
    Annealed : Approximate inference with errors.
    mrfit.testing.check_engine : Check an exact engine of your own.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.inference import Engine, JunctionTree
    >>> factors = mrfit.Factors.from_tables((2, 2), [((0, 1), [1.0, 0.0, 0.0, 1.0])])
    >>> engine: Engine = JunctionTree()
    >>> posterior = engine.run(engine.plan(factors), factors)
    >>> round(posterior.log_z, 3), engine.is_exact
    (2.006, True)
    """

    word: ClassVar[str]  # the name by which users choose it
    answers_marginals: ClassVar[bool] = True  # False: it finds most probable states only
    is_exact: ClassVar[bool] = False  # True: every run is exact, on any factors

    @abstractmethod
    def plan(self, factors: Factors, targets: Sequence[Scope] = ()) -> Plan:
        """Forecast the cells, bytes and seconds of a run, from shape and scopes alone.

        The posterior will have the marginal of every factor's scope and of every single variable.

        Parameters
        ----------
        factors : Factors
            Distribution, of which only shape and scopes matter.
        targets : sequence of tuples of int, default ()
            Further sets of variables whose joint marginals you want.

        Returns
        -------
        Plan
        """

    def run(self, plan: Plan, factors: Factors) -> Posterior:
        """Run a plan.

        Parameters
        ----------
        plan : Plan
            Plan of this engine for factors of the same shape. One beyond the limits is refused before anything is
            allocated.
        factors : Factors
            Distribution, with the values of its tables.

        Returns
        -------
        Posterior

        Raises
        ------
        MrfitError
            If the plan is not for this engine and these factors, does not fit, or every joint state is impossible.
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
