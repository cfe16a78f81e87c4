"""What learning returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mrfit.model import MarkovNetwork
from mrfit.solvers.solution import Solution
from mrfit.tying.soft import Round


@dataclass(frozen=True)
class Fit:
    """The model at one point of the grid, with the certificate of its optimum.

    Scores on held-out rows are those of the validation rows, or means over the folds of a cross-validation. ``passes``
    counts evaluations and Hessian products over the data.
    """

    strength: float
    model: MarkovNetwork
    solution: Solution
    train_pll: float
    valid_pll: float | None
    seconds: float
    passes: int = 0
    train_ll: float | None = None
    valid_ll: float | None = None
    n_groups: int | None = None
    rounds: tuple[Round, ...] = ()
    fold_scores: tuple[float, ...] = ()

    @property
    def held_out(self) -> float | None:
        """The score that fits are chosen by: of what was maximised, on held-out rows."""
        return self.valid_pll if self.train_ll is None else self.valid_ll

    @property
    def rank(self) -> float:
        """The same as a number to choose by; nothing is worse than no score."""
        return -np.inf if self.held_out is None else self.held_out

    @property
    def n_nonzero(self) -> int:
        """Parameters that are not exactly zero."""
        return int(np.count_nonzero(self.model.w))

    @property
    def nonzero_by_order(self) -> dict[int, int]:
        """Parameters that are not exactly zero, by the number of variables of their scope."""
        orders = self.model.parameters.order_of_parameter[self.model.w != 0]
        return {order: int(np.count_nonzero(orders == order)) for order in np.unique(orders).tolist()}

    @property
    def n_nonzero_scopes(self) -> int:
        """Scopes with such a parameter."""
        return len(np.unique(self.model.parameters.scope_of_parameter[self.model.w != 0]))

    @property
    def n_distinct(self) -> int:
        """Different values among the parameters."""
        return len(np.unique(self.model.w))

    @property
    def held(self) -> list[str]:
        """Names of unpenalised parameters without a finite optimum, held at a bound."""
        return [self.model.parameters.name(int(k)) for k in self.solution.at_bound]


@dataclass(frozen=True)
class Gain:
    """What the best tied fit is better than the best L2 fit by, on held-out rows, with its standard error."""

    mean: float
    standard_error: float
    l2: Fit

    @property
    def is_real(self) -> bool:
        """Larger than two standard errors."""
        return self.mean > 2.0 * self.standard_error


@dataclass(frozen=True)
class Learned:
    """All fits in the order they were made, the one to keep, and for tied parameters what they gain over L2."""

    fits: tuple[Fit, ...]
    best: Fit
    n_cells: int
    n_parameters: int  # that were considered
    guarantee: str  # what a converged fit is an optimum over
    gain: Gain | None = None
