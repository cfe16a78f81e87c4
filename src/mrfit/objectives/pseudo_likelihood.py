"""The negative mean pseudo-log-likelihood of a table."""

from __future__ import annotations

from mrfit._kernels.fitting.cells import LOGISTIC
from mrfit.objectives.conditional_loss import ConditionalLoss


class PseudoLikelihood(ConditionalLoss):
    """Negative mean pseudo-log-likelihood of rows, in nats.

    -1/N sum over rows d and variables i of log p(x_i | rest of the row) (Besag 1975; Chou et al. 2018, eq. 1). It is
    convex, needs no log Z, and has its minimum near the true parameters for many rows.

    Parameters
    ----------
    cells : ConditionalCells
        Rows to fit, under the structure of the parameters.
    jobs : int, default 1
        Number of threads of a pass; the result does not depend on it.

    See Also
    --------
    Likelihood : The exact objective, for few joint states.
    InteractionScreening : Another loss without log Z.
    mrfit.MarkovNetwork.pll : The same of a model, with the opposite sign.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.objectives import ConditionalCells, PseudoLikelihood
    >>> from mrfit.parameterizations import Canonical
    >>> from mrfit.solvers import TruncatedNewton, minimize
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> rows = mrfit.UniqueRows.of(table)
    >>> parameters = Canonical(rows.domain, mrfit.Structure.complete(2))
    >>> cells = ConditionalCells.count(rows, parameters)
    >>> minimize(PseudoLikelihood(cells), TruncatedNewton()).w.round(3)
    array([-0.693, -0.693,  1.386])
    """

    loss = LOGISTIC
