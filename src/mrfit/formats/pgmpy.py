"""Conversion of networks to and from objects of pgmpy. Needs pgmpy: ``pip install mrfit[interchange]``."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.formats.merged import merged_and_covering
from mrfit.formats.potentials import logarithms, potentials
from mrfit.model.factor_network import FactorNetwork

_INSTEAD = "Keep the network in a .LG or .mn file."


def to_pgmpy(network: FactorNetwork) -> Any:
    """Return a ``DiscreteMarkovNetwork`` of pgmpy with the same distribution, names and states.

    If values would overflow, tables are scaled, which changes only Z.
    """
    kind, factor_kind = _imported()
    network.check_unconditional()
    plain = network.with_hidden_named()
    factors = merged_and_covering(plain.tables)
    values, _ = potentials(factors, _INSTEAD)
    model = kind()
    model.add_nodes_from(plain.domain.names)
    start = 0
    for scope, table in zip(factors.scopes, factors.tables, strict=True):
        variables = [plain.domain[i] for i in scope]
        names = [variable.name for variable in variables]
        model.add_edges_from(combinations(names, 2))
        states = {variable.name: list(variable.states) for variable in variables}
        array = values[start : start + table.size]
        model.add_factors(factor_kind(names, [factors.shape[i] for i in scope], array, state_names=states))
        start += table.size
    return model


def from_pgmpy(model: Any) -> FactorNetwork:
    """Convert a Markov network or a discrete Bayesian network of pgmpy; names and states become texts."""
    if callable(getattr(model, "get_cpds", None)):
        factors = [cpd.to_factor() for cpd in model.get_cpds()]
    elif callable(getattr(model, "get_factors", None)):
        factors = list(model.get_factors())
    else:
        raise InputError(
            f"Got an object of type {type(model).__name__}; expected a Markov network or a discrete Bayesian network "
            "of pgmpy."
        )
    states: dict[Any, list[Any]] = {}
    for factor in factors:
        for variable in factor.variables:
            states.setdefault(variable, list(factor.state_names[variable]))
    if lacking := [str(node) for node in model.nodes() if node not in states]:
        raise InputError(f"Variable {lacking[0]!r} is in no factor, so its states are not known; add a factor to it.")
    order = {node: i for i, node in enumerate(model.nodes())}
    domain = Domain.from_states({str(node): states[node] for node in order})
    tables = []
    for factor in factors:
        array = np.asarray(factor.values, np.float64)
        for axis, variable in enumerate(factor.variables):
            # Every factor has its own order of states.
            own = {state: k for k, state in enumerate(factor.state_names[variable])}
            array = np.take(array, [own[state] for state in states[variable]], axis=axis)
        tables.append(([order[variable] for variable in factor.variables], logarithms(array.ravel())))
    return FactorNetwork(domain, Factors.from_tables(domain.shape, tables))


def _imported() -> tuple[Any, Any]:
    try:
        from pgmpy.factors.discrete import DiscreteFactor
        from pgmpy.models import DiscreteMarkovNetwork
    except ImportError:
        raise InputError(
            "This needs pgmpy 1.0 or newer, which is not installed; run `pip install 'mrfit[interchange]'` or `pip "
            "install pgmpy`."
        ) from None
    return DiscreteMarkovNetwork, DiscreteFactor
