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
    """Bootstrap of edge weights; the result of `bootstrap_edges`.

    Parameters
    ----------
    networks : record
        Edge weights of all pairs in the table and in every bootstrap sample.
    scores : tuple of array or None
        Scores of each variable's states that edge weights are per step of; None for categories.
    level : float, default 0.95
        Share of the bootstrap samples within the percentile intervals of ``edges``.

    See Also
    --------
    bootstrap_edges : Make one.
    CaseDropping : CS coefficients of subsets.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> (edge,) = mrfit.bootstrap_edges(mrfit.L1Path(), table, resamples=10).edges
    >>> edge.source, edge.target, edge.inclusion, bool(edge.low < edge.mean < edge.high)
    ('rain', 'wet', 1.0, True)
    """

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
    """Bootstrap the whole analysis: the frequency and the percentile interval of every edge weight.

    Each bootstrap sample draws as many rows as the table has, with replacement, and the learner repeats everything on
    it, including the selection of edges.

    Parameters
    ----------
    learner : Learner or StructureLearner
        Analysis to repeat: a `Learner`, whose models have edge weights, or a structure learner such as `L1Path`, whose
        regressions have them.
    data : table
        Rows without missing values.
    resamples : int or array, default 1000
        Number of bootstrap samples; or the samples themselves, an array of how often each distinct row (`UniqueRows`)
        occurs in each, shape (samples, distinct rows).
    clusters : sequence, default None
        Cluster of each row, if rows are nested, as pupils in schools. Whole clusters are drawn.
    level : float, default 0.95
        Share of the samples within a percentile interval, between 0 and 1. Where weights are shrunken or edges
        selected, it is no confidence interval.
    one_step : bool, default False
        Whether to take one Newton step from the fit of ``data`` instead of refitting, at almost no cost. It needs a
        `Learner` with a fixed structure and the penalty L2 or none.
    resume : str or Path, default None
        Checkpoint file. If it exists, the bootstrap continues from it, to the same result as without an interruption.
    seed : int, default 0
        Random seed of the samples.
    jobs : int, default 1
        Number of threads; the result does not depend on it.
    callback : callable, default None
        Called with the number of samples that have just been learned from, from any thread.

    Returns
    -------
    EdgeBootstrap
        Its ``edges`` have inclusion, mean, standard deviation and interval of each edge weight. Samples from which
        learning failed are counted and left out.

    Raises
    ------
    MrfitError
        If rows have missing values, there are fewer than two variables, or learning from the whole table fails.

    See Also
    --------
    case_dropping : How many rows can be dropped (CS coefficient).
    stability_selection : Edges with a bound on the number of false ones.
    node_stability : Bootstrap of centralities and communities.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> table["cold"] = ["no"] * 20 + ["yes"] * 20
    >>> found = mrfit.bootstrap_edges(mrfit.Learner(penalty=mrfit.L2()), table, resamples=20)
    >>> edge = found.edges[0]
    >>> edge.source, edge.target, round(edge.low, 1), round(edge.high, 1)
    ('rain', 'wet', 0.9, 2.9)
    """
    check_level(level)  # before all the work
    drawn = Resampling.of(data, resamples, draw.bootstrap, clusters=clusters, seed=seed)
    networks = drawn.networks(learner, one_step=one_step, resume=resume, jobs=jobs, callback=callback)
    return EdgeBootstrap(networks, drawn.scores(learner), level=level)
