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
    """A float with its standard error; it prints with the digits that are significant.

    Parameters
    ----------
    value : float
        The number.
    error : float, default 0.0
        Its standard error: 0 where it is exact, None where it is unknown.
    exact : bool, default True
        Whether the number is exact up to rounding; if so, it prints as a plain float.
    remarks : sequence of str, default ()
        Sentences on how far to trust the number.
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
    p : mapping or iterable of pairs
        Probabilities by state.
    error : mapping, default None
        Standard errors by state: 0 where they are exact, None where they are unknown. By default all are 0.
    exact : bool, default True
        Whether the probabilities are exact up to rounding.
    remarks : sequence of str, default ()
        Sentences on how far to trust the probabilities.
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

        Slow chains may move probability from one end of the scores to the other, so the errors of the states are not
        taken to be independent: the error is an upper bound, the least sum over states of |score - c| * error. Any
        ``c`` is allowed, because probabilities sum to one.
        """
        p, at = np.fromiter(self.values(), float), np.asarray(scores, float)
        mean = float(p @ at)
        errors = [error for error in self.error.values() if error is not None]
        if len(errors) < len(p):
            return mean, None
        return mean, float(min(np.abs(at - c) @ errors for c in at))

    def __repr__(self) -> str:
        if self.exact:
            return super().__repr__()
        return f"{{{', '.join(f'{state!r}: {probability(p, self.error[state])}' for state, p in self.items())}}}"


@dataclass(frozen=True)
class Answer:
    """Origin of an answer to a query; base class of the other records.

    Attributes
    ----------
    engine : str
        Name of the algorithm.
    why : str
        Reason for choosing it.
    exact : bool
        Whether the answer is exact up to rounding.
    remarks : tuple of str
        Sentences on how far to trust an answer that is not exact.
    given : str
        Evidence, as the command line writes it: ``rain=yes, wet~0.3:0.7``.
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
    """log Z over all joint states that agree with the evidence.

    It also has the attributes of `Answer`: engine, reason, exactness, remarks and evidence.

    Attributes
    ----------
    log_z : FloatWithError
        Logarithm of the partition function, in nats. It may be a bound or an estimate; ``remarks`` then say which.
    error : float or None
        Standard error of ``log_z``: 0 if exact, None if unknown.
    """

    log_z: float
    error: float | None

    def __post_init__(self) -> None:
        self._with_errors(log_z=self.error)

    def __float__(self) -> float:
        return float(self.log_z)


@dataclass(frozen=True)
class Marginals(LogZ):
    """Probabilities of the states of variables, with their standard errors; ``answer[name]`` is one of them.

    It also has the attributes of `Answer`: engine, reason, exactness, remarks and evidence.

    Attributes
    ----------
    marginals : dict of str to Distribution
        Probabilities of each variable's states.
    log_z : FloatWithError
        log Z given the evidence, in nats.
    error : float or None
        Standard error of ``log_z``: 0 if exact, None if unknown.
    """

    marginals: dict[str, Distribution]

    def __getitem__(self, name: str) -> Distribution:
        return self.marginals[name]

    @property
    def errors(self) -> dict[str, dict[str, Error]]:
        """Standard errors of all probabilities, 0 where they are exact, None where they are unknown."""
        return {name: p.error for name, p in self.marginals.items()}

    @property
    def largest_error(self) -> Error:
        """Largest standard error of a probability; None if one is unknown."""
        return largest_error(error for errors in self.errors.values() for error in errors.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values, for JSON."""
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
    """Probabilities of the joint states of some variables.

    It also has the attributes of `Answer`: engine, reason, exactness, remarks and evidence.

    Attributes
    ----------
    states : dict of str to tuple of str
        States of each variable, in the order of the axes of ``table``.
    table : array
        Probabilities, with one axis for each variable.
    error : array or None
        Standard errors of ``table``: zeros where they are exact, None where they are unknown.
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
        """Return the answer as plain values, for JSON; the table becomes a list of joint states."""
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
    """Most probable joint state; if it is not exact, there may be better ones.

    It also has the attributes of `Answer`: engine, reason, exactness, remarks and evidence.

    Attributes
    ----------
    states : dict of str to str
        State of every variable, observed ones included.
    log_potential : float
        Sum of all tables at this state: log p plus log Z, in nats.
    bound : float or None
        No joint state has a larger log-potential; None if no bound is known.
    """

    states: dict[str, str]
    log_potential: float
    bound: float | None = None

    @property
    def gap(self) -> float | None:
        """Largest possible gain in log-probability, in nats, of another joint state; None if unknown."""
        return None if self.bound is None else self.bound - self.log_potential

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values, for JSON, with its ``gap``."""
        return super().to_dict() | {"gap": self.gap}


@dataclass(frozen=True)
class Influence:
    """Effect of one piece of evidence on the probability of a state.

    Attributes
    ----------
    variable : str
        Variable of the piece of evidence.
    given : str
        The piece, as the command line writes it.
    p_without : FloatWithError
        Probability of the state given all other pieces.
    log_odds : FloatWithError
        Change of the state's log-odds when the piece is added, in nats; positive if it supports the state.
    p_without_error : float or None
        Standard error of ``p_without``.
    log_odds_error : float or None
        Standard error of ``log_odds``; infinite if the probability may be 0 or 1 as far as chains can tell.
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
    """Probability of a state with and without evidence, and the effect of each piece of evidence.

    It also has the attributes of `Answer`: engine, reason, exactness, remarks and evidence.

    Attributes
    ----------
    target, state : str
        Variable and state that are explained.
    p : FloatWithError
        Probability given all evidence.
    p_before : FloatWithError
        Probability without evidence, except for covariates.
    influences : tuple of Influence
        Effects of the pieces, the largest change of log-odds first.
    p_error, p_before_error : float or None
        Standard errors: 0 if exact, None if unknown.
    """

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
    """Derivatives of a state's probability with respect to the cells of the model's log-tables.

    It also has the attributes of `Answer`: engine, reason, exactness, remarks and evidence.

    Attributes
    ----------
    target, state : str
        Variable and state whose probability is differentiated.
    p : FloatWithError
        Its probability given the evidence.
    cells : tuple of (dict, FloatWithError)
        States of a cell and the derivative of ``p`` in it, the largest in absolute value first.
    p_error : float or None
        Standard error of ``p``: 0 if exact, None if unknown.
    cell_errors : tuple of float or None
        Standard errors of the derivatives.
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
