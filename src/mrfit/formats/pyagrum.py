"""Conversion of networks to and from objects of pyAgrum. Needs pyAgrum: ``pip install mrfit[interchange]``."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.formats.merged import merged_and_covering
from mrfit.formats.potentials import logarithms, potentials
from mrfit.model.factor_network import FactorNetwork

_INSTEAD = "Keep the network in a .LG or .mn file."


def to_pyagrum(network: FactorNetwork) -> Any:
    """Return a ``pyagrum.MarkovRandomField`` with the same distribution, names and states.

    Tables over the same variables are multiplied, because pyAgrum has one for each set. If values would overflow,
    tables are scaled, which changes only Z.
    """
    gum = _imported()
    network.check_unconditional()
    plain = network.with_hidden_named()
    factors = merged_and_covering(plain.tables)
    values, _ = potentials(factors, _INSTEAD)
    model = gum.MarkovRandomField()
    for variable in plain.domain:
        model.add(gum.LabelizedVariable(variable.name, variable.name, list(variable.states)))
    start = 0
    for scope, table in zip(factors.scopes, factors.tables, strict=True):
        # Axes of arrays are in the reverse order of a tensor's names.
        tensor = model.addFactor([plain.domain.names[i] for i in reversed(scope)])
        array = values[start : start + table.size].reshape([factors.shape[i] for i in scope])
        tensor[:] = np.ascontiguousarray(array)
        start += table.size
    return model


def from_pyagrum(model: Any) -> FactorNetwork:
    """Convert a ``pyagrum.MarkovRandomField`` or ``BayesNet``."""
    gum = _imported()
    if isinstance(model, gum.MarkovRandomField):
        tensors = [model.factor(ids) for ids in model.factors()]
    elif isinstance(model, gum.BayesNet):
        tensors = [model.cpt(node) for node in model.nodes()]
    else:
        raise InputError(
            f"Got an object of type {type(model).__name__}; expected a MarkovRandomField or BayesNet of pyAgrum."
        )
    variables = [model.variable(node) for node in sorted(model.nodes())]
    domain = Domain.from_states({variable.name(): variable.labels() for variable in variables})
    tables = []
    for tensor in tensors:
        scope = [domain.index(name) for name in reversed(tensor.names)]
        tables.append((scope, logarithms(np.asarray(tensor.toarray(), np.float64).ravel())))
    return FactorNetwork(domain, Factors.from_tables(domain.shape, tables))


def _imported() -> Any:
    try:
        # Its types warn when they are created, at first use, and crash where warnings are errors.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            gum: Any = import_module("pyagrum")
            gum.MarkovRandomField()
            gum.BayesNet()
    except ImportError:
        raise InputError(
            "This needs pyAgrum, which is not installed; run `pip install 'mrfit[interchange]'` or `pip install "
            "pyagrum`."
        ) from None
    return gum
