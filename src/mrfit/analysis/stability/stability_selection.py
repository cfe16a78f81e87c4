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
    """Bound on the expected number of false edges (Shah and Samworth 2013).

    Parameters
    ----------
    false_edges : float, default=1.0
        Largest expected number of false edges among the stable ones.
    threshold : float, default=0.75
        Share of halves that must select a stable edge, above 0.5.
    assumption : {"unimodal", "none", "r-concave"}, default="unimodal"
        Assumption on how often halves select false edges. ``none`` is safe; ``r-concave`` finds most edges.
    """

    false_edges: float = 1.0
    threshold: float = 0.75
    assumption: str = "unimodal"

    def __post_init__(self) -> None:
        check_control(self.threshold, self.assumption)


_USUAL = ErrorControl()


@dataclass(frozen=True, eq=False, repr=False)
class StabilitySelection(Stability):
    """Edges that most halves of the rows select, the result of `stability_selection`.

    Parameters
    ----------
    pairs : StablePairs
        Stable pairs, and the bound on the false ones among them.
    """

    pairs: StablePairs

    kind: ClassVar[str] = "pairs"

    @property
    def stable(self) -> tuple[tuple[str, str, float], ...]:
        """Stable edges with the share of halves that select each, the most frequent first."""
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
        A `Learner`, whose models have edge weights, or a structure learner such as `L1Path`, whose regressions have
        them.
    data : table
        Rows without missing values.
    control : ErrorControl, default=ErrorControl()
        Bound on the false edges.
    resamples : int or array, default=1000
        Number of halves; or the halves themselves, as in `bootstrap_edges`, the two of a pair one after the other.
    clusters, one_step, resume, seed, jobs, callback
        As in `bootstrap_edges`.

    Returns
    -------
    StabilitySelection
    """
    drawn = Resampling.of(data, resamples, _halves, clusters=clusters, seed=seed, least=2)
    threshold, assumption = control.threshold, control.assumption
    n_kept = n_kept_for(control.false_edges, drawn.n_pairs, threshold, len(drawn.weights) // 2, assumption)
    networks = drawn.networks(learner, one_step=one_step, resume=resume, jobs=jobs, callback=callback)
    pairs = StablePairs.of(networks, n_kept=n_kept, threshold=threshold, assumption=assumption)
    return StabilitySelection(networks, drawn.scores(learner), pairs)


def _halves(units: draw.Drawn, n: int, rng: np.random.Generator) -> Floats:
    return draw.halves(units, n // 2, rng)
