"""Goodness of fit over all cells of a table at once, and the triples of variables that a model misses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, erfc

from mrfit._typing import Codes, Floats
from mrfit.analysis.goodness.state_set import Margin
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors, positions
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.enumeration import Enumeration, JointTable
from mrfit.model.wald import adjusted_p
from mrfit.parameterizations.parameterization import Parameterization

Indicator = tuple[tuple[int, int], ...]  # variables with the state of each

MOST_STATES = 2**16  # joint states, which are gone over one by one
_MOST_ENTRIES = 3 * 10**7  # of the table of features over all joint states, 240 MB
_AT_ONCE = 64  # sets of variables whose indicators are kept for all joint states
_FEW_ROWS, _SPARSE = 5.0, 0.2  # expected in a cell, and the share of such cells from which chi-square is not trusted
_HELD = 1e-6  # the share of its own variance below which a margin is what the model was fitted to


@dataclass(frozen=True)
class Residual(Margin):
    """Standardized residual of a joint state of two or three variables: (frequency - probability) / standard error.

    It also has the variables, states, frequency and probability of the margin.

    Attributes
    ----------
    residual : float
        The residual; NaN if the model was fitted to this frequency, which then says nothing about the fit.
    adjusted : float
        p value, adjusted for the number of residuals.
    """

    residual: float
    adjusted: float

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            **super().to_dict(),
            "residual": self.residual,
            "adjusted": self.adjusted,
        }


@dataclass(frozen=True, eq=False)
class Goodness:
    """G-squared test over all joint states, and residuals of pairs and triples of variables.

    Attributes
    ----------
    names : tuple of str
        Variables of the model.
    n_rows : float
        Weight of the rows.
    statistic : float
        G-squared: 2 times the sum over cells of n log(n / (N p)).
    degrees : int
        Degrees of freedom: cells minus one, and minus the number of parameters if ``is_fitted``.
    sparse : float
        Share of cells in which the model expects fewer than 5 rows. Above 0.2, chi-square does not hold.
    is_fitted : bool
        Whether these are the rows that the model was learned from.
    pairs, triples : tuple of Residual
        Residuals of all joint states without first states, the largest first.
    drawn : array or None
        Statistics of tables drawn from the model, NaN where learning failed; see `bootstrap_goodness`.
    failures : mapping of str to int
        Reasons why learning from drawn tables failed, and how often.
    """

    names: tuple[str, ...]
    n_rows: float
    statistic: float
    degrees: int
    sparse: float
    is_fitted: bool
    pairs: tuple[Residual, ...] = field(repr=False)
    triples: tuple[Residual, ...] = field(repr=False)
    drawn: Floats | None = None
    failures: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_sparse(self) -> bool:
        """Whether so few rows are expected in so many cells that chi-square does not hold."""
        return self.sparse > _SPARSE

    @property
    def p(self) -> float:
        """Probability of as bad a fit or worse if the model is true.

        From the bootstrap tables if there are any, else from the chi-square distribution; NaN without degrees of
        freedom.
        """
        if self.drawn is not None:
            known = self.drawn[~np.isnan(self.drawn)]
            return float((1 + (known >= self.statistic).sum()) / (1 + len(known)))
        return float(chdtrc(self.degrees, self.statistic)) if self.degrees > 0 else np.nan

    def describe(self) -> str:
        """Return a one-line summary."""
        text = f"G-squared {self.statistic:.4g} on {self.degrees:,} degrees of freedom"
        if self.drawn is not None:
            again = " and learned from again" if self.is_fitted else ""
            return f"{text}, p {self.p:.2g} by {len(self.drawn):,} tables drawn from the model{again}"
        if self.is_sparse:
            return f"{text}; {self.sparse:.0%} of cells expect fewer than 5 rows: --bootstrap 200 gives a p"
        return f"{text}, p {self.p:.2g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form; p is null where chi-square is not valid and no tables were drawn."""
        return {
            "g_squared": self.statistic,
            "degrees": self.degrees,
            "p": None if self.drawn is None and self.is_sparse else self.p,
            "sparse_cells": self.sparse,
            "of_the_rows_learned_from": self.is_fitted,
            "tables": 0 if self.drawn is None else len(self.drawn),
            "failures": dict(self.failures),
            "triples": [each.to_dict() for each in self.triples],
        }


