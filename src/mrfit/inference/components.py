"""The part of a distribution that some variables depend on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mrfit.core.factors import Factors


@dataclass(frozen=True, eq=False)
class Component:
    """The tables that are joined to some variables, and whether these are not all."""

    factors: Factors
    is_proper: bool


def component_of(factors: Factors, variables: Iterable[int]) -> Component:
    """What is left when all is dropped that shares no table, directly or through others, with these variables.

    Their marginals stay as they are: the rest is independent of them. Variables that are known join nothing.
    """
    import networkx  # here, for commands that ask nothing start sooner

    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_nodes_from(variables)
    for scope in factors.scopes:
        networkx.add_path(graph, [i for i in scope if factors.shape[i] > 1])
    near = set().union(*(networkx.node_connected_component(graph, i) for i in variables))
    pairs = zip(factors.scopes, factors.tables, strict=True)
    kept = [(scope, table) for scope, table in pairs if near.intersection(scope)]
    if len(kept) == len(factors.scopes):
        return Component(factors, is_proper=False)
    return Component(Factors.from_tables(factors.shape, kept), is_proper=True)
