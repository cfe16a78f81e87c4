"""StARS: the l1 strength at which a network is stable enough (Liu, Roeder and Wasserman 2010)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mrfit._renamed import with_former_keys
from mrfit._typing import Floats
from mrfit.analysis.stability import resamples as draw
from mrfit.analysis.stability.resampled_networks import Networks
from mrfit.analysis.stability.resampling import Resampling, Stability
from mrfit.analysis.stability.stability import Callback, weigher
from mrfit.core.errors import InputError
from mrfit.core.threads import one_blas_thread
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.design_matrix import IndicatorTable
from mrfit.structures.nodewise.learners import L1Path
from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner

MOST_UNSTABLE = 0.05
_N_STRENGTHS, _WEAKEST = 20, 0.02  # of the path, the weakest as a share of the critical strength
SHARE_OF_ROWS = 10.0  # times the square root of their number is the size of a subsample


def subsample_size(n_rows: int) -> int:
    """10 sqrt(N) rows, at most four fifths of them where there are few."""
    return max(1, min(int(SHARE_OF_ROWS * np.sqrt(n_rows)), int(0.8 * n_rows)))


@dataclass(frozen=True, eq=False)
class Stars:
    """Instability of the networks at every strength.

    Parameters
    ----------
    strengths
        Penalty strengths, strongest first; the penalty is added to the summed log-likelihood of all rows.
    inclusion
        Share of subsamples with an edge between each pair, (strengths, pairs).
    """

    strengths: Floats
    inclusion: Floats

    @property
    def instability(self) -> Floats:
        """Mean over pairs of 2 xi (1 - xi), xi the inclusion; the largest so far, from strong to weak."""
        each = (2.0 * self.inclusion * (1.0 - self.inclusion)).mean(axis=1)
        return np.asarray(np.maximum.accumulate(each), np.float64)

    @property
    def chosen(self) -> int:
        """The weakest strength that is stable enough; the strongest, at which nothing is joined, always is."""
        return int(np.flatnonzero(self.instability <= MOST_UNSTABLE)[-1])

    def to_dict(self) -> dict[str, Any]:
        record = {
            "penalty_strength": float(self.strengths[self.chosen]),
            "penalty_strengths": self.strengths.tolist(),
            "instability": self.instability.tolist(),
        }
        return with_former_keys(record, penalty_strength="strength", penalty_strengths="strengths")


@dataclass(frozen=True, eq=False, repr=False)
class StarsSelection(Stability):
    """Networks at the weakest l1 strength that is stable, the result of `stars`.

    Parameters
    ----------
    stars : Stars
        Inclusion of each pair and instability, at every strength.
    """

    stars: Stars

    kind: ClassVar[str] = "stars"
    samples: ClassVar[str] = "subsamples"

    @property
    def strength(self) -> float:
        """Stable l1 strength for the whole table."""
        return float(self.stars.strengths[self.stars.chosen])

    def _findings(self) -> dict[str, Any]:
        return self.stars.to_dict()

    def lines(self) -> list[str]:
        strength = f"{self.strength:.4g}"
        return [
            f"the weakest stable penalty strength is {strength}",
            f"  mrfit structure DATA --select strength --select-strength {strength}",
            *super().lines(),
        ]


def stars(
    learner: PairwiseLearner,
    data: Any,
    *,
    resamples: Any = 1000,
    clusters: Sequence[object] | None = None,
    seed: int = 0,
    jobs: int = 1,
    callback: Callback | None = None,
) -> StarsSelection:
    """Select the weakest l1 strength at which subsamples of the rows agree on the network.

    Parameters
    ----------
    learner : PairwiseLearner
        Learner such as `L1Path`. Its required and forbidden pairs, rule and tolerance are used; what it selects by is
        not.
    data : table
        Rows without missing values.
    resamples : int or array, default=1000
        Number of subsamples of 10 sqrt(N) rows; or the subsamples themselves, as in `bootstrap_edges`.
    clusters, seed, jobs, callback
        As in `bootstrap_edges`.

    Returns
    -------
    StarsSelection
    """
    drawn = Resampling.of(data, resamples, _subsamples, clusters=clusters, seed=seed)
    if not isinstance(learner, PairwiseLearner):
        raise InputError(
            "StARS chooses an l1 strength of node-wise regressions; it needs the structure learner Learned."
        )
    rows, weights, found = drawn.rows, drawn.weights, []
    strengths = _strengths(rows)
    with one_blas_thread():
        for strength in strengths.tolist():
            found.append(_networks_at(strength / rows.total_weight, learner, drawn, jobs))
            if callback is not None:
                callback(len(weights) // _N_STRENGTHS)
    summary = Stars(strengths, np.stack([networks.inclusion for networks in found]))
    return StarsSelection(found[summary.chosen], drawn.scores(learner), summary)


def _strengths(rows: UniqueRows) -> Floats:
    """Strengths from the critical one of the table down."""
    table = IndicatorTable.of(rows)
    critical = float(table.norms_alone([i for i in range(len(rows.domain)) if table.varies(i)]).max(initial=0.0))
    if critical <= 0.0:
        raise InputError("No variables depend on each other in these rows; there is no strength to choose.")
    return np.asarray(np.geomspace(critical, _WEAKEST * critical, _N_STRENGTHS), np.float64)


def _networks_at(per_row: float, learner: PairwiseLearner, drawn: Resampling, jobs: int) -> Networks:
    """Learn at the same strength per row in a subsample as in the whole table."""

    def weigh(part: UniqueRows) -> Floats:
        return weigher(L1Path.at(per_row * part.total_weight, learner))(part)

    return Networks.learned(weigh, drawn.rows, drawn.weights, jobs=jobs)


def _subsamples(units: draw.Drawn, n: int, rng: np.random.Generator) -> Floats:
    return draw.parts(units, np.full(n, subsample_size(int(units.total_weight))), rng)
