"""Features of canonical parameters: their indicators, and their moments centred at the means of the data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mrfit._typing import Floats, Indices
from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.distinct import distinct_rows
from mrfit.structures.pair_tables import PairTables


@dataclass(frozen=True, eq=False)
class Features:
    """Indicators of joint states of scopes, one for each canonical parameter whose reference is the first state.

    Indicators of single states are numbered through all variables, the first state of each left out.
    """

    parameters: Canonical

    @cached_property
    def first_indicator(self) -> Indices:
        return np.concatenate([[0], np.cumsum(self.parameters.n_free)])

    @cached_property
    def blocks(self) -> dict[int, tuple[Indices, Indices]]:
        """Scope (by its number) and indicators of each feature, a product of indicators; arrays by scope size."""
        shape = np.array(self.parameters.domain.shape, np.int64)
        out = {}
        for size, block in self.parameters.structure.blocks.items():
            shapes, shape_of = distinct_rows(shape[block])
            scopes, indicators, numbers = [], [], []
            for kind, each in enumerate(shapes - 1):
                chosen = np.flatnonzero(shape_of == kind)
                digits = np.indices(tuple(each)).reshape(size, -1).T  # (features of a scope, size)
                firsts = self.first_indicator[block[chosen]]  # (scopes, size)
                indicators.append((firsts[:, None, :] + digits).reshape(-1, size))
                scopes.append(np.repeat(chosen, len(digits)))
                numbers.append(
                    (self.parameters.first_parameter[size][chosen][:, None] + np.arange(len(digits))).ravel()
                )
            order = np.argsort(np.concatenate(numbers))
            out[size] = np.concatenate(scopes)[order], np.concatenate(indicators)[order]
        return out

    @cached_property
    def variable_of_indicator(self) -> Indices:
        return np.repeat(np.arange(len(self.parameters.n_free)), self.parameters.n_free)

    @property
    def orders(self) -> Indices:
        return self.parameters.order_of_parameter

    def states(self) -> tuple[Indices, Indices, Indices]:
        """Offset of each feature's factors, the variable of each factor, and the state that it must be in."""
        starts = np.concatenate([[0], np.cumsum(self.orders)])
        indicators = np.concatenate([np.empty(0, np.int64), *(rows.ravel() for _, rows in self.blocks.values())])
        variables = self.variable_of_indicator[indicators]
        return starts, variables, indicators - self.first_indicator[variables] + 1

    def values(self, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return the features of rows as booleans, (rows, features)."""
        states = np.arange(len(self.variable_of_indicator)) - self.first_indicator[self.variable_of_indicator] + 1
        on = codes[:, self.variable_of_indicator] == states
        parts = [on[:, indicators].all(axis=2) for _, indicators in self.blocks.values()]
        return np.concatenate([np.empty((len(codes), 0), bool), *parts], axis=1)

    def without_interactions(self, w: Floats) -> tuple[float, Floats]:
        """Return log Z and the means of all features, if only single variables have parameters that are not zero."""
        odds, n = np.ones(len(self.variable_of_indicator)), len(self.parameters.n_free)
        if 1 in self.blocks:
            odds[self.blocks[1][1][:, 0]] = np.exp(w[self.orders == 1])
        total = 1.0 + np.bincount(self.variable_of_indicator, odds, n)
        singles = odds / total[self.variable_of_indicator]
        means = [np.prod(singles[indicators], axis=1) for _, indicators in self.blocks.values()]
        return float(np.log(total).sum()), np.concatenate([np.empty(0), *means])

    def means(self, rows: UniqueRows) -> DataMeans:
        """Return the mean of each feature over the rows."""
        tables = PairTables.of_rows(rows)
        pairs, singles, parts = tables.indicators, tables.of_indicators, [np.empty(0)]
        for size, (_, indicators) in self.blocks.items():
            if size == 1:
                parts.append(singles[indicators[:, 0]])
            elif size == 2:
                parts.append(pairs[indicators[:, 0], indicators[:, 1]])
            else:
                parts.append(self._counted(rows, indicators))
        return DataMeans(self, np.concatenate(parts), singles, rows.total_weight)

    def _counted(self, rows: UniqueRows, indicators: Indices) -> Floats:
        """Means of features of three or more variables, counted one by one."""
        share, variables = rows.sample_weight / rows.total_weight, self.variable_of_indicator[indicators]
        states = indicators - self.first_indicator[variables] + 1
        columns = np.ascontiguousarray(rows.codes.T)
        out = np.empty(len(indicators))
        for f, (own, wanted) in enumerate(zip(variables, states, strict=True)):
            out[f] = share[(columns[own] == wanted[:, None]).all(axis=0)].sum()
        return out


@dataclass(frozen=True, eq=False)
class DataMeans:
    """Means of features over rows, and the features centred at the means of single indicators.

    The centred feature prod (x_i - m_i) is nearly uncorrelated with its single variables. A step along it hardly
    changes their probabilities, so that a diagonal metric suffices and all parameters may move at once. Multiplied
    out, it is the product and all sub-products, each times minus the means that are missing from it. Sub-products that
    are no scopes are left out: that gives another feature, which is as good a direction.
    """

    features: Features
    of_features: Floats
    singles: Floats  # of all indicators
    n_rows: float

    @property
    def independent(self) -> Floats:
        """Parameters of independent variables with these means, half a row added to each state."""
        features, w = self.features, np.zeros(len(self.of_features))
        if 1 not in features.blocks:
            return w
        indicators = features.blocks[1][1][:, 0]
        variables = features.variable_of_indicator
        others = 1.0 - np.bincount(variables, self.singles, len(features.parameters.n_free))[variables]
        added = 0.5 / self.n_rows
        odds = (self.singles + added) / (np.maximum(others, 0.0) + added)
        w[features.orders == 1] = np.log(odds)[indicators]
        return w

    @cached_property
    def centring(self) -> sparse.csr_array:
        """The matrix that takes weights of centred features to parameters, (parameters, parameters)."""
        parameters, n = self.features.parameters, self.features.parameters.n_parameters
        rows, columns, values = [np.arange(n)], [np.arange(n)], [np.ones(n)]
        for size, (_, indicators) in self.features.blocks.items():
            own = np.flatnonzero(self.features.orders == size)
            for smaller in range(1, size):
                if smaller not in parameters.structure.blocks:
                    continue
                for chosen in combinations(range(size), smaller):
                    number = self._find(indicators[:, list(chosen)])
                    left_out = [k for k in range(size) if k not in chosen]
                    known = number >= 0
                    rows.append(number[known])
                    columns.append(own[known])
                    values.append(np.prod(-self.singles[indicators[:, left_out]], axis=1)[known])
        entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
        return sparse.csr_array(entries, shape=(n, n))

    def _find(self, indicators: Indices) -> Indices:
        """Return the parameter of each product; -1 for those without one."""
        size = indicators.shape[1]
        _, known = self.features.blocks[size]
        offset = int((self.features.orders < size).sum())  # parameters stand by the sizes of their scopes
        both, number = np.unique(np.concatenate([known, indicators]), axis=0, return_inverse=True)
        at = np.full(len(both), -1, np.int64)
        at[number.ravel()[: len(known)]] = offset + np.arange(len(known))
        return at[number.ravel()[len(known) :]]

    @cached_property
    def variances(self) -> Floats:
        """Variance of each centred feature in the data, or under independence where that is larger."""
        m = self.singles
        alone = m * (1.0 - m) + 0.5 / self.n_rows
        out = np.empty(len(self.of_features))
        for size, (_, indicators) in self.features.blocks.items():
            own = self.features.orders == size
            observed = self.of_features[own]
            if size == 1:
                out[own] = alone[indicators[:, 0]]
                continue
            independent = np.prod(alone[indicators], axis=1)
            if size == 2:
                out[own] = np.maximum(independent, _pair_variance(m[indicators[:, 0]], m[indicators[:, 1]], observed))
            else:
                out[own] = np.maximum(independent, observed * (1.0 - observed))
        return out


def _pair_variance(a: Floats, b: Floats, both: Floats) -> Floats:
    """Variance of (x - a) (y - b) for indicators x and y with means a and b: uses (x - a)^2 = a^2 + (1 - 2 a) x."""
    square = a * a * b * b + a * a * (1 - 2 * b) * b + b * b * (1 - 2 * a) * a + (1 - 2 * a) * (1 - 2 * b) * both
    return np.asarray(square - (both - a * b) ** 2)
