"""Canonical coordinates: one parameter for each scope and combination of non-reference states.

All features of a variable are zero at its reference state, as in Koller and Friedman. For 0/1 data with the first
states as reference this is the usual form: theta_i x_i + theta_ij x_i x_j + ...
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices, Scope
from mrfit.core.errors import InputError
from mrfit.core.transforms import kronecker
from mrfit.parameterizations.bases import CompleteBase, Zeta
from mrfit.parameterizations.conditionals import Conditionals, conditionals_of
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.structures.distinct import distinct_rows


@dataclass(frozen=True)
class Canonical(Parameterization):
    """Canonical coordinates (dummy coding): one parameter for each combination of states other than reference states.

    theta_A(x_A) = w of the states x_A, and zero where one of them is its variable's reference state. For binary
    variables this is theta_i x_i + theta_ij x_i x_j + ... with x = 0 or 1, and the parameter of a pair without larger
    scopes is its log odds ratio given the others.

    Parameters
    ----------
    domain : Domain
        Variables and states; a variable with c states has c - 1 parameters of its own.
    structure : Structure
        Interactions that have parameters: with all subsets they express any tables over them.
    reference : tuple of int, default None
        Position of the reference state of every variable; None takes the first states.
    covariate_indices : tuple of int, default ()
        Positions of covariates, on which the distribution is conditional.

    Raises
    ------
    MrfitError
        If ``reference`` does not name a state of every variable.

    See Also
    --------
    Full : One parameter for each combination of states, including the first.
    Spectral : Coordinates without reference states.
    Ordered : One parameter per pair of ordered variables.

    Notes
    -----
    Minimal and complete. See Koller and Friedman (2009), section 4.4, for canonical parameters.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.parameterizations import Canonical
    >>> states = {"mood": ["low", "mid", "high"], "rain": ["no", "yes"]}
    >>> domain = mrfit.Domain.from_states(states)
    >>> list(Canonical(domain, mrfit.Structure.complete(2)).names())
    ['mood=mid', 'mood=high', 'rain=yes', 'mood=mid & rain=yes', 'mood=high & rain=yes']
    """

    reference: tuple[int, ...] | None = None

    word: ClassVar[str] = "canonical"
    is_complete: ClassVar[bool] = True
    is_minimal: ClassVar[bool] = True
    has_reference: ClassVar[bool] = True
    takes_covariates: ClassVar[bool] = True
    when_ordered: ClassVar[str | None] = "ordered"
    meaning: ClassVar[str] = (
        "change of log p in a combination of states, beyond the sum of its smaller terms; zero wherever a variable "
        "is in its reference category"
    )

    def __post_init__(self) -> None:
        if self.reference is None:
            return
        reference = tuple(int(code) for code in self.reference)
        if len(reference) != len(self.domain) or any(
            not 0 <= code < c for code, c in zip(reference, self.domain.shape, strict=False)
        ):
            raise InputError(
                f"The reference states are {list(reference)}; expected a state of each of the {len(self.domain)} "
                f"variables, which have {list(self.domain.shape)} states."
            )
        object.__setattr__(self, "reference", reference if any(reference) else None)

    def n_features(self, scope: Scope) -> int:
        return prod(c - 1 for c in self._shape(scope))

    def _reference_state(self, variable: int) -> int:
        return 0 if self.reference is None else self.reference[variable]

    def _other_states(self, variable: int) -> list[int]:
        """States of a variable except the reference."""
        return [s for s in range(self.domain.shape[variable]) if s != self._reference_state(variable)]

    def features(self, scope: Scope) -> Floats:
        out: Floats = np.ones((1, 1))
        for i in scope:
            out = kronecker(out, np.eye(self.domain.shape[i])[:, self._other_states(i)])
        return out

    def feature_name(self, scope: Scope, number: int) -> str:
        return named_states(self, self.feature_states(scope, number))

    def feature_states(self, scope: Scope, number: int) -> tuple[tuple[int, int], ...]:
        others = [self._other_states(i) for i in scope]
        at = np.unravel_index(number, tuple(map(len, others)))
        return tuple((i, states[k]) for i, states, k in zip(scope, others, at, strict=True))

    def assignment(self, parameter: int) -> tuple[tuple[int, int], ...]:
        """Return the (variable, state) pairs at which the feature of a parameter is one."""
        return self.states(parameter)

    @property
    def base(self) -> CompleteBase:
        """Base of functions of all joint states that exact computations use, products of indicators."""
        return Zeta(self.domain.shape, self.reference)

    @property
    def options(self) -> dict[str, Any]:
        """Reference states, as a file stores them."""
        if self.reference is None:
            return {"reference": "first"}
        return {"reference": [self.domain[i].states[code] for i, code in enumerate(self.reference)]}

    def with_options(self, *, reference: str | list[str] = "first") -> Self:  # type: ignore[override]
        """Return the same coordinates with other reference states."""
        if reference == "first":
            return self
        if not isinstance(reference, list) or len(reference) != len(self.domain):
            raise ValueError(f"reference states {reference!r}")
        codes = tuple(variable.codes[state] for variable, state in zip(self.domain, reference, strict=True))
        return replace(self, reference=codes)

    @cached_property
    def n_free(self) -> Indices:
        """Number of states of each variable minus one."""
        return np.asarray(self.domain.shape, np.int64) - 1

    @cached_property
    def canonical(self) -> Canonical:
        """Canonical coordinates with the first states as reference."""
        return self if self.reference is None else super().canonical

    def to_canonical(self, w: Floats) -> Floats:
        """Convert parameters to the first states as reference."""
        return w if self.reference is None else super().to_canonical(w)

    def _signature(self) -> Indices:
        reference = np.zeros(len(self.domain), np.int64) if self.reference is None else np.array(self.reference)
        return np.stack([np.array(self.domain.shape, np.int64), reference], axis=1)

    def joint_entries(self) -> tuple[Indices, Indices, NDArray[np.float64]]:
        return joint_selection(self)

    def indicators(self, numbers: Indices) -> tuple[Indices, NDArray[np.uint8]]:
        """Return the variable and state of indicators, numbered variable by variable without the first states."""
        first = np.concatenate([[0], np.cumsum(self.n_free)])
        variables = np.searchsorted(first, numbers, side="right") - 1
        return variables, (numbers - first[variables] + 1).astype(np.uint8)

    @cached_property
    def conditionals(self) -> Conditionals:
        """Layout of each variable's conditional distribution; needs the first states as reference."""
        return conditionals_of(self)


