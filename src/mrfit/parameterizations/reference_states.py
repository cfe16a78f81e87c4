"""Reference states of the variables in canonical coordinates."""

from __future__ import annotations

import numpy as np

from mrfit._typing import Indices
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError, listed


def reference_from(text: str, domain: Domain, rng: np.random.Generator) -> tuple[int, ...]:
    """Return codes of the reference states: ``first``, ``last``, ``random``, or ``NAME=STATE,...`` (others: first).

    A feature is zero where one of its variables is in its reference state (Koller and Friedman 2009). Buchman et al.
    (2012) name the state at which features are active: for 0/1 data their C1 is ``first``, C2 ``last``, CR ``random``.
    """
    if text == "first":
        return (0,) * len(domain)
    if text == "last":
        return tuple(c - 1 for c in domain.shape)
    if text == "random":
        return tuple(int(code) for code in rng.integers(0, domain.shape))
    codes = [0] * len(domain)
    for part in text.split(","):
        name, equals, state = part.partition("=")
        if not equals:
            raise InputError(
                f"{part!r} is not a reference state; write first, last, random, or NAME=STATE,... with the names of "
                "variables and their states."
            )
        variable = domain[domain.index(name)]
        if state not in variable.codes:
            raise InputError(
                f"Variable {name!r} has no state {state!r} to be its reference; its states are "
                f"{listed(variable.states)}."
            )
        codes[domain.index(name)] = variable.codes[state]
    return tuple(codes)


def digits_of_states(shape: tuple[int, ...], reference: tuple[int, ...]) -> list[Indices]:
    """Return the digit of each state, by variable: zero for the reference, 1, 2, ... for the others in order."""
    digits = []
    for c, reference_state in zip(shape, reference, strict=True):
        states = np.arange(c)
        digits.append(np.where(states == reference_state, 0, states + (states < reference_state)))
    return digits
