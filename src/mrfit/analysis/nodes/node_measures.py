"""Measures of each variable of a network: centrality, community and predictability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices
from mrfit.analysis.nodes.centrality import (
    across,
    betweenness,
    closeness,
    expected_influence,
    expected_influence_two_steps,
    strength,
)
from mrfit.analysis.nodes.communities import louvain, modularity
from mrfit.analysis.nodes.predictability import Predictability
from mrfit.core.errors import InputError, listed
from mrfit.core.html_table import html_table
from mrfit.model.pair_weights import PairWeights

Groups = Mapping[str, Sequence[str]]  # names of variables, by the name of their group


@dataclass(frozen=True, eq=False)
class NodeMeasures:
    """Measures of all variables of a network; the result of `MarkovNetwork.nodes`.

    Attributes
    ----------
    weights : PairWeights
        Weights of all pairs, on which the measures depend.
    measures : mapping of str to array
        One number for each variable by name: ``strength``, ``expected_influence`` and
        ``expected_influence_two_steps`` (NaN where an edge has no sign), the same with ``bridge_`` over edges between
        groups, and ``closeness`` and ``betweenness`` if paths were asked for.
    community : array of int
        Community of each variable, from 0, by the Louvain method.
    modularity : float
        Modularity of the communities.
    predictability : Predictability or None
        How well the other variables predict each one; None without data.
    group : tuple of str or None
        Group of each variable, if groups were given.
    """

    weights: PairWeights
    measures: Mapping[str, Floats]
    community: Indices
    modularity: float
    predictability: Predictability | None = None
    group: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        weights: PairWeights,
        *,
        predictability: Predictability | None = None,
        groups: Groups | None = None,
        paths: bool = False,
        seed: int = 0,
    ) -> NodeMeasures:
        """``paths`` asks for what shortest paths say: closeness and betweenness."""
        group = None if groups is None else grouped(weights.names, groups)
        measures = measures_of(weights.matrix, weights.has_sign, group)
        if paths:
            measures |= {"closeness": closeness(weights.matrix), "betweenness": betweenness(weights.matrix)}
        community = louvain(weights.matrix, seed=seed)
        return cls(weights, measures, community, modularity(weights.matrix, community), predictability, group)

    @property
    def names(self) -> tuple[str, ...]:
        return self.weights.names

    @property
    def columns(self) -> dict[str, Floats]:
        """Every measure, those of predictability among them."""
        return {**self.measures, **({} if self.predictability is None else self.predictability.to_dict())}

    def rows(self) -> list[dict[str, Any]]:
        """One for each variable: its name, its community from 1, its group if there are any, and every measure."""
        found = []
        for i, name in enumerate(self.names):
            row: dict[str, Any] = {"variable": name, "community": int(self.community[i]) + 1}
            if self.group is not None:
                row["group"] = self.group[i]
            found.append(row | {key: float(values[i]) for key, values in self.columns.items()})
        return found

    def to_frame(self) -> Any:
        """A pandas frame, a row for each variable."""
        import pandas

        return pandas.DataFrame(self.rows())

    def __repr__(self) -> str:
        strongest = self.names[int(self.measures["strength"].argmax())]
        n = len(np.unique(self.community))
        return f"<Nodes: {len(self.names):,} variables in {n:,} communities; the strongest is {strongest!r}>"

    def _repr_html_(self) -> str:
        order = np.argsort(-self.measures["strength"], kind="stable")
        facts = {"weights": self.weights.meaning, "communities": len(np.unique(self.community))}
        return html_table(
            "Nodes", facts, [(self.names[i], f"strength {self.measures['strength'][i]:.3f}") for i in order]
        )


def measures_of(weights: Floats, has_sign: NDArray[np.bool_], group: Sequence[str] | None) -> dict[str, Floats]:
    """Sums over edges, and over those between groups."""
    found = _sums(weights, has_sign)
    if group is not None:
        between = across(weights, np.unique(group, return_inverse=True)[1])
        found |= {f"bridge_{name}": values for name, values in _sums(between, has_sign).items()}
    return found


def _sums(weights: Floats, has_sign: NDArray[np.bool_]) -> dict[str, Floats]:
    """Influence is not known of variables with an edge that has no sign, nor two steps of their neighbours."""
    unknown = ((weights != 0) & ~has_sign).any(axis=1)
    near = ((weights != 0) & unknown).any(axis=1)
    return {
        "strength": strength(weights),
        "expected_influence": np.where(unknown, np.nan, expected_influence(weights)),
        "expected_influence_two_steps": np.where(unknown | near, np.nan, expected_influence_two_steps(weights)),
    }


def grouped(names: Sequence[str], groups: Groups) -> tuple[str, ...]:
    """The group of each variable; every one must be in one."""
    home: dict[str, str] = {}
    for group, members in groups.items():
        for name in members:
            if name not in names:
                raise InputError(f"Group {group!r} names {name!r}, which is no variable; they are {listed(names)}.")
            if home.setdefault(name, group) != group:
                raise InputError(f"{name!r} is in the groups {home[name]!r} and {group!r}; leave it in one of them.")
    if without := [name for name in names if name not in home]:
        raise InputError(f"{listed(without)} are in no group; bridges need a group for every variable.")
    if len(set(home.values())) < 2:
        raise InputError("Bridges lead from group to group; give at least two groups.")
    return tuple(home[name] for name in names)
