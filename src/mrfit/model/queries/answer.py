"""Answers to queries, as records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import nan
from typing import Any

import numpy as np

from mrfit._typing import Floats
from mrfit.core.rounding import probability, with_error

Error = float | None  # a standard error: 0 where it is exact, None where it is unknown


class FloatWithError(float):
    """A number with its standard error; it prints with the digits that are significant.

    Parameters
    ----------
    value
        The number.
    error
        Its standard error: 0 where it is exact, None where it is unknown.
    exact, remarks
        See `Answer`.
    """

    error: Error
    exact: bool
    remarks: tuple[str, ...]

    def __new__(
        cls, value: float, error: Error = 0.0, exact: bool = True, remarks: Sequence[str] = ()
    ) -> FloatWithError:
        self = super().__new__(cls, value)
        self.error, self.exact, self.remarks = error, exact, tuple(remarks)
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return float(self), self.error, self.exact, self.remarks

    def __repr__(self) -> str:
        return float.__repr__(self) if self.exact else with_error(self, self.error)

    __str__ = __repr__


class Distribution(dict[str, float]):
    """The probability of each state of a variable, as a dict; it prints with the digits that are significant.

    Parameters
    ----------
    p
        Probabilities by state.
    error
        Standard errors by state: 0 where they are exact, None where they are unknown. By default exact.
    exact, remarks
        See `Answer`.
    """

    def __init__(
        self,
        p: Mapping[str, float] | Iterable[tuple[str, float]] = (),
        error: Mapping[str, Error] | None = None,
        *,
        exact: bool = True,
        remarks: Sequence[str] = (),
    ) -> None:
        super().__init__(p)
        self.error: dict[str, Error] = dict.fromkeys(self, 0.0) if error is None else dict(error)
        self.exact, self.remarks = exact, tuple(remarks)

    def mean(self, scores: Sequence[float]) -> tuple[float, Error]:
        """Return the mean of the scores of the states, with its standard error; None where that is unknown.

        The errors of the states say from how many independent draws they come, and so what that of a mean is.
        """
        p, at = np.fromiter(self.values(), float), np.asarray(scores, float)
        mean = float(p @ at)
        if any(error is None for error in self.error.values()):
            return mean, None
        errors = np.array([error or 0.0 for error in self.error.values()])
        spread = float(p @ (1.0 - p))
        per_draw = float(errors @ errors) / spread if spread > 0.0 else 0.0
        return mean, float(np.sqrt(max(float(p @ (at - mean) ** 2), 0.0) * per_draw))

    def __repr__(self) -> str:
        if self.exact:
            return super().__repr__()
        return f"{{{', '.join(f'{state!r}: {probability(p, self.error[state])}' for state, p in self.items())}}}"


@dataclass(frozen=True)
class Answer:
    """The origin of an answer.

    Parameters
    ----------
    engine, why
        Name of the algorithm, and the reason for choosing it.
    exact
        Whether it is exact up to rounding; an approximation has ``remarks`` on how far to trust it.
    given
        Description of the evidence.
    """

    engine: str
    why: str
    exact: bool
    remarks: tuple[str, ...]
    given: str

    def _with_errors(self, **errors: Error) -> None:
        """Make numbers of these names print with the digits that their standard errors leave significant."""
        for name, error in errors.items():
            number = FloatWithError(getattr(self, name), error, self.exact, self.remarks)
            object.__setattr__(self, name, number)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values, for JSON."""
        record = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return {**record, "evidence": self.given}


@dataclass(frozen=True)
class LogZ(Answer):
    """log Z over all joint states that agree with the evidence; ``error`` is a standard error, None if unknown."""

    log_z: float
    error: float | None

    def __post_init__(self) -> None:
        self._with_errors(log_z=self.error)

    def __float__(self) -> float:
        return float(self.log_z)


@dataclass(frozen=True)
class Marginals(LogZ):
    """The probabilities of the states of variables, with their standard errors."""

    marginals: dict[str, Distribution]

    def __getitem__(self, name: str) -> Distribution:
        return self.marginals[name]

    @property
    def errors(self) -> dict[str, dict[str, Error]]:
        """Standard errors of all probabilities: 0 where they are exact, None where they are unknown."""
        return {name: p.error for name, p in self.marginals.items()}

    @property
    def largest_error(self) -> Error:
        """The largest of ``errors``; None where one is unknown."""
        return largest_error(error for errors in self.errors.values() for error in errors.values())

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"errors": self.errors}

    def to_frame(self) -> Any:
        """Return a pandas frame with columns ``variable``, ``state``, ``probability`` and ``error``.

        ``error`` is the standard error: 0 where it is exact, missing where it is unknown.
        """
        import pandas

        rows = [
            (name, state, p, nan if own.error[state] is None else own.error[state])
            for name, own in self.marginals.items()
            for state, p in own.items()
        ]
        return pandas.DataFrame(rows, columns=["variable", "state", "probability", "error"])


