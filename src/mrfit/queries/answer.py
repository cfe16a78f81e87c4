"""What is answered, as records."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """How an answer came about.

    Parameters
    ----------
    engine, why
        What computed it, and the reason for taking that.
    exact
        Whether it is exact to rounding; an approximation has ``remarks`` on how far to trust it.
    given
        What was known, in words.
    """

    engine: str
    why: str
    exact: bool
    remarks: tuple[str, ...]
    given: str

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class LogZ(Answer):
    """log Z over all joint states that agree with what is given; ``error`` is a standard error, None if unknown."""

    log_z: float
    error: float | None

    def __float__(self) -> float:
        return self.log_z


@dataclass(frozen=True)
class Marginals(LogZ):
    """The probabilities of the states of variables."""

    marginals: dict[str, dict[str, float]]

    def __getitem__(self, name: str) -> dict[str, float]:
        return self.marginals[name]

    def to_frame(self) -> Any:
        """Columns ``variable``, ``state`` and ``probability``, as a pandas frame."""
        import pandas

        rows = [(name, state, p) for name, states in self.marginals.items() for state, p in states.items()]
        return pandas.DataFrame(rows, columns=["variable", "state", "probability"])


@dataclass(frozen=True)
class Joint(Answer):
    """The probabilities of the joint states of some variables: one axis of ``table`` for each."""

    states: dict[str, tuple[str, ...]]
    table: Floats

    def rows(self) -> list[tuple[dict[str, str], float]]:
        """Every joint state with its probability, in C order."""
        names, states = tuple(self.states), tuple(self.states.values())
        return [
            ({name: own[k] for name, own, k in zip(names, states, at, strict=True)}, float(self.table[at]))
            for at in np.ndindex(*self.table.shape)
        ]

    def to_dict(self) -> dict[str, Any]:
        about = {name: value for name, value in super().to_dict().items() if name not in ("states", "table")}
        return about | {"joint": [{"states": states, "p": p} for states, p in self.rows()]}

    def to_frame(self) -> Any:
        """A column for each variable and ``probability``, as a pandas frame."""
        import pandas

        return pandas.DataFrame([states | {"probability": p} for states, p in self.rows()])


@dataclass(frozen=True)
class BestState(Answer):
    """A joint state that no other exceeds in probability; where it is not exact, there may be better ones.

    ``log_potential`` is the sum of all tables there: log p plus log Z. No joint state has more than ``bound``, which is
    None where no bound is known.
    """

    states: dict[str, str]
    log_potential: float
    bound: float | None = None

    @property
    def gap(self) -> float | None:
        """How much larger, in nats, the log-probability of another joint state can be at most; 0 where it is exact."""
        return None if self.bound is None else self.bound - self.log_potential

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"gap": self.gap}


@dataclass(frozen=True)
class Influence:
    """One piece of evidence: the probability of the target without it, and what it adds to its log-odds."""

    variable: str
    given: str
    p_without: float
    log_odds: float  # positive where it speaks for the target


@dataclass(frozen=True)
class Explanation(Answer):
    """The probability that a variable is in a state: given all that is known, given nothing, and what moved it."""

    target: str
    state: str
    p: float
    p_before: float
    influences: tuple[Influence, ...]  # the largest change of log-odds first


@dataclass(frozen=True)
class Sensitivity(Answer):
    """How the probability that a variable is in a state changes with the cells of the model's log-tables.

    ``cells`` are the largest derivatives, each with the states it belongs to.
    """

    target: str
    state: str
    p: float
    cells: tuple[tuple[dict[str, str], float], ...]
