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
    """Instability of networks at every penalty strength.

    Attributes
    ----------
    strengths : array
        Penalty strengths, the strongest first; the penalty is added to the summed log-likelihood of all rows.
    inclusion : array of shape (n_strengths, n_pairs)
        Share of subsamples with an edge between each pair.
    """

    strengths: Floats
    inclusion: Floats

    @property
    def instability(self) -> Floats:
        """Mean over pairs of 2 x (1 - x), with x the inclusion; made to rise from strong to weak penalties."""
        each = (2.0 * self.inclusion * (1.0 - self.inclusion)).mean(axis=1)
        return np.asarray(np.maximum.accumulate(each), np.float64)

    @property
    def chosen(self) -> int:
        """Position of the weakest strength whose instability is at most 0.05."""
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
    """Networks at the weakest l1 strength that is stable; the result of `stars`.

    Parameters
    ----------
    networks : record
        Edge weights of all pairs in the table and in every subsample, at the selected strength.
    scores : tuple of array or None
        Scores of each variable's states; None for categories, whose edge weights have no sign.
    stars : record
        Inclusion of each pair and instability of the network, at every strength.
    level : float, default 0.95
        Share of the subsamples within the percentile intervals of ``edges``.

    See Also
    --------
    stars : Make a selection.
    FixedStrength : Use the selected strength on the whole table.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> found = mrfit.stars(mrfit.L1Path(), table, resamples=4)
    >>> len(found.stars.strengths), bool(found.stars.instability[found.stars.chosen] <= 0.05)
    (20, True)
    """

    stars: Stars

    kind: ClassVar[str] = "stars"
    samples: ClassVar[str] = "subsamples"

    @property
    def strength(self) -> float:
        """Selected l1 strength for the whole table; the penalty is added to its summed log-likelihood."""
        return float(self.stars.strengths[self.stars.chosen])

    def _findings(self) -> dict[str, Any]:
        return self.stars.to_dict()

    def lines(self) -> list[str]:
        """Return the selected strength and a table of edges for a terminal, as a list of lines."""
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
    """Select the weakest l1 strength at which subsamples of the rows agree on the network (StARS).

    An edge that a share x of the subsamples has is unstable by 2 x (1 - x). The mean over all pairs of variables may be
    at most 0.05 (Liu, Roeder and Wasserman 2010).

    Parameters
    ----------
    learner : PairwiseLearner
        Learner such as `L1Path`. Its required and forbidden pairs, rule and tolerance are used; what it selects by is
        not.
    data : table
        Rows without missing values.
    resamples : int or array, default 1000
        Number of subsamples of 10 sqrt(N) rows, at most four fifths of them; or the subsamples themselves, an array of
        how often each contains each distinct row.
    clusters : sequence, default None
        Cluster of each row, if rows are nested. Subsamples consist of whole clusters.
    seed : int, default 0
        Random seed of the subsamples.
    jobs : int, default 1
        Number of threads that learn from subsamples; the result does not depend on it.
    callback : callable, default None
        Called after each of 20 strengths with its share of the subsamples.

    Returns
    -------
    StarsSelection

    Raises
    ------
    MrfitError
        If the learner has no l1 path, or no variables depend on each other.

    See Also
    --------
    stability_selection : Edges with a bound on the false ones.
    L1Path : The learner whose strength is selected.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> found = mrfit.stars(mrfit.L1Path(), table, resamples=4)
    >>> found.strength > 0
    True
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