def named_states(parameters: Parameterization, states: tuple[tuple[int, int], ...]) -> str:
    domain = parameters.domain
    return " & ".join(f"{domain[i].name}={domain[i].states[s]}" for i, s in states)


def joint_selection(parameters: Parameterization) -> tuple[Indices, Indices, NDArray[np.float64]]:
    """Return `Parameterization.joint_entries` if each feature is one base function: digits 1, 2, ... in C order."""
    shape = np.array(parameters.domain.shape, np.int64)
    positions = []
    for size, block in parameters.structure.blocks.items():
        strides = parameters.base.strides[block]
        shapes, shape_of = distinct_rows(shape[block])
        firsts = parameters.first_parameter[size] - parameters.first_parameter[size][0]
        flat = np.empty(int((shape[block] - 1).prod(axis=1).sum()), np.int64)
        for number, each in enumerate(shapes - 1):
            chosen = np.flatnonzero(shape_of == number)
            digits = np.indices(tuple(each)).reshape(size, -1) + 1  # (size, parameters)
            flat[firsts[chosen][:, None] + np.arange(digits.shape[1])] = strides[chosen] @ digits
        positions.append(flat)
    at = np.concatenate(positions) if positions else np.empty(0, np.int64)
    return at, np.arange(len(at)), np.ones(len(at))
