"""Numbers from data and bootstrap samples that a model file may carry. It never carries rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mrfit.analysis.nodes.predictability import Predictability
from mrfit.analysis.stability.stability_file import EdgeStability
from mrfit.core.errors import InputError
from mrfit.core.rounding import with_error
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.fit_result import FitResult
from mrfit.model.markov_network import MarkovNetwork

Stability = Mapping[tuple[int, int], EdgeStability]

_ENTRY, _PARTS = "observed", {"variables", "scores", "edges"}  # of a model's provenance


@dataclass(frozen=True)
class ObservedVariable:
    """Frequency of each state of a variable, and the share of its deviance that the other variables explain.

    The share is NaN if the variable did not vary, or if it was not computed.
    """

    frequency: tuple[float, ...]
    explained: float = math.nan


@dataclass(frozen=True)
class ObservedScore:
    """The mean log-likelihood or pseudo-log-likelihood of rows, minus infinity where the model holds one impossible.

    ``error`` is the standard error of log Z in it, zero where that is exact.
    """

    value: float
    rows: int
    measure: str = "pll"
    error: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        estimated = {"error": self.error} if self.error else {}
        return {"measure": self.measure, "value": finite(self.value), "rows": self.rows, **estimated}

    def describe(self) -> str:
        return with_error(self.value, self.error) if self.error else f"{self.value:.6g}"


@dataclass(frozen=True)
class Observed:
    """None, or no scores, where nobody looked. Of ``edges`` that are not named, no resample had one."""

    variables: tuple[ObservedVariable, ...] | None = None
    scores: tuple[ObservedScore, ...] = ()
    edges: Stability | None = None

    @classmethod
    def of(
        cls, model: MarkovNetwork, *, rows: UniqueRows | None = None, stability: Stability | None = None
    ) -> Observed:
        """Return numbers from ``rows`` (in the model's coding) and ``stability``; None: the model's own."""
        observed = cls.kept_with(model)
        if rows is not None:
            score = ObservedScore(model.pll(rows), rows.n_rows)
            observed = replace(observed, variables=_variables(model, rows), scores=(score,))
        return observed if stability is None else replace(observed, edges=stability)

    @classmethod
    def in_learning(cls, fitted: FitResult, rows: UniqueRows, valid: UniqueRows | None) -> Observed:
        """Return the frequencies in the training rows, and the held-out score that chose the model."""
        best, n_rows = fitted.best, (rows if valid is None else valid).n_rows
        error = best.held_out_log_z_error
        scores = () if best.held_out is None else (ObservedScore(best.held_out, n_rows, best.judge, error),)
        return cls(tuple(ObservedVariable(_frequency(rows, i)) for i in range(len(rows.domain))), scores)

    @classmethod
    def kept_with(cls, model: MarkovNetwork) -> Observed:
        """Return the numbers that a model carries; an entry of another form is not ours and is ignored."""
        kept = model.provenance.get(_ENTRY)
        if not isinstance(kept, dict) or kept.keys() != _PARTS:
            return cls()
        try:
            return _from_dict(kept, model)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"What the model carries as {_ENTRY!r} does not fit its variables ({error!r}); make it again from the "
                "model that was learned: mrfit annotate."
            ) from error

    def added_to(self, model: MarkovNetwork) -> MarkovNetwork:
        """Return a copy of the model that carries these numbers."""
        return replace(model, provenance={**model.provenance, _ENTRY: self.to_dict(model.domain.names)})

    def to_dict(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return the JSON form by names of variables, with null for infinities and NaN."""
        variables, edges = None, None
        if self.variables is not None:
            told = ({"frequency": list(of.frequency), "explained": finite(of.explained)} for of in self.variables)
            variables = dict(zip(names, told, strict=True))
        if self.edges is not None:
            edges = [
                [names[a], names[b], of.inclusion, finite(of.low), finite(of.high)] for (a, b), of in self.edges.items()
            ]
        scores = [of.to_dict() for of in self.scores]
        return {"variables": variables, "scores": scores, "edges": edges}

    def describe(self) -> str:
        """Return a one-line list of the numbers that are known."""
        is_explained = any(math.isfinite(of.explained) for of in self.variables or ())
        there = ("frequencies",) * bool(self.variables) + ("predictability",) * is_explained
        scores = tuple(f"{of.measure} {of.describe()} of {of.rows:,} rows" for of in self.scores)
        edges = () if self.edges is None else (f"how often resamples have {len(self.edges):,} edges",)
        return ", ".join((*there, *scores, *edges))


def _variables(model: MarkovNetwork, rows: UniqueRows) -> tuple[ObservedVariable, ...]:
    explained = Predictability.of(model.factors, rows).explained_deviance.tolist()
    return tuple(ObservedVariable(_frequency(rows, i), share) for i, share in enumerate(explained))


def _frequency(rows: UniqueRows, i: int) -> tuple[float, ...]:
    """Frequency of each state of variable ``i`` among the rows that observe it."""
    n_states, codes = rows.domain[i].n_states, rows.codes[:, i]
    known = codes < n_states
    count = np.bincount(codes[known], weights=rows.sample_weight[known], minlength=n_states)
    return tuple((count / max(count.sum(), 1e-300)).tolist())


def _from_dict(kept: Mapping[str, Any], model: MarkovNetwork) -> Observed:
    domain, of_variables, of_edges = model.domain, kept["variables"], kept["edges"]
    variables, edges = None, None
    if of_variables is not None:
        found = (of_variables[name] for name in domain.names)
        variables = tuple(
            ObservedVariable(tuple(map(float, each["frequency"])), _number(each["explained"], math.nan))
            for each in found
        )
        if any(len(each.frequency) != n for each, n in zip(variables, domain.shape, strict=True)):
            raise ValueError("frequencies of other states")
    if of_edges is not None:
        edges = {}
        for one, other, inclusion, low, high in of_edges:
            a, b = sorted((domain.index(one), domain.index(other)))
            edges[a, b] = EdgeStability(float(inclusion), _number(low, -math.inf), _number(high, math.inf))
    scores = (
        ObservedScore(
            _number(each["value"], -math.inf), int(each["rows"]), str(each["measure"]), float(each.get("error", 0.0))
        )
        for each in kept["scores"]
    )
    return Observed(variables, tuple(scores), edges)


def finite(value: float) -> float | None:
    """JSON has no other numbers."""
    return value if math.isfinite(value) else None


def _number(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else float(value)
