"""Resamples of a table, and the result that all analyses of stability share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from mrfit._typing import Floats
from mrfit.analysis.stability import resamples as draw
from mrfit.analysis.stability.resampled_networks import Edge, Networks, check_level
from mrfit.analysis.stability.stability import (
    Callback,
    clustered,
    networks_by_one_step,
    networks_of,
    pool_of,
    scores_of,
)
from mrfit.core.errors import InputError
from mrfit.core.rounding import significant
from mrfit.core.seeds import generator
from mrfit.core.text_table import columns
from mrfit.core.threads import one_blas_thread
from mrfit.data.clustered_rows import ClusteredRows
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.structures.base import StructureLearner
from mrfit.structures.edge_weights import Scores, unit_of_scores

Draw = Callable[[draw.Drawn, int, np.random.Generator], Floats]

_MOST_EDGES = 15  # in a printed table
_MOST_OFTEN = 0.95  # of the resamples hold an edge that the verdict counts


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """Networks of a table and of samples of its rows; base class of the results of all analyses of stability.

    Parameters
    ----------
    networks : record
        Weights of all pairs of variables in the table (``sample``) and in every sample of rows (``weights``).
    scores : tuple of array or None
        Scores of the states of each variable, which edge weights depend on; None for categories.
    level : float, default 0.95
        Share of the samples within the percentile intervals of ``edges``, between 0 and 1.

    See Also
    --------
    EdgeBootstrap : Result of `bootstrap_edges`.
    CaseDropping : Result of `case_dropping`.
    StabilitySelection : Result of `stability_selection`.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> found = mrfit.bootstrap_edges(mrfit.L1Path(), table, resamples=10)
    >>> isinstance(found, mrfit.Stability), found.unit
    (True, 'log odds ratio')
    """

    networks: Networks
    scores: Scores
    level: float = field(default=0.95, kw_only=True)

    kind: ClassVar[str]  # of `mrfit stability --kind`
    samples: ClassVar[str] = "bootstrap samples"  # what the tables that are drawn are called

    def __post_init__(self) -> None:
        check_level(self.level)

    @property
    def unit(self) -> str:
        """Unit of the edge weights, such as "log odds ratio"."""
        return unit_of_scores(self.scores)

    def has_sign(self, edge: Edge) -> bool:
        """Return whether the weight of an edge has a sign: weights of categories are norms.

        Parameters
        ----------
        edge : record
            One of ``edges``.

        Returns
        -------
        bool
        """
        names = self.networks.names
        return all(self.scores[names.index(end)] is not None for end in (edge.source, edge.target))

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Pairs with an edge in the table or in a sample of its rows, the most frequent first.

        Each is a record: ``source`` and ``target``; ``sample``, the edge weight in the table; ``inclusion``, the share
        of samples that have the edge; ``mean``, ``sd``, ``low`` and ``high`` of its weight over samples (zeros
        included); and the shares of ``zeros`` and of ``infinite`` weights.
        """
        return self.networks.edges(self.level)

    def at_level(self, level: float) -> Self:
        """Return the same result with percentile intervals at another level.

        Parameters
        ----------
        level : float
            Share of the samples within an interval, between 0 and 1.

        Returns
        -------
        Stability
            Of the same class.
        """
        return replace(self, level=level)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values, for JSON."""
        networks = self.networks
        return {
            "kind": self.kind,
            "n_resamples": len(networks.weights),
            "n_failed": networks.n_failed,
            "failures": dict(networks.failures),
            "level": self.level,
            "edge_weight": self.unit,
            **self._findings(),
            "edges": [{**edge.to_dict(), "has_sign": self.has_sign(edge)} for edge in self.edges],
        }

    def _findings(self) -> dict[str, Any]:
        """Results of this analysis alone, ready for JSON."""
        return {}

    def lines(self) -> list[str]:
        """Return a summary for a terminal, as a list of lines."""
        if not self.edges:
            return ["no two variables are joined in the table, nor in any resample"]
        n_stable = sum(edge.inclusion >= _MOST_OFTEN for edge in self.edges)
        rest = len(self.edges) - n_stable
        verdict = (
            f"{n_stable:,} edge{' is' if n_stable == 1 else 's are'} in {_MOST_OFTEN:.0%} or more of "
            f"{len(self.networks.weights):,} {self.samples}, {rest:,} in fewer"
        )
        heads = ["included", "mean", "interval", ""]
        rows = [_row(edge, self.has_sign(edge)) for edge in self.edges[:_MOST_EDGES]]
        n_more = len(self.edges) - _MOST_EDGES
        more = [f"  ... and {n_more:,} more edges"] if n_more > 0 else []
        table = [f"  {line}" for line in columns([heads, *rows], n_names=1)]
        return [verdict, f"edge weights, {self.unit}; {100 * self.level:g} % percentile intervals:", *table, *more]

    def __repr__(self) -> str:
        n, failed = len(self.networks.weights), self.networks.n_failed
        return f"<{type(self).__name__}: {n:,} resamples, {failed:,} failed, {len(self.edges):,} edges>"


def _row(edge: Edge, has_sign: bool) -> list[str]:
    sign = "+" if has_sign else ""
    mean = "-" if isnan(edge.mean) else significant(edge.mean, sign=sign)
    between = f"{significant(edge.low, sign=sign)} to {significant(edge.high, sign=sign)}"
    infinite = f" (infinite in {edge.infinite:.0%})" if edge.infinite else ""
    return [f"{edge.inclusion:.0%}", mean, between, f"{edge.source} - {edge.target}{infinite}"]


@dataclass(frozen=True, eq=False)
class Resampling:
    """A table and resamples of it.

    Parameters
    ----------
    weights
        Weights of the distinct rows in each resample, (resamples, distinct rows).
    dropped
        Share of the rows, or of the clusters of rows, that each resample leaves out, (resamples,).
    """

    rows: UniqueRows
    weights: Floats
    dropped: Floats

    @classmethod
    def of(
        cls,
        data: Any,
        resamples: Any,
        drawn_by: Draw,
        *,
        clusters: Sequence[object] | None,
        seed: int,
        least: int = 1,
    ) -> Resampling:
        """Draw as many resamples as asked, at ``least`` so many, or check those that are given.

        With ``clusters``, which name the cluster of each row, whole clusters are drawn.
        """
        units = UniqueRows.of(data) if clusters is None else clustered(data, clusters)
        rows = units.rows if isinstance(units, ClusteredRows) else units
        rows.check_complete("learning")
        if len(rows.domain) < 2:
            raise InputError("A table of one column has no edges to bootstrap; use more columns.")
        drawn = _drawn(units, resamples, drawn_by, seed, least)
        weights = units.weights(drawn) if isinstance(units, ClusteredRows) else drawn
        return cls(rows, weights, 1.0 - drawn.sum(axis=1) / units.total_weight)

    @property
    def n_pairs(self) -> int:
        return len(self.rows.domain) * (len(self.rows.domain) - 1) // 2

    def networks(
        self,
        learner: Learner | StructureLearner,
        *,
        one_step: bool = False,
        resume: str | Path | None = None,
        jobs: int = 1,
        callback: Callback | None = None,
    ) -> Networks:
        """Learn a network from the table and from every resample."""
        if one_step and resume is not None:
            raise InputError(
                "One step learns no network that a file could store, so it cannot be resumed; leave resume out."
            )
        with one_blas_thread():
            if not one_step:
                pool = pool_of(learner, self.rows)
                return networks_of(
                    learner, self.rows, self.weights, pool=pool, resume=resume, jobs=jobs, callback=callback
                )
            if isinstance(learner, StructureLearner):
                raise InputError("One step refits the parameters of a Learner; leave it out for structures alone.")
            return networks_by_one_step(learner, self.rows, self.weights, jobs)

    def scores(self, learner: Learner | StructureLearner) -> Scores:
        """Return the scores of states by which a learner counts edge weights."""
        return scores_of(learner, self.rows.domain)


def _drawn(units: draw.Drawn, resamples: Any, drawn_by: Draw, seed: int, least: int) -> Floats:
    if not isinstance(resamples, int | np.integer):
        if isinstance(units, ClusteredRows):
            raise InputError("Resamples that are given need no clusters; leave one of them out.")
        return draw.given(units, resamples)
    n = int(resamples)
    if n < least:
        raise InputError(f"This analysis needs at least {least} resamples; got {n}.")
    return drawn_by(units, n, generator(seed))