@dataclass(frozen=True)
class JointProbabilities(Answer):
    """The probabilities of the joint states of some variables: ``table`` has one axis for each.

    ``error`` has their standard errors: zeros where they are exact, None where they are unknown.
    """

    states: dict[str, tuple[str, ...]]
    table: Floats
    error: Floats | None

    def __repr__(self) -> str:
        states = (f"({', '.join(map(repr, at.values()))}): {probability(p, p.error)}" for at, p in self.rows())
        about = "" if self.exact else f", engine={self.engine!r}, exact=False"
        return f"<Joint of {', '.join(self.states)}: {{{', '.join(states)}}}{about}>"

    def rows(self) -> list[tuple[dict[str, str], FloatWithError]]:
        """Return every joint state with its probability, in C order."""
        return [
            (states, FloatWithError(p, error, self.exact, self.remarks)) for states, p, error in self.rows_with_errors()
        ]

    def rows_with_errors(self) -> list[tuple[dict[str, str], float, Error]]:
        """Return every joint state with its probability and its standard error, in C order."""
        names, states = tuple(self.states), tuple(self.states.values())
        return [
            (
                {name: own[k] for name, own, k in zip(names, states, at, strict=True)},
                float(self.table[at]),
                None if self.error is None else float(self.error[at]),
            )
            for at in np.ndindex(*self.table.shape)
        ]

    def to_dict(self) -> dict[str, Any]:
        about = {name: value for name, value in super().to_dict().items() if name not in ("states", "table", "error")}
        rows = self.rows_with_errors()
        return about | {"joint": [{"states": states, "p": p, "error": error} for states, p, error in rows]}

    def to_frame(self) -> Any:
        """Return a pandas frame with a column for each variable, ``probability`` and its standard ``error``."""
        import pandas

        return pandas.DataFrame(
            [
                states | {"probability": p, "error": nan if error is None else error}
                for states, p, error in self.rows_with_errors()
            ]
        )


@dataclass(frozen=True)
class BestState(Answer):
    """A most probable joint state; where it is not exact, there may be better ones.

    ``log_potential`` is the sum of all tables there: log p plus log Z. No joint state has a larger one than ``bound``;
    it may be unknown (None).
    """

    states: dict[str, str]
    log_potential: float
    bound: float | None = None

    @property
    def gap(self) -> float | None:
        """The largest possible gain in log-probability, in nats, of another joint state; 0 where this one is exact."""
        return None if self.bound is None else self.bound - self.log_potential

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"gap": self.gap}


@dataclass(frozen=True)
class Influence:
    """One piece of evidence: the probability of the target without it, and its effect on the target's log-odds.

    The error of log-odds is infinite where the probability may be 0 or 1 as far as chains can tell.
    """

    variable: str
    given: str
    p_without: float
    log_odds: float  # positive where it supports the target
    p_without_error: Error = 0.0
    log_odds_error: Error = 0.0

    def __post_init__(self) -> None:
        for name, error in (("p_without", self.p_without_error), ("log_odds", self.log_odds_error)):
            object.__setattr__(self, name, FloatWithError(getattr(self, name), error, exact=error == 0.0))


@dataclass(frozen=True)
class Explanation(Answer):
    """The probability of a state given all evidence and given none, and the effect of each piece of evidence."""

    target: str
    state: str
    p: float
    p_before: float
    influences: tuple[Influence, ...]  # the largest change of log-odds first
    p_error: Error = 0.0
    p_before_error: Error = 0.0

    def __post_init__(self) -> None:
        self._with_errors(p=self.p_error, p_before=self.p_before_error)


@dataclass(frozen=True)
class Sensitivity(Answer):
    """The derivatives of a state's probability with respect to the cells of the model's log-tables.

    ``cells`` are the largest derivatives, each with the states of its cell; ``cell_errors`` their standard errors.
    """

    target: str
    state: str
    p: float
    cells: tuple[tuple[dict[str, str], float], ...]
    p_error: Error = 0.0
    cell_errors: tuple[Error, ...] = ()

    def __post_init__(self) -> None:
        self._with_errors(p=self.p_error)
        errors = self.cell_errors or (0.0,) * len(self.cells)
        known = (
            (states, FloatWithError(slope, error, self.exact, self.remarks))
            for (states, slope), error in zip(self.cells, errors, strict=True)
        )
        object.__setattr__(self, "cells", tuple(known))


def largest_error(errors: Iterable[Error]) -> Error:
    """Return the largest standard error; None if one is unknown."""
    found = list(errors)
    return None if None in found else max((error for error in found if error is not None), default=0.0)


def joint_error(*errors: Error) -> Error:
    """Return the standard error of a sum or difference of independent numbers; None if one is unknown."""
    found = [error for error in errors if error is not None]
    return float(np.sqrt(np.sum(np.square(found)))) if len(found) == len(errors) else None
