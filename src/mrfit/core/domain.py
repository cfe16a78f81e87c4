"""Variables, their named states, and the domain they form together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from mrfit.core.errors import DataError, InputError, listed


@dataclass(frozen=True)
class Variable:
    """A named variable with named states; the code of a state is its position in ``states``.

    Parameters
    ----------
    name : str
        Name of the variable.
    states : tuple of str
        Names of its states, each once.

    Raises
    ------
    DataError
        If there are no states, or one is repeated.

    See Also
    --------
    Domain : Variables in order.

    Examples
    --------
    >>> from mrfit import Variable
    >>> mood = Variable("mood", ("low", "fair", "high"))
    >>> mood.n_states, mood.codes["high"]
    (3, 2)
    """

    name: str
    states: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.states:
            raise DataError(f"Variable {self.name!r} has no states; give it at least one.")
        if len(set(self.states)) != len(self.states):
            raise DataError(f"Variable {self.name!r} repeats a state in {listed(self.states)}; name each state once.")

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.states)

    @cached_property
    def codes(self) -> Mapping[str, int]:
        """Code of each state by its name."""
        return {state: code for code, state in enumerate(self.states)}


def repeated_names(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


@dataclass(frozen=True)
class Domain:
    """Variables with their states, in the column order of every array of codes.

    A domain is a sequence of `Variable`: ``domain[0]``, ``len(domain)``, ``"name" in domain``.

    Parameters
    ----------
    variables : tuple of Variable
        The variables; their names differ.

    Raises
    ------
    DataError
        If there are no variables, or a name is repeated.

    See Also
    --------
    Dataset : Codes under a domain.

    Examples
    --------
    >>> from mrfit import Domain
    >>> domain = Domain.from_states({"smokes": ["no", "yes"], "mood": ["low", "fair", "high"]})
    >>> domain.names, domain.shape
    (('smokes', 'mood'), (2, 3))
    >>> domain.index("mood")
    1
    """

    variables: tuple[Variable, ...]

    def __post_init__(self) -> None:
        if not self.variables:
            raise DataError("The table has no columns; at least one variable is needed.")
        if repeated := repeated_names(self.names):
            raise DataError(f"Column names must differ; repeated: {listed(repeated)}. Rename them.")

    @classmethod
    def from_states(cls, states: Mapping[str, Iterable[str]]) -> Domain:
        """Build a domain from ``{name: states}``, in the order of the mapping."""
        return cls(tuple(Variable(str(name), tuple(map(str, labels))) for name, labels in states.items()))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of states of each variable."""
        return tuple(variable.n_states for variable in self.variables)

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.variables)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)

    def __getitem__(self, position: int) -> Variable:
        return self.variables[position]

    def __contains__(self, name: object) -> bool:
        return name in self._positions

    def index(self, name: str) -> int:
        """Return the position of a variable by its name."""
        try:
            return self._positions[name]
        except KeyError:
            raise InputError(f"There is no variable {name!r}; the variables are {listed(self.names)}.") from None

    def to_states(self) -> dict[str, list[str]]:
        """Return ``{name: states}``, ready for JSON: the inverse of `from_states`."""
        return {variable.name: list(variable.states) for variable in self.variables}
