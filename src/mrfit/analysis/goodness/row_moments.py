"""Moments of rows: frequencies of states, pairs and triples, and of the number of variables off their first state."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.data.pair_counts import count_pairs
from mrfit._typing import Floats, Indices, Scope
from mrfit.analysis.goodness.triples import n_triples_of, triple_frequencies, triples_of
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors, positions
from mrfit.data.unique_rows import UniqueRows

_MOST_BYTES = 4e9  # of the tables over all pairs
_DUST = 1e-12  # that differences of sums leave where no row is
_TABLES = 8  # of them, at most: of the data, of the model with its errors, and what they are made from


@dataclass(frozen=True, eq=False)
class States:
    """Layout of the vectors of all states, and of indicators: the states that are not the first of their variable.

    Pairs of indicators contain everything that pairs of variables say beyond single variables. Where some states are
    rare, indicators are the rare ones.
    """

    shape: tuple[int, ...]

    @cached_property
    def first_state(self) -> Indices:
        return np.concatenate(([0], np.cumsum(self.shape))).astype(np.int64)

    @cached_property
    def first_indicator(self) -> Indices:
        return np.concatenate(([0], np.cumsum(np.array(self.shape) - 1))).astype(np.int64)

    @cached_property
    def of_indicators(self) -> Indices:
        """The state that each indicator stands for."""
        return np.setdiff1d(np.arange(sum(self.shape)), self.first_state[:-1])

    @cached_property
    def variable_of_indicators(self) -> Indices:
        return np.repeat(np.arange(len(self.shape)), np.array(self.shape, np.int64) - 1)

    @cached_property
    def triples(self) -> Indices:
        """All triples of indicators of different variables, (triples, 3)."""
        return triples_of(self.variable_of_indicators)

    @property
    def n_triples(self) -> int:
        return n_triples_of(self.variable_of_indicators)

    def hot(self, codes: NDArray[Any]) -> NDArray[np.float32]:
        """The indicators of rows, (rows, indicators)."""
        if set(self.shape) == {2}:
            return np.asarray(codes, np.float32)
        hot = np.zeros((len(codes), int(self.first_indicator[-1])), np.float32)
        row, i = np.nonzero(codes)
        hot[row, self.first_indicator[i] + codes[row, i] - 1] = 1.0
        return hot

    def named(self, state: int) -> tuple[int, int]:
        """The variable of a state, and its code."""
        i = int(np.searchsorted(self.first_state, state, side="right")) - 1
        return i, int(state - self.first_state[i])

    def check_size(self) -> None:
        """Refuse tables over all pairs that would not fit into memory."""
        n_bytes = 8.0 * _TABLES * float(self.first_indicator[-1] + 1) ** 2
        if n_bytes > _MOST_BYTES:
            raise InputError(
                f"A check of all pairs of {len(self.shape):,} variables with {sum(self.shape):,} states takes "
                f"{n_bytes / 1e9:.2g} GB; the limit is {_MOST_BYTES / 1e9:.2g} GB. Use fewer columns."
            )


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of rows or of a distribution, with standard errors.

    Parameters
    ----------
    single
        How often each state of each variable occurs, variable after variable.
    pair
        How often two indicators hold together, symmetric; single ones on the diagonal.
    sums
        How often 0, 1, ... variables are away from their first state.
    triple
        How often three indicators of different variables hold together; None where that was not counted.
    """

    states: States
    single: Floats
    pair: Floats
    sums: Floats
    single_error: Floats
    pair_error: Floats
    triple: Floats | None = None
    triple_error: Floats = field(default_factory=lambda: np.zeros(()))

    @classmethod
    def of_rows(cls, rows: UniqueRows, *, triples: bool = False) -> Moments:
        """Return the frequencies in the rows, which have no error, with those of triples if asked for."""
        states = States(rows.domain.shape)
        counts = np.empty((int(states.first_indicator[-1]) + 1,) * 2)
        count_pairs(rows.codes, states.first_indicator, rows.sample_weight, counts)
        counts /= rows.total_weight
        away = np.count_nonzero(rows.codes, axis=1)
        sums = np.bincount(away, rows.sample_weight, len(rows.domain) + 1) / rows.total_weight
        single = with_first_states(counts[-1, :-1], states)
        none, triple = np.zeros(()), None
        if triples:
            share = rows.sample_weight / rows.total_weight
            triple = triple_frequencies(states.hot(rows.codes), share, states.variable_of_indicators)
        return cls(states, single, counts[:-1, :-1], sums, np.broadcast_to(none, single.shape), none, triple)

    def table(self, scope: Scope) -> Floats:
        """p(x_A) of one or two variables, flat in C order."""
        starts, shape = self.states.first_indicator, self.states.shape
        own = [self.single[first : first + shape[i]] for i in scope for first in [self.states.first_state[i]]]
        if len(scope) == 1:
            return own[0]
        (a, b), (i, j) = own, scope
        table = np.empty((len(a), len(b)))
        table[1:, 1:] = self.pair[starts[i] : starts[i + 1], starts[j] : starts[j + 1]]
        table[1:, 0] = a[1:] - table[1:, 1:].sum(axis=1)
        table[0] = b - table[1:].sum(axis=0)
        return np.maximum(table, 0.0).ravel()  # differences of sums leave dust

    @property
    def mean_sum(self) -> float:
        return float(self.sums @ np.arange(len(self.sums)))


def with_first_states(indicators: Floats, states: States) -> Floats:
    """Frequencies of all states from those of indicators, along the last axis."""
    out = np.empty((*indicators.shape[:-1], sum(states.shape)))
    out[..., states.of_indicators] = indicators
    for first, (begin, end) in zip(states.first_state, pairwise(states.first_indicator), strict=False):
        out[..., first] = 1.0 - indicators[..., begin:end].sum(axis=-1)
    return np.clip(out, 0.0, 1.0)


def mean_log_potential(factors: Factors, rows: UniqueRows, moments: Moments) -> float:
    """The mean of the sum of all tables over rows: log p plus log Z; minus infinity where a row is impossible."""
    total = 0.0
    for scope, table in zip(factors.scopes, factors.tables, strict=True):
        if 1 <= len(scope) <= 2:
            p = moments.table(scope)
        else:
            at = positions(rows.codes, scope, factors.shape)
            p = np.bincount(at, rows.sample_weight, len(table)) / rows.total_weight
        seen = p > _DUST
        total += float(p[seen] @ table[seen])
    return total
