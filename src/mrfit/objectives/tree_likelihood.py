"""The negative mean log-likelihood of a table, exact on a junction tree."""

from __future__ import annotations

from functools import cache, cached_property

import numpy as np

from mrfit._typing import Floats
from mrfit.core.threads import deal, run
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.tree_states import TreeStates
from mrfit.objectives.feature_covariance import MOST_ROWS, feature_covariance
from mrfit.objectives.objective import Expansion, Objective, read_only
from mrfit.parameterizations.parameterization import Parameterization

_WORTH_A_THREAD = 100_000  # cells
_STEP = 6e-6  # of central differences, about the cube root of the rounding: it balances truncation and rounding


class TreeLikelihood(Objective):
    """Negative mean log-likelihood of rows, in nats, exact on a junction tree.

    log Z(w) - w . (mean of the features over the rows). A plan is made once. Value and gradient are one run of it: the
    forward pass gives log Z, and the backward pass gives the means of all features.

    Parameters
    ----------
    states : Parameterization
        Coordinates to fit, whose structure has small enough cliques.
    rows : UniqueRows
        Complete rows to fit.
    jobs : int, default 1
        Number of threads for Hessian products; results do not depend on it.
    covariance_rows : int, default 20000
        Largest number of distinct rows from which a rough Hessian is computed, where quasi-Newton methods start.

    See Also
    --------
    Likelihood : The same over all joint states, for few variables.
    JunctionTree : The engine.

    Notes
    -----
    A Hessian product takes two runs, on two threads if there are two: the gradient is exact, so its central difference
    has ten correct digits.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.objectives import TreeLikelihood
    >>> from mrfit.parameterizations import Canonical
    >>> from mrfit.solvers import LBFGS, minimize
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> rows = mrfit.UniqueRows.of(table)
    >>> objective = TreeLikelihood(Canonical(rows.domain, mrfit.Structure.complete(2)), rows)
    >>> round(minimize(objective, LBFGS()).value, 3)
    1.33
    """

    def __init__(
        self,
        states: TreeStates | Parameterization,
        rows: UniqueRows,
        *,
        jobs: int = 1,
        covariance_rows: int = MOST_ROWS,
    ) -> None:
        self.states = states if isinstance(states, TreeStates) else TreeStates(states)
        self.n_parameters, self.n_cells = self.states.parameters.n_parameters, self.states.plan.n_cells
        self.rows, self.jobs, self.covariance_rows = rows, jobs, covariance_rows
        self.observed = self.states.means(self.states.shares(rows))
        self.observed.flags.writeable = False

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        log_z, marginals = self.states.sums(w)
        return self._value(w, log_z), self.states.means(marginals) - self.observed

    def expand(self, w: Floats) -> Expansion:
        w = read_only(w)
        log_z, marginals = self.states.sums(w)
        value, gradient = self._value(w, log_z), self.states.means(marginals) - self.observed
        return Expansion(
            value=value,
            gradient=gradient,
            diagonal=cache(lambda: self.states.variances(marginals)),
            product=lambda v: self._product(w, v),
            dual=lambda t: self._mixed_entropy(w, log_z, value - float(gradient @ w), t),
        )

    def rough_hessian(self) -> Floats | None:
        return self._covariance

    @cached_property
    def _covariance(self) -> Floats | None:
        return feature_covariance(self.states, self.rows, most_rows=self.covariance_rows)

    def _value(self, w: Floats, log_z: float) -> float:
        return log_z - float(w @ self.observed)

    def _product(self, w: Floats, v: Floats) -> Floats:
        """Return the derivative of the gradient at w along v."""
        largest = float(np.abs(v).max(initial=0.0))
        if largest == 0.0:
            return np.zeros_like(v)
        step = _STEP / largest
        points = (w + step * v, w - step * v)

        def means(first: int, last: int) -> list[Floats]:
            return [self.states.means(self.states.sums(points[k])[1]) for k in range(first, last)]

        worth_threads = self.n_cells >= _WORTH_A_THREAD
        spans = run(means, deal(np.ones(2), self.jobs if worth_threads else 1))
        above, below = (each for span in spans for each in span)
        return np.asarray((above - below) / (2.0 * step), np.float64)

    def _mixed_entropy(self, w: Floats, log_z: float, entropy: float, t: float) -> float:
        """Return the entropy of t * model + (1 - t) * table, whose features differ from the table's by t * gradient.

        As in `Likelihood`, the mixture is t * model outside the rows, where its entropy follows from log Z.
        """
        if t == 1.0:
            return entropy
        share = self.rows.sample_weight / self.rows.total_weight
        log_p = self.states.log_potentials(w, self.rows) - log_z
        p = np.exp(log_p)
        outside, log_outside = 1.0 - float(p.sum()), -entropy - float(p @ log_p)
        mixed = t * p + (1.0 - t) * share
        positive = mixed > 0
        inside = float(mixed[positive] @ np.log(mixed[positive]))
        return -inside - (t * (log_outside + np.log(t) * outside) if t > 0 else 0.0)
