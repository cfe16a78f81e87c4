"""Bootstrap of node measures: percentile intervals, and the stability of communities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.analysis.nodes.communities import louvain, similarity_of_communities, similarity_of_members
from mrfit.analysis.nodes.node_measures import NodeMeasures, measures_of
from mrfit.analysis.stability import resamples as draw
from mrfit.analysis.stability.resampled_networks import Networks, check_level, middle
from mrfit.analysis.stability.stability import Callback, clustered, learner_without_valid, weights_of_fit
from mrfit.core.errors import InputError
from mrfit.core.seeds import generator
from mrfit.core.threads import one_blas_thread
from mrfit.data.clustered_rows import ClusteredRows
from mrfit.data.unique_rows import UniqueRows
from mrfit.model.markov_network import MarkovNetwork

_SAME = 1e-3  # of the largest weight: a model that differs by more was not learned from these rows


@dataclass(frozen=True, eq=False)
class NodeStability:
    """What resamples say of the variables of a model.

    Parameters
    ----------
    networks
        Weights of all pairs in every resample, in the coding of ``nodes``.
    community
        Of every variable in each resample that did not fail, (resamples, variables).
    level
        Share of resamples in a range.
    """

    nodes: NodeMeasures
    networks: Networks
    community: Indices
    level: float

    @cached_property
    def ranges(self) -> Mapping[str, tuple[Floats, Floats]]:
        """By measure, the ends of its middle over resamples; NaN where it is not known in all of them."""
        has_sign, group, n = self.nodes.weights.has_sign, self.nodes.group, len(self.nodes.names)
        found = [measures_of(_matrix(pairs, n), has_sign, group) for pairs in self.networks.known]
        return {name: middle(np.stack([each[name] for each in found]), self.level) for name in found[0]}

    @cached_property
    def of_members(self) -> Floats:
        """For each variable, how like its community is to the one it has in a resample, on average; 1 is the same."""
        found = [similarity_of_members(self.nodes.community, other) for other in self.community]
        return np.asarray(np.mean(found, axis=0), np.float64)

    @cached_property
    def of_communities(self) -> Floats:
        """For each community, how like it is to the one most like it in a resample, on average (Hennig 2007)."""
        found = [similarity_of_communities(self.nodes.community, other) for other in self.community]
        return np.asarray(np.mean(found, axis=0), np.float64)

    @property
    def n_communities(self) -> Indices:
        """How many there are in each resample."""
        return np.asarray(self.community.max(axis=1) + 1, np.int64)

    @property
    def is_of_these_rows(self) -> bool:
        """Whether learning from the whole table gives the weights of the model."""
        ours, theirs = self.nodes.weights.of_pairs, self.networks.sample
        return bool(np.allclose(np.where(np.isfinite(theirs), theirs, ours), ours, atol=_SAME * np.abs(ours).max()))

    def __repr__(self) -> str:
        return f"<NodeStability: {len(self.networks.weights):,} resamples, {self.networks.n_failed:,} failed>"


def node_stability(
    model: MarkovNetwork,
    data: Any,
    *,
    nodes: NodeMeasures | None = None,
    resamples: int = 50,
    clusters: Sequence[object] | None = None,
    level: float = 0.95,
    seed: int = 0,
    jobs: int = 1,
    callback: Callback | None = None,
) -> NodeStability:
    """Learn again from bootstrap resamples of ``data`` as the model was learned, everything each time.

    Parameters
    ----------
    nodes
        What ``model.nodes`` says, whose coding and groups are kept; by default without any settings.
    resamples
        How many.
    clusters
        Which cluster each row belongs to, where rows are nested: clusters are drawn, with all their rows.
    callback
        Told of every resample that is done, from any thread. The result does not depend on ``jobs``.
    """
    units = UniqueRows.of(data).recoded(model.domain) if clusters is None else clustered(data, clusters, model.domain)
    rows = units.rows if isinstance(units, ClusteredRows) else units
    rows.check_complete("learning")
    if len(model.domain) < 2:
        raise InputError("A model of one variable has no edges to bootstrap; use more columns.")
    if resamples < 2:
        raise InputError(f"Percentile intervals need at least 2 bootstrap samples; got {resamples}.")
    check_level(level)
    nodes = model.nodes(seed=seed) if nodes is None else nodes
    coding = nodes.weights.coding

    def of_model(learned: MarkovNetwork) -> Floats:
        return learned.pair_weights(coding).of_pairs

    drawn = draw.bootstrap(units, resamples, generator(seed))
    weights = units.weights(drawn) if isinstance(units, ClusteredRows) else drawn
    with one_blas_thread():
        weigh = weights_of_fit(learner_without_valid(model), of_model)
        networks = Networks.learned(weigh, rows, weights, jobs=jobs, callback=callback)
    largest = np.abs(networks.known[np.isfinite(networks.known)]).max(initial=1.0)
    finite = np.clip(networks.known, -largest, largest)
    community = np.stack([louvain(_matrix(pairs, len(model.domain)), seed=seed) for pairs in finite])
    return NodeStability(nodes, networks, community, level)


def _matrix(pairs: Floats, n_variables: int) -> Floats:
    """Symmetric, of the weights of all pairs."""
    out = np.zeros((n_variables, n_variables))
    first, second = np.triu_indices(n_variables, 1)
    out[first, second] = out[second, first] = pairs
    return out
