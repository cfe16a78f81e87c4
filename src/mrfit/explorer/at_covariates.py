"""A model at one state of each covariate: a distribution of the other variables, which the page can show."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError, listed
from mrfit.core.factors import Factors
from mrfit.data.unique_rows import UniqueRows
from mrfit.formats.mrf_network import to_model
from mrfit.model.factor_network import FactorNetwork
from mrfit.model.markov_network import MarkovNetwork


def covariate_states(model: MarkovNetwork, evidence: Mapping[str, object]) -> dict[int, int]:
    """Return the code of every covariate, from states by name."""
    if missing := [name for name in model.covariates if name not in evidence]:
        raise InputError(
            f"The model has the covariates {listed(missing)}, and a page shows one distribution of the others; "
            f"choose a state of each: --evidence {missing[0]}={model.domain[model.domain.index(missing[0])].states[0]}."
        )
    if others := [name for name in evidence if name not in model.covariates]:
        raise InputError(f"{others[0]!r} is no covariate of this model; set it on the page instead.")
    known = {}
    for name, state in evidence.items():
        variable = model.domain[model.domain.index(name)]
        if state not in variable.codes:
            raise InputError(f"{name!r} has no state {state!r}; its states are {listed(variable.states)}.")
        known[model.domain.index(name)] = variable.codes[str(state)]
    return known


def model_at(model: MarkovNetwork, known: Mapping[int, int]) -> MarkovNetwork:
    """Return the distribution of all other variables, as tables."""
    others = [i for i in range(len(model.domain)) if i not in known]
    number = {i: k for k, i in enumerate(others)}
    factors = model.factors.given(known)
    scopes = [tuple(number[i] for i in scope if i in number) for scope in factors.scopes]
    tables = [(scope, table) for scope, table in zip(scopes, factors.tables, strict=True) if scope]
    domain = Domain(tuple(model.domain[i] for i in others))
    shown = to_model(FactorNetwork(domain, Factors.from_tables(domain.shape, tables)))
    return MarkovNetwork(shown.parameters, shown.w, {**model.provenance, "scores": model.ordered_scores})


def rows_at(rows: UniqueRows, known: Mapping[int, int]) -> UniqueRows:
    """Return the rows in which covariates have these states, without their columns."""
    chosen = (rows.codes[:, list(known)] == np.array(list(known.values()))).all(axis=1)
    if not chosen.any():
        states = [f"{rows.domain.names[z]}={rows.domain[z].states[s]}" for z, s in known.items()]
        raise InputError(f"No row of the data has {listed(states)}; choose other states, or leave the data out.")
    part = UniqueRows.from_codes(rows.domain, rows.codes[chosen], rows.sample_weight[chosen])
    return part.on_columns([i for i in range(len(rows.domain)) if i not in known])
