"""The connected component of a factor graph around some variables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mrfit.core.factors import Factors


@dataclass(frozen=True, eq=False)
class Component:
    """The factors connected to some variables; ``is_proper`` if others exist that are not."""

    factors: Factors
    is_proper: bool


def component_of(factors: Factors, variables: Iterable[int]) -> Component:
    """Return the factors connected to these variables, directly or through other factors.

    The marginals of the variables do not change, because the rest is independent of them. Observed variables (those
    with one state) connect nothing.
    """
    import networkx  # here, so that commands that need no graph start sooner

    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_nodes_from(variables)
    for scope in factors.scopes:
        networkx.add_path(graph, [i for i in scope if factors.shape[i] > 1])
    near = set().union(*(networkx.node_connected_component(graph, i) for i in variables))
    pairs = zip(factors.scopes, factors.tables, strict=True)
    component = [(scope, table) for scope, table in pairs if near.intersection(scope)]
    if len(component) == len(factors.scopes):
        return Component(factors, is_proper=False)
    return Component(Factors.from_tables(factors.shape, component), is_proper=True)
