"""Margins of a model beside those of data: which differ by more than chance, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.analysis.goodness.chance import p_values, z_scores
from mrfit.analysis.goodness.row_moments import Moments
from mrfit.analysis.goodness.state_set import Margin
from mrfit.core.domain import Domain
from mrfit.model.wald import adjusted_p

VarianceLeft = Callable[[Indices], Floats]  # of states, (margins, order)

SLIGHT = 0.01  # a difference of probabilities up to which a misfit is slight, however sure it is
_LEVEL = 0.05  # of the chance that a model that is right shows any misfit
_LISTED = 10
_LEAST_LEFT = 0.1  # of a margin's variance: penalties and pseudo-likelihoods do not adapt to the last
_MOST_ADAPTED = 256  # margins of each order whose variance is worked out, those with the largest differences
_CHANCE = 2.0  # standard errors of the model's side that are taken off a difference, to rank it


@dataclass(frozen=True)
class Difference(Margin):
    """The margin of one, two or three variables.

    ``error`` is the standard error of the model's frequency, 0 where that is exact. ``z`` is the difference, model
    minus data, in standard errors of both. ``adjusted`` is its p, adjusted by Benjamini and Hochberg's method.
    """

    error: float
    z: float
    adjusted: float

    @property
    def size(self) -> float:
        return abs(self.model - self.data)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            **super().to_dict(),
            "difference": self.model - self.data,
            "standard_error": self.error,
            "z": self.z,
            "p_adjusted": self.adjusted,
        }


@dataclass(frozen=True)
class MarginComparison:
    """All margins of one order: variables, pairs or triples.

    Parameters
    ----------
    what
        ``variables``, ``pairs`` or ``triples``.
    n, n_beyond
        Sets of variables that were compared, and those of them that differ beyond chance.
    largest
        The largest difference of all.
    worst
        The largest difference beyond chance, if any.
    listed
        The worst ten: those beyond chance first, by size, then by what is left of their size after two standard errors.
    """

    what: str
    n: int
    n_beyond: int
    largest: Difference | None
    worst: Difference | None
    listed: tuple[Difference, ...] = field(repr=False)

    @property
    def is_slight(self) -> bool:
        """Whether no difference beyond chance is large."""
        return self.worst is None or self.worst.size <= SLIGHT

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        worst = None if self.worst is None else self.worst.to_dict()
        return {"of": self.what, "compared": self.n, "beyond_chance": self.n_beyond, "worst": worst}


@dataclass(frozen=True, eq=False)
class _Margins:
    """States, (margins, order), with their probabilities, the standard errors of these, and frequencies."""

    what: str
    states: Indices
    model: Floats
    error: Floats
    data: Floats


def compare(
    model: Moments,
    data: Moments,
    domain: Domain,
    *,
    n_rows: float,
    n_groups: float,
    left: VarianceLeft | None = None,
) -> tuple[MarginComparison, ...]:
    """Compare frequencies of single variables, pairs and, where both sides know them, triples.

    The data have ``n_rows`` independent rows; the model's errors are from ``n_groups`` groups. Every order has an equal
    part of the chance of a false alarm. Parameters that were learned from the same rows have adapted to them: ``left``
    is the share of a margin's variance that remains. Without it all variance is taken to remain, and misfits are found
    less often.
    """
    orders = list(_orders(model, data, domain))
    level = _LEVEL / len(orders)
    return tuple(_compared(each, model, domain, n_rows, n_groups, level, left) for each in orders)


def _orders(model: Moments, data: Moments, domain: Domain) -> Iterator[_Margins]:
    states, variable = model.states, model.states.variable_of_indicators
    told = np.ones(len(model.single), np.bool_)
    told[states.first_state[:-1][np.array(domain.shape) <= 2]] = False  # of two states the second says it all
    k = np.flatnonzero(told)
    yield _Margins("variables", k[:, None], model.single[k], model.single_error[k], data.single[k])
    a, b = np.nonzero(variable[:, None] < variable[None, :])
    errors = np.broadcast_to(model.pair_error, model.pair.shape)
    pairs = np.column_stack([states.of_indicators[a], states.of_indicators[b]])
    yield _Margins("pairs", pairs, model.pair[a, b], errors[a, b], data.pair[a, b])
    if model.triple is not None and data.triple is not None:
        errors = np.broadcast_to(model.triple_error, model.triple.shape)
        yield _Margins("triples", states.of_indicators[states.triples], model.triple, errors, data.triple)


def _compared(
    margins: _Margins,
    moments: Moments,
    domain: Domain,
    n_rows: float,
    n_groups: float,
    level: float,
    left: VarianceLeft | None,
) -> MarginComparison:
    model, data, error = margins.model, margins.data, margins.error
    worth = np.full(len(model), n_rows)  # independent rows that would vary as much
    z = z_scores(model, data, error, worth)
    if left is not None:
        some = np.argsort(-np.abs(z), kind="stable")[:_MOST_ADAPTED]
        some = some[np.abs(z[some]) > 1.0]
        worth[some] /= np.maximum(left(margins.states[some]), _LEAST_LEFT)
        z = z_scores(model, data, error, worth)
    adjusted = adjusted_p(p_values(model, data, error, n_rows=worth, n_groups=n_groups))
    size, beyond = np.abs(model - data), adjusted <= level
    variables = np.searchsorted(moments.states.first_state, margins.states, side="right") - 1

    def difference(k: int) -> Difference:
        places = [moments.states.named(int(state)) for state in margins.states[k]]
        return Difference(
            variables=tuple(domain.names[i] for i, _ in places),
            states=tuple(domain[i].states[code] for i, code in places),
            model=float(model[k]),
            data=float(data[k]),
            error=float(error[k]),
            z=float(z[k]),
            adjusted=float(adjusted[k]),
        )

    rank = np.where(beyond, 2.0 + size, size - _CHANCE * error)  # sizes are at most 1
    return MarginComparison(
        margins.what,
        n=_n_sets(variables),
        n_beyond=_n_sets(variables[beyond]),
        largest=difference(int(size.argmax())) if len(size) else None,
        worst=difference(int(np.where(beyond, size, -1.0).argmax())) if beyond.any() else None,
        listed=tuple(map(difference, _first_largest(rank, _LISTED))),
    )


def _n_sets(variables: Indices) -> int:
    """Count the distinct sets of variables among the rows of ``variables``, (sets, size)."""
    if not len(variables):
        return 0
    key = np.zeros(len(variables), np.int64)
    for column in variables.T:
        key = key * (int(variables.max()) + 1) + column
    return len(np.unique(key))


def _first_largest(values: Floats, n: int) -> list[int]:
    """Places of the largest, largest first; of equal ones the first."""
    if not len(values):
        return []
    least = np.partition(values, max(len(values) - n, 0))[max(len(values) - n, 0)]
    some = np.flatnonzero(values >= least)
    return [int(k) for k in some[np.argsort(-values[some], kind="stable")][:n]]
