"""Gain in likelihood that each pair of variables without an edge would bring."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.structures.pair_tables import PairTables

THRESHOLD = 3.0  # nats over all rows that a scope must gain to enter
_LEAST = 1e-9  # probability of a cell of a model's table: chains never see what is rarer


@dataclass(frozen=True, eq=False)
class PairGains:
    """Tables of all pairs in the data beside those of a model, the model's moved to the data's single variables.

    Without that, what one variable is wrong by would look like interactions with all others.
    """

    data: PairTables
    model: PairTables

    def gains(self, n_rows: float, n_draws: float) -> Floats:
        """Nats, over all rows, that each pair gains at most, (variables, variables).

        By the divergence of the data's table from the model's, which is what a table of its own would gain. The model's
        is known from ``n_draws`` alone, which counts as if there were fewer rows.
        """
        out = np.empty((self.data.n_variables,) * 2)
        for first, last, p, q in self._blocks():
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = np.where(p > 0, p * np.log(p / q), 0.0)
            out[first:last] = self.data.summed(terms, first, last)
        return out * (n_rows * n_draws / (n_rows + n_draws))

    def log_ratios(self, ends: Indices) -> Floats:
        """Log-ratios of the data's tables to the model's; the data's cells are smoothed by half a row in 10,000.

        ``ends`` are pairs of variables of equal shape, (pairs, 2). The result is (pairs, states, states).
        """
        p, q = self.data.pairs(ends), self._moved(self.model.pairs(ends), ends)
        smoothing = 5e-5 / p[0].size
        return np.asarray(np.log((p + smoothing) / (q + smoothing)))

    def _moved(self, q: Floats, ends: Indices) -> Floats:
        independent = (_products(tables, ends) for tables in (self.data, self.model))
        return np.maximum(q + np.subtract(*independent), _LEAST)

    def _blocks(self) -> Iterator[tuple[int, int, Floats, Floats]]:
        """Some variables at a time, the tables of the data and of the model with all others."""
        for first, last, p in self.data.blocks():
            mine = self.data.states_of(first, last)
            q = self.model.block(first, last)
            q -= np.outer(self.model.singles[mine], self.model.singles)
            q += np.outer(self.data.singles[mine], self.data.singles)
            yield first, last, p, np.maximum(q, _LEAST, out=q)


def _products(tables: PairTables, ends: Indices) -> Floats:
    """Tables of pairs under independence, (pairs, states, states)."""
    one, other = (np.stack([tables.single(i) for i in of_pairs.tolist()]) for of_pairs in ends.T)
    return np.asarray(one[:, :, None] * other[:, None, :])
