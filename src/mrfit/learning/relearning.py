"""Learning again from resamples: how stable what any learner finds is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.data.clustered_rows import ClusteredRows
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.edge_weights import Scores, default_scores, unit_of_scores
from mrfit.errors import InputError, listed
from mrfit.learning.kept_resamples import KeptResamples
from mrfit.learning.learner import Learner
from mrfit.learning.one_step import edge_weights
from mrfit.learning.one_step import one_step as refits
from mrfit.model import MarkovNetwork
from mrfit.parameterizations.ordered import Ordered, ordered_variables
from mrfit.resampling import resamples as draw
from mrfit.resampling.case_drop import DROPPED, CaseDrop
from mrfit.resampling.complementary_pairs import StablePairs, n_kept_for
from mrfit.resampling.networks import Edge, Networks, Weigh, check_room, pairs_of, weights_of_tables
from mrfit.resampling.stars import Stars, subsample_size
from mrfit.seeds import generator
from mrfit.structure.learners import Learned, StructureLearner
from mrfit.structure.nodewise.indicator_table import IndicatorTable
from mrfit.structure.nodewise.pool import RegressionPool
from mrfit.workers import one_blas_thread

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Callback = Callable[[int], None]

KINDS = ("bootstrap", "drop", "pairs", "stars")

_N_STRENGTHS, _WEAKEST = 20, 0.02  # of the path that StARS looks at, as a share of the critical strength


@dataclass(frozen=True, eq=False)
class Stability:
    """What resamples say of a learner on a table.

    Parameters
    ----------
    kind
        ``bootstrap``, ``drop`` (rows), ``pairs`` (of halves) or ``stars``.
    networks
        Weights of all pairs of variables in every resample.
    scores
        Of the states of each variable, None for categories, by which the learner counts edge weights.
    level
        Of the ranges of ``edges``.
    case_drop, pairs, stars
        What belongs to the other kinds.
    """

    kind: str
    networks: Networks
    level: float = 0.95
    case_drop: CaseDrop | None = None
    pairs: StablePairs | None = None
    stars: Stars | None = None
    scores: Scores = ()

    @property
    def unit(self) -> str:
        """Name of the unit of the edge weights."""
        return unit_of_scores(self.scores)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Pairs that are joined in the whole table or in a resample, the most frequent first."""
        return self.networks.edges(self.level)

    def __repr__(self) -> str:
        n, failed = len(self.networks.weights), self.networks.n_failed
        return f"<Stability: {self.kind}, {n:,} resamples, {failed:,} failed, {len(self.edges):,} edges>"


