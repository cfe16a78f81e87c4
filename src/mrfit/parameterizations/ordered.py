"""Ordered coordinates: variables with ordered states interact by scores, one signed parameter for each pair."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices, Scope
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError, listed
from mrfit.core.transforms import kronecker
from mrfit.data.missing_codes import missing_codes
from mrfit.parameterizations.canonical import named_states
from mrfit.parameterizations.parameterization import Parameterization

ALL = "all"


@dataclass(frozen=True)
class Ordered(Parameterization):
    """Ordered coordinates (linear-by-linear association): variables interact by scores, with one slope per pair.

    theta_A(x_A) = w_A * product of scores, by default 0, 1, 2, ... for the ordered states of a variable. The parameter
    of a pair is its log odds ratio per step of both scores (Agresti 2013, section 10.4.1).

    Parameters
    ----------
    domain : Domain
        Variables and states, in their order.
    structure : Structure
        Interactions that have slopes. Single variables always have indicators of their states: scores describe how
        variables are associated, not how often each state occurs.
    ordered : tuple of int, default None
        Positions of the ordered variables; None means all. Others have an indicator for each state but the first.
    scores : tuple of (int, tuple of float), default ()
        Scores of some ordered variables: position, and a score for each state. They must not fall, nor all be equal.
    covariate_indices : tuple of int, default ()
        Positions of covariates, on which the distribution is conditional.

    Raises
    ------
    MrfitError
        If a position does not exist, or scores do not fit a variable.

    See Also
    --------
    Canonical : Categories without an order.
    ParameterizationOptions : Choose these coordinates, by names of variables, in the estimator.

    Notes
    -----
    Scores are shifted so that the first state has 0, which changes the parameters of single variables but not those of
    pairs. For binary variables the coordinates are the canonical ones.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.parameterizations import Ordered
    >>> states = {"mood": ["low", "mid", "high"], "rain": ["no", "yes"]}
    >>> domain = mrfit.Domain.from_states(states)
    >>> parameters = Ordered(domain, mrfit.Structure.complete(2))
    >>> list(parameters.names())
    ['mood=mid', 'mood=high', 'rain=yes', 'mood × rain']
    >>> parameters.to_tables([0.0, 0.0, 0.0, 0.5])[(0, 1)].tolist()
    [[0.0, 0.0], [0.0, 0.5], [0.0, 1.0]]
    """

    ordered: tuple[int, ...] | None = None
    scores: tuple[tuple[int, tuple[float, ...]], ...] = ()

    word: ClassVar[str] = "ordered"
    has_scores: ClassVar[bool] = True
    takes_covariates: ClassVar[bool] = True
    when_ordered: ClassVar[str | None] = "ordered"
    meaning: ClassVar[str] = (
        "change of log p when the product of scores (×) rises by one; scores are 0, 1, 2, ... for the ordered "
        "states by default, and 0 or 1 where a state is named"
    )
    are_indicators: ClassVar[bool] = False

    def __post_init__(self) -> None:
        every = range(len(self.domain))
        ordered = tuple(sorted(every if self.ordered is None else set(self.ordered)))
        if not set(ordered) <= set(every):
            raise InputError(f"The ordered variables are {list(ordered)}; there are {len(every)}, counted from 0.")
        object.__setattr__(self, "ordered", ordered)
        object.__setattr__(self, "scores", tuple(sorted(self.scores)))
        for number, scores in self.scores:
            self._check_scores(number, scores)

    def _check_scores(self, number: int, scores: tuple[float, ...]) -> None:
        if number not in (self.ordered or ()):
            raise InputError(f"Variable {number} has scores but is not among the ordered variables; add it to them.")
        variable = self.domain[number]
        if len(scores) != variable.n_states:
            raise InputError(
                f"Variable {variable.name!r} has {variable.n_states} states ({listed(variable.states)}) and "
                f"{len(scores)} scores; give one for each state, in this order."
            )
        is_varying = len(scores) == 1 or scores[0] < scores[-1]
        if not (np.isfinite(scores).all() and (np.diff(scores) >= 0).all() and is_varying):
            raise InputError(
                f"The scores of {variable.name!r} are {_score_text(scores)}; they must be finite, not fall from one "
                "state to the next, and not all be equal."
            )

    @cached_property
    def _columns(self) -> tuple[Floats, ...]:
        """Score of each state of each variable, shifted to begin at zero."""
        own = dict(self.scores)
        scores = (np.array(own.get(i, range(c)), np.float64) for i, c in enumerate(self.domain.shape))
        return tuple(each - each[0] for each in scores)

    @cached_property
    def _is_ordered(self) -> NDArray[np.bool_]:
        return np.isin(np.arange(len(self.domain)), self.ordered or ())

    def _by_score(self, scope: Scope) -> list[bool]:
        """Return whether each variable of a scope enters by its score; a single variable never does."""
        return [len(scope) > 1 and bool(self._is_ordered[i]) for i in scope]

    def _n_columns(self, scope: Scope) -> tuple[int, ...]:
        """Return the number of functions of each variable whose products are the features."""
        return tuple(1 if s else c - 1 for s, c in zip(self._by_score(scope), self._shape(scope), strict=True))

    def n_features(self, scope: Scope) -> int:
        return prod(self._n_columns(scope))

    def features(self, scope: Scope) -> Floats:
        out: Floats = np.ones((1, 1))
        for i, by_score in zip(scope, self._by_score(scope), strict=True):
            own = self._columns[i][:, None] if by_score else np.eye(self.domain[i].n_states)[:, 1:]
            out = kronecker(out, own)
        return out

    def feature_name(self, scope: Scope, number: int) -> str:
        """Return a name such as "mood × sleep", or "mood × sex=female" for a variable without an order.

        Parameters
        ----------
        scope : tuple of int
            Positions of the variables of an interaction.
        number : int
            Number of the parameter within the scope, from 0.

        Returns
        -------
        str
        """
        states = dict(self.feature_states(scope, number))
        parts = (named_states(self, ((i, states[i]),)) if i in states else self.domain[i].name for i in scope)
        return " × ".join(parts)

    def feature_states(self, scope: Scope, number: int) -> tuple[tuple[int, int], ...]:
        at = np.unravel_index(number, self._n_columns(scope))
        named = zip(scope, at, self._by_score(scope), strict=True)
        return tuple((i, int(k) + 1) for i, k, by_score in named if not by_score)

    @property
    def options(self) -> dict[str, Any]:
        """Names of the ordered variables, and scores that are not 0, 1, 2, ..., as a file stores them."""
        scores = {self.domain[i].name: list(own) for i, own in self.scores}
        return {"ordered": [self.domain[i].name for i in self.ordered or ()]} | ({"scores": scores} if scores else {})

    def with_options(  # type: ignore[override]
        self, *, ordered: Sequence[str], scores: Mapping[str, Sequence[float]] | None = None
    ) -> Self:
        """Return the same coordinates with other ordered variables.

        Parameters
        ----------
        ordered : sequence of str
            Names of the ordered variables, or ``all``.
        scores : mapping of str to sequence of float, default None
            Scores of the states of some of them.

        Returns
        -------
        Ordered
        """
        return replace(
            self, ordered=ordered_variables(ordered, self.domain), scores=numbered_scores(scores or {}, self.domain)
        )

    def _signature(self) -> Indices:
        kinds = list(dict.fromkeys(own for _, own in self.scores))
        own = dict(self.scores)
        kind = np.array([kinds.index(own[i]) + 1 if i in own else 0 for i in range(len(self.domain))], np.int64)
        return np.stack([np.array(self.domain.shape, np.int64), self._is_ordered, kind], axis=1)


def ordered_variables(
    names: str | Sequence[str], domain: Domain, *, covariates: Collection[str] = (), scored: Collection[str] = ()
) -> tuple[int, ...]:
    """Return the numbers of variables by name.

    ``all`` means all variables with a distribution. A covariate is ordered only if it is named or has its own scores.
    """
    if names != ALL:
        return tuple(domain.index(name) for name in names)
    return tuple(i for i, name in enumerate(domain.names) if name not in covariates or name in scored)


def numbered_scores(scores: Mapping[str, Sequence[float]], domain: Domain) -> tuple[tuple[int, tuple[float, ...]], ...]:
    """Return the scores of named variables in the form that `Ordered` takes."""
    return tuple((domain.index(name), tuple(map(float, own))) for name, own in scores.items())


def check_orders(
    names: str | Sequence[str],
    domain: Domain,
    declared: Collection[str],
    *,
    covariates: Collection[str] = (),
    scored: Collection[str] = (),
    is_read: bool = True,
) -> None:
    """Refuse ordered variables whose detected order may be wrong, unless their states are ``declared``.

    The detected order may be wrong for words, which are sorted alphabetically, and for scales with codes for missing
    answers. Variables with explicit scores (``scored``) are exempt. If the caller reads a table (``is_read``), the
    error suggests reading the codes as missing; otherwise it suggests replacing them.
    """
    codes = {}
    for i in ordered_variables(names, domain, covariates=covariates, scored=scored):
        variable = domain[i]
        if variable.name in declared:
            continue
        found = variable.n_states > 2 and list(variable.states) == sorted(variable.states)
        if found and not all(map(_is_number, variable.states)):
            raise InputError(
                f"Variable {variable.name!r} is to be ordered, but its states are words: "
                f"{listed(variable.states)}. Declare their order with states={{...}}."
            )
        if variable.name not in scored and (outside := missing_codes(variable.states)):
            codes[variable.name] = outside
    if codes:
        _refuse_codes(codes, domain, is_read=is_read)


def _refuse_codes(codes: Mapping[str, Sequence[str]], domain: Domain, *, is_read: bool) -> None:
    name, outside = next(iter(codes.items()))
    scale = [state for state in domain[domain.index(name)].states if state not in outside]
    others = "" if len(codes) == 1 else f", and so do codes of {listed(list(codes)[1:])}"
    every = ", ".join(sorted({code for each in codes.values() for code in each}, key=float))
    missing = (
        f"Codes for missing answers are read as missing with na_values=[{every}]"
        if is_read
        else f"Replace codes for missing answers ({every}) by NaN"
    )
    raise InputError(
        f"Variable {name!r} is to be ordered, but {listed(outside)} lie{'s' * (len(outside) == 1)} outside its scale "
        f"({scale[0]} to {scale[-1]}){others}. {missing}; "
        f"if all these are answers, declare the states in order with states={{...}}."
    )


def _score_text(scores: Sequence[float]) -> str:
    return ", ".join(f"{score:g}" for score in scores)


def _is_number(state: str) -> bool:
    try:
        return isfinite(float(state))
    except ValueError:
        return False
