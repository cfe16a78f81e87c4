"""Learned models (``.mrf``) as networks of tables, and tables as models that can be scored and shown."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from mrfit.core.errors import InputError
from mrfit.formats.merged import merged
from mrfit.formats.model_format import ModelFormat
from mrfit.model.factor_network import FactorNetwork

if TYPE_CHECKING:
    from mrfit.model.markov_network import MarkovNetwork


def to_model(network: FactorNetwork) -> MarkovNetwork:
    """Return the same distribution in full coordinates: a parameter for each cell of a table.

    Tables over the same variables are added up. A model is normalised, so constants are dropped.
    """
    from mrfit.model.markov_network import MarkovNetwork
    from mrfit.parameterizations.full import Full
    from mrfit.structures.structure import Structure

    if network.conjunctions:
        widest = max(len(each.conditions) for each in network.conjunctions)
        raise InputError(
            f"The network has a conjunction of {widest} variables, but a learned model holds tables only. Write a .mn "
            "file, or a .uai file, in which hidden variables represent conjunctions."
        )
    tables, _ = merged(network.tables)
    structure = Structure.from_scopes(len(network.domain), tables, closed=False)
    w = [tables[tuple(scope)] for block in structure.blocks.values() for scope in block.tolist()]
    return MarkovNetwork(Full(network.domain, structure), np.concatenate([np.empty(0), *w]))


def _read(content: bytes, name: str) -> FactorNetwork:
    from mrfit.formats.mrf import from_stream

    return network_of(from_stream(io.BytesIO(content), name))


def network_of(model: MarkovNetwork) -> FactorNetwork:
    """Return the distribution of a model as tables, without its parameters and provenance."""
    return FactorNetwork(model.domain, model.factors, covariate_indices=model.covariate_indices)


def _written(network: FactorNetwork, *, names: bool = True) -> bytes:
    from mrfit.formats.mrf import to_bytes

    return to_bytes(to_model(network))


MRF = ModelFormat("mrf", ".mrf", "learned model of mrfit, normalised", _read, _written)
