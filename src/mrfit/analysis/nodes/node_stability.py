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
    """Bootstrap of centralities and communities; the result of `node_stability`.

    Parameters
    ----------
    nodes : record
        Measures of the model itself, as `MarkovNetwork.nodes` returns them.
    networks : record
        Weights of all pairs in every bootstrap sample, in the coding of ``nodes``.
    community : int array of shape (n_samples, n_variables)
        Community of every variable in each sample that did not fail.
    level : float
        Share of the samples within ``ranges``.

    See Also
    --------
    node_stability : Make one.
    case_dropping : CS coefficients of centralities.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> table["cold"] = ["no"] * 20 + ["yes"] * 20
    >>> found = mrfit.node_stability(mrfit.learn(table).model, table, resamples=10)
    >>> found.of_communities
    array([1.])
    """

    nodes: NodeMeasures
    networks: Networks
    community: Indices
    level: float

    @cached_property
    def ranges(self) -> Mapping[str, tuple[Floats, Floats]]:
        """Ends of the percentile interval of each measure by name, as two arrays over variables.

        NaN where a measure is not known in all samples.
        """
        has_sign, group, n = self.nodes.weights.has_sign, self.nodes.group, len(self.nodes.names)
        found = [measures_of(_matrix(pairs, n), has_sign, group) for pairs in self.networks.known]
        return {name: middle(np.stack([each[name] for each in found]), self.level) for name in found[0]}

    @cached_property
    def of_members(self) -> Floats:
        """Mean similarity of each variable's community and the one it has in a sample; 1 means the same members."""
        found = [similarity_of_members(self.nodes.community, other) for other in self.community]
        return np.asarray(np.mean(found, axis=0), np.float64)

    @cached_property
    def of_communities(self) -> Floats:
        """Mean similarity, for each community, to the one most like it in a sample (Hennig 2007)."""
        found = [similarity_of_communities(self.nodes.community, other) for other in self.community]
        return np.asarray(np.mean(found, axis=0), np.float64)

    @property
    def n_communities(self) -> Indices:
        """Number of communities in each sample."""
        return np.asarray(self.community.max(axis=1) + 1, np.int64)

    @property
    def is_of_these_rows(self) -> bool:
        """Whether learning from the whole table gives the weights of the model, as it should."""
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
    """Bootstrap the centralities and communities of a model.

    A model is learned from each bootstrap sample as this one was learned, the structure included.

    Parameters
    ----------
    model : MarkovNetwork
        Model whose record of learning (``provenance``) tells how to repeat it.
    data : table
        Complete rows that the model was learned from.
    nodes : record, default None
        Measures to bootstrap, from ``model.nodes(...)``, with their coding and groups. None takes ``model.nodes()``.
    resamples : int, default 50
        Number of bootstrap samples, at least 2.
    clusters : sequence, default None
        Cluster of each row, such as its school, if rows are nested. Whole clusters are drawn.
    level : float, default 0.95
        Share of the samples within a percentile interval, between 0 and 1.
    seed : int, default 0
        Random seed of the samples and of the search for communities.
    jobs : int, default 1
        Number of threads that learn; the result does not depend on it.
    callback : callable, default None
        Called with the number of samples that have just been finished, from any thread.

    Returns
    -------
    NodeStability

    Raises
    ------
    MrfitError
        If the model does not tell how it was learned, or has a single variable.

    See Also
    --------
    MarkovNetwork.nodes : The measures themselves.
    case_dropping : How many rows can be dropped before centralities change.
    bootstrap_edges : Bootstrap the edge weights.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> table["cold"] = ["no"] * 20 + ["yes"] * 20
    >>> found = mrfit.node_stability(mrfit.learn(table).model, table, resamples=20)
    >>> low, high = found.ranges["strength"]
    >>> bool(low[0] < found.nodes.measures["strength"][0] < high[0])
    True
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
