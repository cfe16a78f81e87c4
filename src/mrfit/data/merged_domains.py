"""Merging of the domains of tables that were read separately."""

from __future__ import annotations

from collections.abc import Sequence

from mrfit.core.domain import Domain, Variable
from mrfit.core.errors import DataError, listed
from mrfit.data.labels import ordered_states


def merge_domains(domains: Sequence[Domain]) -> Domain:
    """Return the variables of the first domain, each with the states of all of them.

    States in natural order everywhere (numbers by value, words alphabetically) remain so in the union, whichever part
    comes first. If a part declares another order, new states follow in the order of the parts.
    """
    first, *others = domains
    for number, other in enumerate(others, start=2):
        if set(other.names) != set(first.names):
            different = sorted(set(other.names) ^ set(first.names))
            raise DataError(
                f"The columns of part {number} differ from those of the first in {listed(different)}. All parts of "
                "one table need the same columns."
            )
    return Domain(tuple(_united([domain[domain.index(name)] for domain in domains]) for name in first.names))


def _united(variables: Sequence[Variable]) -> Variable:
    states = tuple(dict.fromkeys(state for variable in variables for state in variable.states))
    natural = all(variable.states == ordered_states(variable.states) for variable in variables)
    return Variable(variables[0].name, ordered_states(states) if natural else states)
