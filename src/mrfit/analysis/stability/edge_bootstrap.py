"""Bootstrap of edge weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from mrfit.analysis.stability import resamples as draw
from mrfit.analysis.stability.resampled_networks import check_level
from mrfit.analysis.stability.resampling import Resampling, Stability
from mrfit.analysis.stability.stability import Callback
from mrfit.learning.learner import Learner
from mrfit.structures.base import StructureLearner


@dataclass(frozen=True, eq=False, repr=False)
class EdgeBootstrap(Stability):
    """Bootstrap of edge weights, the result of `bootstrap_edges`."""

    kind: ClassVar[str] = "bootstrap"


def bootstrap_edges(
    learner: Learner | StructureLearner,
    data: Any,
    *,
    resamples: Any = 1000,
    clusters: Sequence[object] | None = None,
    level: float = 0.95,
    one_step: bool = False,
    resume: str | Path | None = None,
    seed: int = 0,
    jobs: int = 1,
    callback: Callback | None = None,
) -> EdgeBootstrap:
    """Bootstrap the whole analysis: the frequency and the range of the weight of every edge.

    Each resample draws as many rows as the table has, with replacement, and the learner does everything again with it,
    including the selection of edges.

    Parameters
    ----------
    learner : Learner or StructureLearner
        A `Learner`, whose models have edge weights, or a structure learner such as `L1Path`, whose regressions have
        them.
    data : table
        Rows without missing values.
    resamples : int or array, default=1000
        Number of resamples; or the resamples themselves, an array of how often each distinct row (`UniqueRows`) occurs
        in each.
    clusters : sequence, default=None
        Cluster of each row, if rows are nested. Whole clusters are drawn.
    level : float, default=0.95
        Share of the resamples in the range of an edge weight. Where weights are shrunken or edges selected, the range
        is no confidence interval.
    one_step : bool, default=False
        Whether to take one Newton step from the fit of ``data`` instead of refitting, at almost no cost. It needs a
        `Learner` with a fixed structure and the penalty L2 or none.
    resume : path, default=None
        Checkpoint file. If the file exists, the bootstrap continues from it. A run that was interrupted then ends as
        one that was not.
    seed : int, default=0
        Random seed.
    jobs : int, default=1
        Number of threads; the result does not depend on it.
    callback : callable, default=None
        Called from any thread with the number of resamples that have just been learned from.

    Returns
    -------
    EdgeBootstrap

    See also
    --------
    case_dropping, stability_selection, stars
    """
    check_level(level)  # before all the work
    drawn = Resampling.of(data, resamples, draw.bootstrap, clusters=clusters, seed=seed)
    networks = drawn.networks(learner, one_step=one_step, resume=resume, jobs=jobs, callback=callback)
    return EdgeBootstrap(networks, drawn.scores(learner), level=level)
