"""Interaction screening: a loss with its minimum at the true parameters, without log Z and without probabilities."""

from __future__ import annotations

from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.fitting.cells import DIAGONAL, EXPANSION, GRADIENT, PRODUCT, SCREENING
from mrfit._typing import Floats
from mrfit.objectives.conditional_loss import ConditionalLoss
from mrfit.objectives.objective import Expansion


class InteractionScreening(ConditionalLoss):
    """Interaction screening objective (RISE): a loss with its minimum at the true parameters, without log Z.

    1/N sum over rows d and variables i of exp(mean over states s of z_i(s) - z_i(x_i)), where z_i(s) is what the rest
    of the row adds to state s of variable i: log p(x_i = s | rest) up to a constant. For spins the loss is exp(-h_i s_i
    - sum over j of J_ij s_i s_j) (Vuffray et al. 2016).

    Parameters
    ----------
    cells : ConditionalCells
        Rows to fit, compressed for one variable given the others.
    jobs : int, default 1
        Number of threads of a pass over the cells.

    See Also
    --------
    LogInteractionScreening : The logarithm of each variable's mean.
    PseudoLikelihood : The usual loss, with smaller sampling error for many rows.

    Notes
    -----
    In the papers every variable has parameters of its own, and the two of a pair are averaged. Here a pair has one
    parameter, as in the pseudo-likelihood.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.objectives import ConditionalCells, InteractionScreening
    >>> from mrfit.parameterizations import Canonical
    >>> from mrfit.solvers import LBFGS, minimize
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> rows = mrfit.UniqueRows.of(table)
    >>> parameters = Canonical(rows.domain, mrfit.Structure.complete(2))
    >>> cells = ConditionalCells.count(rows, parameters)
    >>> minimize(InteractionScreening(cells), LBFGS()).w.round(3)
    array([-0.693, -0.693,  1.386])
    """

    loss = SCREENING

    def _cell_buffer(self) -> Floats:
        arrays = self.cells.arrays
        return np.empty(len(arrays.counts) + len(arrays.total))


class _Logs(NamedTuple):
    """The sum over variables of logarithms, and its derivatives by slot."""

    value: float
    sums: Floats  # of the loss over rows: for each slot that of its variable
    slopes: Floats


class LogInteractionScreening(InteractionScreening):
    """Logarithmic interaction screening objective (logRISE).

    Sum over variables of the logarithm of the mean over rows that `InteractionScreening` adds up (Lokhov et al. 2018).

    Parameters
    ----------
    cells : ConditionalCells
        Rows to fit, as cells of each variable's neighbours.
    jobs : int, default 1
        Number of threads of a pass; sums of each variable are independent.

    See Also
    --------
    InteractionScreening : The same without the logarithm.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.objectives import ConditionalCells, LogInteractionScreening
    >>> from mrfit.parameterizations import Canonical
    >>> from mrfit.solvers import LBFGS, minimize
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> rows = mrfit.UniqueRows.of(table)
    >>> parameters = Canonical(rows.domain, mrfit.Structure.complete(2))
    >>> cells = ConditionalCells.count(rows, parameters)
    >>> minimize(LogInteractionScreening(cells), LBFGS()).w.round(3)
    array([-0.693, -0.693,  1.386])
    """

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        self._sweep(GRADIENT, w, np.empty(0))
        at = self._logs()
        return at.value, self._collected(at.slopes)

    def expand(self, w: Floats) -> Expansion:
        terms = self._cell_buffer()
        self._sweep(EXPANSION, w, terms)
        at = self._logs()
        gradient = self._collected(at.slopes)

        def diagonal() -> Floats:
            self._sweep(DIAGONAL, gradient, terms)  # ignores the direction: any vector will do
            return self._collected(self._slots / at.sums - at.slopes**2)

        def product(direction: Floats) -> Floats:
            """Multiply by the Hessian of log S: that of S over S, minus the outer product of the gradient of log S."""
            self._sweep(PRODUCT, direction, terms)
            along = np.bincount(self._owner, at.slopes * self._w_slots, self.cells.n_variables)
            return self._collected(self._slots / at.sums - at.slopes * along[self._owner])

        return Expansion(value=at.value, gradient=gradient, diagonal=cache(diagonal), product=product)

    @cached_property
    def _owner(self) -> NDArray[np.int64]:
        """The variable of every slot."""
        return np.repeat(np.arange(self.cells.n_variables), np.diff(self.cells.arrays.slot_start))

    def _logs(self) -> _Logs:
        """Return the logarithms and derivatives of the last sweep."""
        with_states = self.cells.arrays.n_free > 0
        value = float(np.log(self._values[with_states] / self.cells.total_weight).sum())
        sums = self._values[self._owner]
        return _Logs(value, sums, self._slots / sums)
