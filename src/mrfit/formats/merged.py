"""Factors with every set of variables once, for programs that require it."""

from __future__ import annotations

import numpy as np

from mrfit._typing import Floats, Scope
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors


def merged(factors: Factors) -> tuple[dict[Scope, Floats], float]:
    """Return sums of flat tables over the same variables, in ascending order, and the sum of all constants.

    One-state variables are dropped from scopes.
    """
    shape, constant = factors.shape, 0.0
    out: dict[Scope, Floats] = {}
    for scope, table in zip(factors.scopes, factors.tables, strict=True):
        live = [i for i in scope if shape[i] > 1]
        if not live:
            constant += float(table[0])
            continue
        ordered = table.reshape([shape[i] for i in live]).transpose(np.argsort(live)).ravel()
        key = tuple(sorted(live))
        out[key] = out[key] + ordered if key in out else ordered
    if constant == -np.inf:
        raise InputError("A table leaves no state possible, so there is no distribution; check the tables.")
    return out, constant


def merged_and_covering(factors: Factors) -> Factors:
    """Return the same product with every set of variables once, every variable in some table, and no constants.

    Constants are added to the first table.
    """
    tables, constant = merged(factors)
    for i in sorted(set(range(factors.n_variables)).difference(*tables)):
        tables[(i,)] = np.zeros(factors.shape[i])
    first = next(iter(tables))
    return Factors.from_tables(factors.shape, (tables | {first: tables[first] + constant}).items())
