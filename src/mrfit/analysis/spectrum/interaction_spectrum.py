"""The spectrum of a table: how large interactions are by the number of variables, and what ignoring them costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from mrfit.analysis.spectrum.spectrum_plot import OrderLoss, SpectrumCurve, draw_sizes
from mrfit.core.errors import InputError, listed
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.cross_validation import mean_over_folds
from mrfit.learning.fit_result import CandidateFit
from mrfit.learning.learner import Learner
from mrfit.learning.objective_specs import LIKELIHOOD
from mrfit.learning.penalty_spec import PenaltySpec
from mrfit.learning.penalty_specs import L1, NoPenalty, SumOfSquares, UniformL1
from mrfit.learning.pseudo_counts import PseudoCounts
from mrfit.plots.page import new_panel, printable
from mrfit.structures.simple import AllInteractions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ESTIMATORS: dict[str, type[PenaltySpec]] = {kind.word: kind for kind in (UniformL1, SumOfSquares, PseudoCounts)}


@dataclass(frozen=True)
class OrderSize:
    """Spectral parameters of all sets of variables of one size.

    Attributes
    ----------
    order : int
        Number of variables in each set.
    n_scopes : int
        Number of such sets.
    mean : float
        Mean of ``|w_A|`` over the sets A. For more than two states, ``|w_A|`` is the root of the sum of squares of the
        set's parameters.
    density : float
        Share of sets with a parameter that is not zero.
    """

    order: int
    n_scopes: int
    mean: float
    density: float


@dataclass(frozen=True)
class Spectrum:
    """Spectrum of a table at the penalty strength that predicts best; the result of `interaction_spectrum`.

    Attributes
    ----------
    estimator : str
        Word of the estimator.
    strength : float
        Selected penalty strength, or number of pseudo-counts.
    held_out : float
        Mean log-likelihood per row in cross-validation, in nats.
    sizes : tuple of OrderSize
        Mean size and density of the parameters of each order, from 1.
    fit : CandidateFit
        The selected fit of all rows.
    """

    estimator: str
    strength: float
    held_out: float  # mean log-likelihood per row in cross-validation
    sizes: tuple[OrderSize, ...]
    fit: CandidateFit

    @property
    def curve(self) -> SpectrumCurve:
        """Curve that a plot draws."""
        label = f"{self.estimator}, strength {self.strength:.3g}"
        return SpectrumCurve(label, [size.mean for size in self.sizes], [size.density for size in self.sizes])


@dataclass(frozen=True)
class OrderCost:
    """Cross-validated log-likelihood with scopes of at most ``order`` variables; None is all of them.

    ``loss`` is how much worse that is, a row, than the best order, with its standard error over the folds.
    """

    order: int | None
    strength: float
    n_nonzero: int
    held_out: float
    loss: float
    standard_error: float

    @property
    def drawn(self) -> OrderLoss:
        """Loss that a plot draws."""
        return OrderLoss("all" if self.order is None else str(self.order), self.loss, self.standard_error)


def interaction_spectrum(
    rows: Any,
    estimator: str = "flat-l1",
    *,
    folds: int = 10,
    strengths: tuple[float, ...] | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Spectrum:
    """Estimate the size of interactions of 1, 2, ... variables, without a preference for small sets.

    The estimator penalizes all spectral parameters alike, whatever their order; cross-validation chooses its strength
    (Buchman et al. 2012, section 6).

    Parameters
    ----------
    rows : table
        Complete rows of few variables: the exact likelihood goes over all joint states.
    estimator : {"flat-l1", "flat-l2", "pseudo-counts"}, default "flat-l1"
        Uniform l1 penalty, sum of squares, or pseudo-counts added to every cell.
    folds : int, default 10
        Number of folds of the cross-validation.
    strengths : tuple of float, default None
        Strengths to choose from; None takes the estimator's own grid.
    seed : int, default 0
        Random seed of the folds.
    jobs : int, default 1
        Number of threads of the fits.
    progress : callable, default None
        Called with the number of finished fits and the number of all.

    Returns
    -------
    Spectrum
        Record with ``sizes``: for each order its ``mean`` absolute parameter and ``density``; ``strength`` and
        ``held_out``, the cross-validated log-likelihood per row in nats.

    Raises
    ------
    MrfitError
        If all rows are equal, there are too many joint states, or the estimator does not exist.

    See Also
    --------
    plot_spectrum : A picture of the result.
    UniformL1 : The penalty of the default estimator.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> table["cold"] = ["no"] * 20 + ["yes"] * 20
    >>> found = mrfit.interaction_spectrum(table, folds=5)
    >>> [(size.order, size.n_scopes) for size in found.sizes]
    [(1, 3), (2, 3), (3, 1)]
    >>> found.sizes[1].mean > found.sizes[2].mean
    True
    """
    rows = UniqueRows.of(rows)
    if estimator not in ESTIMATORS:
        raise InputError(f"There is no estimator {estimator!r} of the spectrum; choose one of {listed(ESTIMATORS)}.")
    check_varied(rows)
    learner = Learner(
        AllInteractions(None),
        ESTIMATORS[estimator](strengths),
        LIKELIHOOD,
        "spectral",
        folds=folds,
        patience=1,
        seed=seed,
    )
    best = learner.fit(rows, jobs=jobs, progress=progress).best
    held_out = best.held_out
    assert held_out is not None  # folds were asked for
    return Spectrum(estimator, best.strength, held_out, _sizes(best, rows.domain.shape), best)


def order_costs(
    rows: UniqueRows,
    *,
    max_order: int = 4,
    folds: int = 10,
    seed: int = 0,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[OrderCost, ...]:
    """Return the cost of ignoring larger scopes, from l1 fits with scopes of up to 1, 2, ... and of all variables.

    Every order takes the strength that predicts best; all are compared on the same folds.
    """
    check_varied(rows)
    n = len(rows.domain)
    orders: list[int | None] = [*range(1, min(max_order, n - 1) + 1), None]
    best: list[CandidateFit] = []
    for order in orders:
        # Single variables are free: with nothing else there is nothing to penalise.
        penalty = NoPenalty() if order == 1 or n == 1 else L1()
        learner = Learner(AllInteractions(order), penalty, LIKELIHOOD, "spectral", folds=folds, seed=seed)
        best.append(learner.fit(rows, jobs=jobs, progress=progress).best)
    scores = np.array([fit.fold_scores for fit in best])
    winner = int(scores.mean(axis=1).argmax())
    losses = [mean_over_folds(loss) for loss in scores[winner] - scores]
    return tuple(
        OrderCost(order, fit.strength, fit.n_nonzero, float(score.mean()), loss.mean, loss.standard_error)
        for order, fit, score, loss in zip(orders, best, scores, losses, strict=True)
    )


def plot_spectrum(found: Spectrum, ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw the mean absolute parameter of sets of 1, 2, ... variables, on a logarithmic scale.

    A mean of zero is an open circle at the foot of the scale.

    Parameters
    ----------
    found : Spectrum
        Result of `interaction_spectrum`.
    ax : matplotlib Axes, default None
        Axes to draw on; None makes a new figure of 4.5 by 3.4 inches.
    title : str, default None
        Title above the axes.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    See Also
    --------
    interaction_spectrum : Estimate a spectrum.
    plot_parameters : The parameters of one model.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> axes = mrfit.plot_spectrum(mrfit.interaction_spectrum(table, strengths=(1.0,), folds=2))
    >>> axes.get_xlabel()
    'variables in a set'
    """
    axes = new_panel(4.5, 3.4) if ax is None else ax
    draw_sizes(axes, found.curve)
    if title:
        axes.set_title(printable(title), parse_math=False)
    return axes


def check_varied(rows: UniqueRows) -> None:
    if rows.n_distinct == 1:
        raise InputError("All rows are equal, so there is no dependence between variables to learn.")


def _sizes(fit: CandidateFit, shape: tuple[int, ...]) -> tuple[OrderSize, ...]:
    parameters, w = fit.model.parameters, fit.model.w
    length = np.sqrt(np.bincount(parameters.scope_of_parameter, w * w, minlength=parameters.structure.n_scopes))
    order = np.repeat(list(parameters.structure.blocks), [len(block) for block in parameters.structure.blocks.values()])
    # Scopes that are zero are not in the model. How many there are: those of variables with more than one state.
    n = sum(c > 1 for c in shape)
    sizes = []
    for size in range(1, n + 1):
        mine = length[order == size]
        n_scopes = comb(n, size)
        sizes.append(OrderSize(size, n_scopes, float(mine.sum()) / n_scopes, np.count_nonzero(mine) / n_scopes))
    return tuple(sizes)
