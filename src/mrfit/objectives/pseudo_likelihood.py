"""The negative mean pseudo-log-likelihood of a table."""

from __future__ import annotations

from mrfit._kernels.fitting.cells import LOGISTIC
from mrfit.objectives.conditional_loss import ConditionalLoss


class PseudoLikelihood(ConditionalLoss):
    """-1/N sum over rows d and variables i of log p(x_i | rest of the row) (Besag; Chou et al. 2018, eq. 1)."""

    loss = LOGISTIC
