"""Stability selection: edges with a bound on the expected number of false ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mrfit._typing import Floats
from mrfit.analysis.stability import resamples as draw
from mrfit.analysis.stability.complementary_pairs import StablePairs, check_control, n_kept_for
from mrfit.analysis.stability.resampled_networks import pairs_of
from mrfit.analysis.stability.resampling import Resampling, Stability
from mrfit.analysis.stability.stability import Callback
from mrfit.learning.learner import Learner
from mrfit.structures.base import StructureLearner


@dataclass(frozen=True)
class ErrorControl:
    """Bound on the expected number of false edges (Shah and Samworth 2013), for `stability_selection`.

    Parameters
    ----------
    false_edges : float, default 1.0
        Largest expected number of false edges among the stable ones, above 0.
    threshold : float, default 0.75
        Share of halves that must select a stable edge, above 0.5 and at most 1.
    assumption : {"unimodal", "none", "r-concave"}, default "unimodal"
        Assumption on how often halves select false edges. ``none`` is safe; ``r-concave`` finds most edges.

    See Also
    --------
    stability_selection : Select edges under this control.

    Examples
    --------
    >>> import mrfit
    >>> mrfit.ErrorControl(false_edges=2.0, assumption="none")
    ErrorControl(false_edges=2.0, threshold=0.75, assumption='none')
    """

    false_edges: float = 1.0
    threshold: float = 0.75
    assumption: str = "unimodal"

    def __post_init__(self) -> None:
        check_control(self.threshold, self.assumption)


_USUAL = ErrorControl()


@dataclass(frozen=True, eq=False, repr=False)
class StabilitySelection(Stability):
    """Edges that most halves of the rows select; the result of `stability_selection`.

    Parameters
    ----------
    networks : record
        Edge weights of all pairs in the table and in every half.
    scores : tuple of array or None
        Scores of the states, if variables are ordered or binary; None for categories.
    pairs : record
        Share of halves that select each pair, the threshold, and the bound on false edges.
    level : float, default 0.95
        Share of the halves within the percentile intervals of ``edges``.

    See Also
    --------
    stability_selection : Make a selection.
    ErrorControl : The bound.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> table["cold"] = ["no"] * 20 + ["yes"] * 20
    >>> found = mrfit.stability_selection(mrfit.L1Path(), table, resamples=20)
    >>> found.pairs.n_kept, found.pairs.threshold
    (1, 0.75)
    >>> found.stable
    (('rain', 'wet', 1.0),)
    """

    pairs: StablePairs

    kind: ClassVar[str] = "pairs"

    @property
    def stable(self) -> tuple[tuple[str, str, float], ...]:
        """Stable edges, as both variables and the share of halves that select the edge; the most frequent first."""
        names, shares = self.networks.names, self.pairs.shares
        ends = pairs_of(len(names))
        order = sorted(self.pairs.stable.tolist(), key=lambda k: -shares[k])
        return tuple((names[ends[k, 0]], names[ends[k, 1]], float(shares[k])) for k in order)

    def _findings(self) -> dict[str, Any]:
        stable = [{"source": a, "target": b, "share": share} for a, b, share in self.stable]
        return {
            "kept_by_each_half": self.pairs.n_kept,
            "threshold": self.pairs.threshold,
            "expected_false_edges": self.pairs.bound,
            "assumption": self.pairs.assumption,
            "stable": stable,
        }

    def lines(self) -> list[str]:
        """Return the stable edges and the bound for a terminal, as a list of lines."""
        pairs = self.pairs
        n = len(self.stable)
        verdict = (
            f"{n:,} stable edge{'' if n == 1 else 's'}, of which at most {pairs.bound:.2g} are expected to be false"
        )
        how = f"in {pairs.threshold:.0%} of halves or more, each of which keeps {pairs.n_kept:,} ({pairs.assumption})"
        return [verdict, how, *(f"  {share:4.0%}  {a} - {b}" for a, b, share in self.stable)]


def stability_selection(
    learner: Learner | StructureLearner,
    data: Any,
    control: ErrorControl = _USUAL,
    *,
    resamples: Any = 1000,
    clusters: Sequence[object] | None = None,
    one_step: bool = False,
    resume: str | Path | None = None,
    seed: int = 0,
    jobs: int = 1,
    callback: Callback | None = None,
) -> StabilitySelection:
    """Select edges by complementary pairs of halves, with a bound on the expected number of false edges.

    The rows are split into halves many times, and each half selects its largest edges: as many as the bound allows.
    Stable edges are those that a large share of all halves selects (Meinshausen and Buhlmann 2010; Shah and Samworth
    2013).

    Parameters
    ----------
    learner : Learner or StructureLearner
        How each half selects edges: a `Learner`, or a structure learner such as `L1Path`. Only the order of its edge
        weights matters.
    data : table
        Complete rows to split.
    control : ErrorControl, default ErrorControl()
        Largest expected number of false edges, and the share of halves that makes an edge stable.
    resamples : int or array, default 1000
        Number of halves, at least 2; or the halves themselves, the two of a pair one after the other, as an array of
        how often each contains each distinct row.
    clusters : sequence, default None
        Cluster of each row, if rows are nested. Whole clusters go to one half.
    one_step : bool, default False
        Whether to take one Newton step from the fit of all rows instead of refitting each half.
    resume : str or Path, default None
        Checkpoint file of halves already learned from.
    seed : int, default 0
        Random seed of the splits.
    jobs : int, default 1
        Number of threads that learn from halves; the result does not depend on it.
    callback : callable, default None
        Called with the number of halves that have just been learned from, from any thread.

    Returns
    -------
    StabilitySelection

    Raises
    ------
    MrfitError
        If so few false edges cannot be promised, even if each half selects one edge.

    See Also
    --------
    ErrorControl : The bound and its assumptions.
    bootstrap_edges : Frequencies and intervals without a selection.
    stars : The weakest stable penalty strength.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> table["cold"] = ["no"] * 20 + ["yes"] * 20
    >>> control = mrfit.ErrorControl(false_edges=0.5)
    >>> found = mrfit.stability_selection(mrfit.L1Path(), table, control, resamples=20)
    >>> found.stable
    (('rain', 'wet', 1.0),)
    """
    drawn = Resampling.of(data, resamples, _halves, clusters=clusters, seed=seed, least=2)
    threshold, assumption = control.threshold, control.assumption
    n_kept = n_kept_for(control.false_edges, drawn.n_pairs, threshold, len(drawn.weights) // 2, assumption)
    networks = drawn.networks(learner, one_step=one_step, resume=resume, jobs=jobs, callback=callback)
    pairs = StablePairs.of(networks, n_kept=n_kept, threshold=threshold, assumption=assumption)
    return StabilitySelection(networks, drawn.scores(learner), pairs)


def _halves(units: draw.Drawn, n: int, rng: np.random.Generator) -> Floats:
    return draw.halves(units, n // 2, rng)