def stability(
    learner: Learner | StructureLearner,
    data: Any,
    *,
    kind: str = "bootstrap",
    resamples: Any = 1000,
    clusters: Sequence[object] | None = None,
    level: float = 0.95,
    false_edges: float = 1.0,
    threshold: float = 0.75,
    assumption: str = "unimodal",
    one_step: bool = False,
    resume: str | Path | None = None,
    seed: int = 0,
    jobs: int = 1,
    callback: Callback | None = None,
) -> Stability:
    """Learn again from resamples of ``data``, everything each time, and compare.

    Parameters
    ----------
    learner
        A `Learner`, whose models have edge weights, or a structure learner such as `Learned`, whose regressions give
        them.
    kind
        ``bootstrap``; ``drop``, of 5 to 75 % of the rows; ``pairs``, complementary halves that each keep so many edges
        that no more than ``false_edges`` false ones are expected among those in a share ``threshold`` of all halves,
        under an ``assumption`` (none, unimodal or r-concave); ``stars``, for `Learned`: which l1 strength is stable.
    resamples
        How many; or resamples themselves, an array of how often each distinct row (`UniqueRows`) occurs in each.
    clusters
        Which cluster each row belongs to, where rows are nested: clusters are drawn, with all their rows.
    one_step
        For a `Learner` with a given structure, l2 or no penalty: one Newton step from the fit instead of a refit, at
        next to no cost.
    resume
        A file that keeps what is learned from each resample, and is gone on from where it exists: a run that was
        stopped at any moment ends as one that was not. Not for ``stars`` or one step.
    callback
        Told of every resample that is done, from any thread. The result does not depend on ``jobs``.
    """
    if kind not in KINDS:
        raise InputError(f"There is no kind of resampling {kind!r}; choose one of {listed(KINDS)}.")
    units = UniqueRows.of(data) if clusters is None else clustered(data, clusters)
    rows = units.rows if isinstance(units, ClusteredRows) else units
    rows.check_complete("learning")
    if len(rows.domain) < 2:
        raise InputError("A table of one column has no pairs of variables to be stable; use more columns.")
    drawn = _resamples(units, kind, resamples, seed)
    weights = units.weights(drawn) if isinstance(units, ClusteredRows) else drawn
    with one_blas_thread():
        if one_step and (kind == "stars" or isinstance(learner, StructureLearner)):
            raise InputError("One step refits the parameters of a Learner; leave it out for structures alone.")
        if resume is not None and (kind == "stars" or one_step):
            raise InputError("Resamples are kept in a file where each is learned from once; leave resume out.")
        if kind == "stars":
            return _stars(learner, rows, weights, level, jobs, callback)
        n_kept = 0
        if kind == "pairs":
            n_pairs = len(rows.domain) * (len(rows.domain) - 1) // 2
            n_kept = n_kept_for(false_edges, n_pairs, threshold, len(weights) // 2, assumption)
        if one_step and not isinstance(learner, StructureLearner):
            networks = _by_one_step(learner, rows, weights, jobs)
        else:
            pool = pool_of(learner, rows)
            networks = networks_of(learner, rows, weights, pool=pool, resume=resume, jobs=jobs, callback=callback)
    found = Stability(kind, networks, level, scores=scores_of(learner, rows.domain))
    if kind == "drop":
        return replace(found, case_drop=CaseDrop.of(networks, 1.0 - drawn.sum(axis=1) / units.total_weight))
    if kind == "pairs":
        pairs = StablePairs.of(networks, n_kept=n_kept, threshold=threshold, assumption=assumption)
        return replace(found, pairs=pairs)
    return found


def clustered(data: Any, ids: Sequence[object], domain: Domain | None = None) -> ClusteredRows:
    """The table, under its own domain or another, by whom each of its rows belongs to."""
    if isinstance(data, UniqueRows):
        raise InputError("Clusters are of single rows, which distinct rows no longer are; give a Dataset or a table.")
    dataset = data if isinstance(data, Dataset) else Dataset.from_table(data, domain=domain)
    return ClusteredRows.of(dataset if domain is None else dataset.recoded(domain), ids)


def _resamples(rows: draw.Drawn, kind: str, resamples: Any, seed: int) -> Floats:
    if not isinstance(resamples, int | np.integer):
        if isinstance(rows, ClusteredRows):
            raise InputError("Resamples that are given need no clusters; leave one of them out.")
        return draw.given(rows, resamples)
    rng, n = generator(seed), int(resamples)
    least = {"drop": len(DROPPED), "pairs": 2}.get(kind, 1)
    if n < least:
        raise InputError(f"Resampling of the kind {kind!r} needs at least {least} resamples; got {n}.")
    ways: dict[str, Callable[[], Floats]] = {
        "bootstrap": lambda: draw.bootstrap(rows, n, rng),
        "drop": lambda: draw.case_drop(rows, DROPPED, n // len(DROPPED), rng),
        "pairs": lambda: draw.halves(rows, n // 2, rng),
        "stars": lambda: draw.parts(rows, np.full(n, subsample_size(int(rows.total_weight))), rng),
    }
    return ways[kind]()


def told_learner(model: MarkovNetwork, called: str = "The model") -> Learner:
    """How a model was learned, as its provenance says."""
    described = model.provenance.get("learner")
    if not isinstance(described, dict):
        raise InputError(f"{called} does not say how it was learned; expected a model that `mrfit fit` wrote.")
    return Learner.from_dict(described)


def learner_without_valid(model: MarkovNetwork, called: str = "The model") -> Learner:
    """The same where validation rows are not at hand: what they chose stays as they chose it."""
    learner, penalty = told_learner(model, called), model.provenance.get("penalty", {})
    if model.provenance.get("chosen_on") != "valid":
        return learner
    chosen = {name: penalty[name] for name in ("strength", "groups") if name in penalty}
    return replace(learner, penalty=replace(learner.penalty, **chosen))


def networks_of(
    learner: Learner | StructureLearner,
    rows: UniqueRows,
    resamples: Floats,
    *,
    pool: RegressionPool | None,
    resume: str | Path | None = None,
    jobs: int = 1,
    callback: Callback | None = None,
) -> Networks:
    """Those of the whole table and of every resample: in one pool of regressions where there is one."""
    shape = len(resamples), len(pairs_of(len(rows.domain)))
    check_room(*shape)
    if (
        pool is not None and resamples.any(axis=1).all()
    ):  # a resample without rows is a failure, which pools have none of
        pooled = pool
        sample = pooled.weights(rows.sample_weight[None])[0]

        def learn(some: Indices) -> tuple[Floats, dict[str, int]]:
            return pooled.weights(resamples[some], jobs=jobs, callback=callback), {}
    else:
        weigh = weigher(learner)
        sample = weigh(rows)

        def learn(some: Indices) -> tuple[Floats, dict[str, int]]:
            def table(k: int) -> UniqueRows:
                return rows.reweighted(resamples[some[k]])

            return weights_of_tables(weigh, table, (len(some), shape[1]), jobs=jobs, callback=callback)

    if resume is None:
        return Networks(rows.domain.names, sample, *learn(np.arange(len(resamples))))
    with KeptResamples.opened(resume, learner, rows, resamples, shape[1]) as kept:
        if callback is not None:
            callback(int(kept.is_known.sum()))
        return Networks(rows.domain.names, sample, *kept.complete(learn, jobs=jobs))


def pool_of(learner: Learner | StructureLearner, rows: UniqueRows) -> RegressionPool | None:
    return learner.pool(rows) if isinstance(learner, Learned) else None


def scores_of(learner: Learner | StructureLearner, domain: Domain) -> Scores:
    """The scores of the states of each variable by which a learner's edge weights are counted."""
    scores = list(default_scores(domain.shape))
    if isinstance(learner, Learner) and learner.parameterization == Ordered.word:
        own = dict(learner.scores)
        for i in ordered_variables(learner.ordered, domain, given=learner.given, scored=own):
            if domain.shape[i] > 2:
                scores[i] = np.array(own.get(domain.names[i], range(domain.shape[i])), np.float64)
    return tuple(scores)


def weigher(learner: Learner | StructureLearner) -> Weigh:
    """What learns a network from rows and gives the weights of all pairs."""
    return _weights_of_structure(learner) if isinstance(learner, StructureLearner) else weights_of_fit(learner)


def _weights_of_structure(learner: StructureLearner) -> Weigh:
    """The weights of `EdgeReport.weight`, and 1 for edges without a report."""

    def weigh(rows: UniqueRows) -> Floats:
        learned = learner.learn(rows)
        edges, report = learned.structure.edges, learned.report
        return weights_of_pairs(len(rows.domain), edges, report.weight if len(report) else np.ones(len(edges)))

    return weigh


def weights_of_fit(learner: Learner, of_model: Callable[[MarkovNetwork], Floats] | None = None) -> Weigh:
    """As ``of_model`` has them, or `MarkovNetwork.edge_weights`; infinite where a parameter has no finite optimum."""

    def weigh(rows: UniqueRows) -> Floats:
        best = learner.fit(rows, compared=False).best
        weights = (of_model or _edge_weights)(best.model)
        for k in best.infinite.tolist():
            scope = best.model.parameters.scope(k)
            if len(scope) == 2:
                at = _places(len(rows.domain), np.array([scope]))
                weights[at] = np.copysign(np.inf, weights[at])
        return weights

    return weigh


def _edge_weights(model: MarkovNetwork) -> Floats:
    return weights_of_pairs(len(model.domain), model.structure.edges, model.edge_weights)


def _by_one_step(learner: Learner, rows: UniqueRows, weights: Floats, jobs: int) -> Networks:
    model, estimates = refits(learner, rows, weights, jobs=jobs)
    n, edges = len(rows.domain), model.structure.edges
    stepped = np.stack([weights_of_pairs(n, edges, edge_weights(model, w)) for w in estimates])
    return Networks(rows.domain.names, _edge_weights(model), stepped, {})


def weights_of_pairs(n_variables: int, edges: NDArray[np.int64], weights: Floats) -> Floats:
    out = np.zeros(n_variables * (n_variables - 1) // 2)
    out[_places(n_variables, edges)] = weights
    return out


def _places(n: int, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of edges a < b among all pairs in the order of `pairs_of`."""
    a, b = edges[:, 0], edges[:, 1]
    return np.asarray(a * (2 * n - a - 1) // 2 + b - a - 1, np.int64)


def _stars(
    learner: Learner | StructureLearner,
    rows: UniqueRows,
    weights: Floats,
    level: float,
    jobs: int,
    callback: Callback | None,
) -> Stability:
    """A strength is the same for each row in a subsample as in the whole table."""
    if not isinstance(learner, Learned):
        raise InputError(
            "StARS chooses an l1 strength of node-wise regressions; it needs the structure learner Learned."
        )
    table = IndicatorTable.of(rows)
    critical = float(table.norms_alone([i for i in range(len(rows.domain)) if table.varies(i)]).max(initial=0.0))
    if critical <= 0.0:
        raise InputError("No variables depend on each other in these rows; there is no strength to choose.")
    strengths, found = np.geomspace(critical, _WEAKEST * critical, _N_STRENGTHS), []
    for strength in strengths.tolist():
        per_row = strength / rows.total_weight

        def weigh(part: UniqueRows, per_row: float = per_row) -> Floats:
            return weigher(_at_strength(learner, per_row * part.total_weight))(part)

        found.append(Networks.learned(weigh, rows, weights, jobs=jobs))
        if callback is not None:
            callback(len(weights) // _N_STRENGTHS)
    stars = Stars(strengths, np.stack([networks.inclusion for networks in found]))
    return Stability("stars", found[stars.chosen], level, stars=stars, scores=scores_of(learner, rows.domain))


def _at_strength(learner: Learned, strength: float) -> Learned:
    """The same with one strength for all regressions, and without what only other selections look at."""
    return Learned(
        rule=learner.rule,
        select="strength",
        select_strength=strength,
        require=learner.require,
        forbid=learner.forbid,
        tolerance=learner.tolerance,
    )
