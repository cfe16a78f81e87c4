"""Edge weights that any learner finds in a table and in its resamples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices
from mrfit.analysis.stability.one_step import edge_weights
from mrfit.analysis.stability.one_step import one_step as refits
from mrfit.analysis.stability.resample_checkpoint import KeptResamples
from mrfit.analysis.stability.resampled_networks import Networks, Weigh, check_memory, pairs_of, weights_of_tables
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.data.clustered_rows import ClusteredRows
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.model.markov_network import MarkovNetwork
from mrfit.parameterizations.ordered import Ordered, ordered_variables
from mrfit.structures.edge_weights import Scores, default_scores
from mrfit.structures.nodewise.batched_paths import RegressionPool
from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner
from mrfit.structures.simple import StructureLearner

Callback = Callable[[int], None]


def clustered(data: Any, ids: Sequence[object], domain: Domain | None = None) -> ClusteredRows:
    """Group the rows of a table, under its own domain or another, by the cluster of each."""
    if isinstance(data, UniqueRows):
        raise InputError(
            "Clusters need the single rows, and these are merged into distinct ones; give a Dataset or a table."
        )
    dataset = data if isinstance(data, Dataset) else Dataset.from_table(data, domain=domain)
    return ClusteredRows.of(dataset if domain is None else dataset.recoded(domain), ids)


def told_learner(model: MarkovNetwork, called: str = "The model") -> Learner:
    """Return the learner that the provenance of a model describes."""
    described = model.provenance.get("learner")
    if not isinstance(described, dict):
        raise InputError(f"{called} does not say how it was learned; expected a model that `mrfit fit` wrote.")
    return Learner.from_dict(described)


def learner_without_valid(model: MarkovNetwork, called: str = "The model") -> Learner:
    """Return the learner of a model for use without validation rows: their choices are fixed."""
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
    """Learn the networks of the table and of every resample, in one pool of regressions if there is one."""
    shape = len(resamples), len(pairs_of(len(rows.domain)))
    check_memory(*shape)
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
    return learner.pool(rows) if isinstance(learner, PairwiseLearner) else None


def scores_of(learner: Learner | StructureLearner, domain: Domain) -> Scores:
    """The scores of the states of each variable by which a learner's edge weights are counted."""
    scores = list(default_scores(domain.shape))
    if isinstance(learner, Learner) and learner.parameterization == Ordered.word:
        own = dict(learner.scores)
        for i in ordered_variables(learner.ordered, domain, covariates=learner.covariates, scored=own):
            if domain.shape[i] > 2:
                scores[i] = np.array(own.get(domain.names[i], range(domain.shape[i])), np.float64)
    return tuple(scores)


def weigher(learner: Learner | StructureLearner) -> Weigh:
    """Return the function that learns a network from rows and returns the weights of all pairs."""
    return _weights_of_structure(learner) if isinstance(learner, StructureLearner) else weights_of_fit(learner)


def _weights_of_structure(learner: StructureLearner) -> Weigh:
    """Weigh by `EdgeReport.weight`, and by 1 without a report."""

    def weigh(rows: UniqueRows) -> Floats:
        learned = learner.learn(rows)
        edges, report = learned.structure.edges, learned.report
        return weights_of_pairs(len(rows.domain), edges, report.weight if len(report) else np.ones(len(edges)))

    return weigh


def weights_of_fit(learner: Learner, of_model: Callable[[MarkovNetwork], Floats] | None = None) -> Weigh:
    """Weigh by ``of_model`` or `MarkovNetwork.edge_weights`; infinite if a parameter has no finite optimum."""

    def weigh(rows: UniqueRows) -> Floats:
        best = learner.fit(rows, compared=False).best
        weights = (of_model or _edge_weights)(best.model)
        for k in best.infinite.tolist():
            scope = best.model.parameters.scope(k)
            if len(scope) == 2:
                at = _positions(len(rows.domain), np.array([scope]))
                weights[at] = np.copysign(np.inf, weights[at])
        return weights

    return weigh


def _edge_weights(model: MarkovNetwork) -> Floats:
    return weights_of_pairs(len(model.domain), model.structure.edges, model.edge_weights)


def networks_by_one_step(learner: Learner, rows: UniqueRows, weights: Floats, jobs: int) -> Networks:
    model, estimates = refits(learner, rows, weights, jobs=jobs)
    n, edges = len(rows.domain), model.structure.edges
    stepped = np.stack([weights_of_pairs(n, edges, edge_weights(model, w)) for w in estimates])
    return Networks(rows.domain.names, _edge_weights(model), stepped, {})


def weights_of_pairs(n_variables: int, edges: NDArray[np.int64], weights: Floats) -> Floats:
    out = np.zeros(n_variables * (n_variables - 1) // 2)
    out[_positions(n_variables, edges)] = weights
    return out


def _positions(n: int, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of edges a < b among all pairs in the order of `pairs_of`."""
    a, b = edges[:, 0], edges[:, 1]
    return np.asarray(a * (2 * n - a - 1) // 2 + b - a - 1, np.int64)
