"""Evidence on variables: observed states, or likelihoods of states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from mrfit._typing import Floats
from mrfit.core.domain import Domain, Variable
from mrfit.core.errors import InputError, listed
from mrfit.core.factors import Factors
from mrfit.data.encoding import Vocabulary
from mrfit.data.labels import label

States = Mapping[str, Any] | None  # of variables by name, as users write evidence
Arguments = ParamSpec("Arguments")
Answered = TypeVar("Answered")


def takes_evidence(question: Callable[Arguments, Answered]) -> Callable[Arguments, Answered]:
    """Let a question take its ``evidence`` as ``given``, too: a lasting alias, without a warning."""

    @wraps(question)
    def asked(*args: Any, **settings: Any) -> Answered:
        if "given" in settings:
            if "evidence" in settings:
                raise InputError("`given` is an alias of `evidence`; pass one of them.")
            settings["evidence"] = settings.pop("given")
        return question(*args, **settings)

    return asked


@dataclass(frozen=True)
class Evidence:
    """Evidence by variable number: the code of an observed state, or a likelihood for every state (soft evidence)."""

    known: Mapping[int, int] = field(default_factory=dict)
    likelihoods: Mapping[int, Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, domain: Domain, states: States) -> Evidence:
        """Build it from ``{"smoker": "yes", "cough": {"yes": 0.7, "no": 0.2}}``.

        A state is written as in a table (1, 1.0 and "1" are one state). A mapping or a sequence of numbers gives the
        likelihood of the observation in each state; omitted states are impossible.
        """
        if not isinstance(states, Mapping | None):
            raise InputError(
                f"The evidence is {states!r}; expected a mapping from variables to their states, such as "
                f"{{{domain.names[0]!r}: {domain[0].states[0]!r}}}."
            )
        known, likelihoods = {}, {}
        for name, value in (states or {}).items():
            i = domain.index(str(name))
            if isinstance(value, Mapping):
                likelihoods[i] = _from_mapping(domain[i], value)
            elif isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
                likelihoods[i] = _checked(domain[i], value)
            else:
                known[i] = state_code(domain[i], value)
        return cls(known, likelihoods)

    def applied_to(self, factors: Factors) -> Factors:
        """Return the factors given the evidence: observed variables have one state, soft evidence adds a table."""
        with np.errstate(divide="ignore"):
            soft = [((i,), np.log(likelihood)) for i, likelihood in self.likelihoods.items() if i not in self.known]
        cut = factors.given(self.known)
        return cut.times(soft) if soft else cut

    def without(self, i: int) -> Evidence:
        """Return the evidence without that on one variable."""
        return Evidence(
            {j: state for j, state in self.known.items() if j != i},
            {j: likelihood for j, likelihood in self.likelihoods.items() if j != i},
        )

    def only(self, i: int) -> Evidence:
        """Return the evidence on one variable."""
        return Evidence(
            {j: state for j, state in self.known.items() if j == i},
            {j: likelihood for j, likelihood in self.likelihoods.items() if j == i},
        )

    @property
    def variables(self) -> tuple[int, ...]:
        return (*self.known, *self.likelihoods)

    def describe(self, domain: Domain) -> str:
        """Return the evidence as the command line writes it: ``a=yes, b=2, c~0.3:0.7``."""
        hard = [f"{domain.names[i]}={domain[i].states[state]}" for i, state in self.known.items()]
        soft = [f"{domain.names[i]}~{':'.join(f'{x:g}' for x in like)}" for i, like in self.likelihoods.items()]
        return ", ".join([*hard, *soft])


def state_code(variable: Variable, value: object) -> int:
    """Return the code of a state as users write it."""
    code = Vocabulary.of_states(variable.name, variable.states).code(label(value))
    if code is None:
        raise InputError(
            f"Variable {variable.name!r} has no state {str(value)!r}; its states are {listed(variable.states)}."
        )
    return code


def _from_mapping(variable: Variable, value: Mapping[Any, Any]) -> Floats:
    likelihood = [0.0] * variable.n_states
    for state, number in value.items():
        likelihood[state_code(variable, state)] = number
    return _checked(variable, likelihood)


def _checked(variable: Variable, value: object) -> Floats:
    try:
        likelihood = np.array(value, np.float64)
    except (TypeError, ValueError):
        likelihood = np.empty(0)
    if likelihood.shape != (variable.n_states,) or not (likelihood >= 0).all() or not 0 < likelihood.sum() < np.inf:
        raise InputError(
            f"The evidence on {variable.name!r} is {value!r}; expected a state, or a number of at least 0 for each of "
            f"its {variable.n_states} states, not all 0."
        )
    return likelihood