@dataclass(frozen=True, eq=False)
class ModelCells:
    """All joint states of a model, with their probabilities and the features of its parameters."""

    domain: Domain
    parameters: Parameterization
    p: Floats

    @classmethod
    def of(cls, parameters: Parameterization, factors: Factors) -> ModelCells:
        n_cells = prod(parameters.domain.shape)
        if not has_few_cells(parameters):
            raise InputError(
                f"G-squared goes over all joint states: {float(n_cells):.2g} of them, and {parameters.n_parameters:,} "
                f"parameters, are too many; the limits are {MOST_STATES:,} and {_MOST_ENTRIES:.1g} in all. Use fewer "
                "columns."
            )
        engine = Enumeration()
        found = engine.run(engine.plan(factors), factors)
        assert isinstance(found, JointTable)
        return cls(parameters.domain, parameters, found.probabilities)

    @cached_property
    def codes(self) -> Codes:
        """(cells, variables), the last variable fastest."""
        shape = self.domain.shape
        return np.stack(np.unravel_index(np.arange(len(self.p)), shape), axis=1).astype(np.uint8)

    @cached_property
    def covariance_root(self) -> tuple[Floats, Floats]:
        """Centred features of all cells, and the pseudo-inverse of their covariance."""
        features = np.empty((len(self.p), self.parameters.n_parameters))
        for block, first, values in self.parameters.alike():
            for scope, begin in zip(block.tolist(), first.tolist(), strict=True):
                mine = slice(begin, begin + values.shape[1])
                features[:, mine] = values[positions(self.codes, tuple(scope), self.domain.shape)]
        features -= self.p @ features
        covariance = features.T @ (self.p[:, None] * features)
        return features, np.asarray(np.linalg.pinv(covariance, rcond=1e-10, hermitian=True), np.float64)

    def variance(self, holds: Floats, *, is_fitted: bool) -> tuple[Floats, Floats]:
        """Variances of indicators over rows of the model: in total, and what remains after fitting the parameters.

        ``holds`` is (cells, indicators). The fitted parameters explain the projection of an indicator on the features.
        """
        mean = self.p @ holds
        own = mean * (1.0 - mean)
        if not is_fitted:
            return own, own
        features, inverse = self.covariance_root
        c = holds.T @ (self.p[:, None] * features)  # features are centred
        return own, own - np.einsum("ij,jk,ik->i", c, inverse, c)

    def share_left(self, sets: Sequence[Indicator]) -> Floats:
        """The part of the variance of margins that parameters learned from the same rows leave.

        1 for margins that the model was fitted to: what is left of these tells the penalty, not the fit.
        """
        out = np.ones(len(sets))
        for first in range(0, len(sets), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            own, left = self.variance(self.holding(sets[part]), is_fitted=True)
            free = left > _HELD * np.maximum(own, 1e-300)
            out[part][free] = left[free] / own[free]
        return out

    def holding(self, sets: Sequence[Indicator]) -> Floats:
        """The indicators of sets of states, (cells, sets)."""
        return np.stack([_indicator(self.codes, each) for each in sets], axis=1).astype(np.float64)

    def counts(self, rows: UniqueRows) -> Floats:
        """The weight of the rows in every cell."""
        every = tuple(range(len(self.domain)))
        at = positions(rows.codes, every, self.domain.shape)
        return np.bincount(at, rows.sample_weight, len(self.p)).astype(np.float64)


def has_few_cells(parameters: Parameterization) -> bool:
    """Whether all joint states, with all their features, can be gone over one by one."""
    n_cells = prod(parameters.domain.shape)
    return n_cells <= MOST_STATES and n_cells * parameters.n_parameters <= _MOST_ENTRIES


def g_squared(p: Floats, counts: Floats) -> float:
    """2 sum over cells of n log(n / (N p)), infinite where rows are in a cell that is impossible."""
    some = counts > 0
    with np.errstate(divide="ignore"):
        return float(2.0 * (counts[some] * np.log(counts[some] / (counts.sum() * p[some]))).sum())


def goodness(cells: ModelCells, rows: UniqueRows, *, is_fitted: bool) -> Goodness:
    """Return how well the model fits ``rows``, which must have its coding.

    ``is_fitted`` tells whether the parameters were estimated from these rows: they then use up degrees of freedom.
    """
    counts = cells.counts(rows)
    n = float(counts.sum())
    used = np.linalg.matrix_rank(cells.covariance_root[1], hermitian=True) if is_fitted else 0
    possible = cells.p > 0
    return Goodness(
        cells.domain.names,
        n,
        g_squared(cells.p, counts),
        int(possible.sum()) - 1 - int(used),
        float((n * cells.p[possible] < _FEW_ROWS).mean()),
        is_fitted,
        _residuals(cells, counts, 2, is_fitted=is_fitted),
        _residuals(cells, counts, 3, is_fitted=is_fitted),
    )


def _residuals(cells: ModelCells, counts: Floats, size: int, *, is_fitted: bool) -> tuple[Residual, ...]:
    """Return the residuals of all sets of ``size`` variables, in states other than first ones."""
    shape, n = cells.domain.shape, float(counts.sum())
    sets: list[Indicator] = [
        tuple(zip(scope, states, strict=True))
        for scope in combinations(range(len(shape)), size)
        for states in product(*(range(1, shape[i]) for i in scope))
    ]
    model, data, variance = np.empty(len(sets)), np.empty(len(sets)), np.empty(len(sets))
    for first in range(0, len(sets), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        holds = cells.holding(sets[part])
        model[part], data[part] = cells.p @ holds, counts @ holds / n
        _, variance[part] = cells.variance(holds, is_fitted=is_fitted)
    free = variance > _HELD * np.maximum(model * (1.0 - model), 1e-300)
    z = np.full(len(sets), np.nan)
    z[free] = (data - model)[free] / np.sqrt(variance[free] / n)
    adjusted = adjusted_p(np.asarray(erfc(np.abs(z) / np.sqrt(2.0)), np.float64))
    order = np.argsort(-np.abs(z), kind="stable")  # NaN last
    return tuple(_named(cells.domain, sets[k], model[k], data[k], z[k], adjusted[k]) for k in order.tolist())


def _indicator(codes: Codes, states: Indicator) -> NDArray[np.bool_]:
    return np.asarray(np.logical_and.reduce([codes[:, i] == state for i, state in states]), bool)


def _named(domain: Domain, states: Indicator, model: float, data: float, z: float, adjusted: float) -> Residual:
    return Residual(
        tuple(domain.names[i] for i, _ in states),
        tuple(domain[i].states[state] for i, state in states),
        float(model),
        float(data),
        float(z),
        float(adjusted),
    )
