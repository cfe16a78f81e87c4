"""Internal: seeds of random numbers, checked where a user gives them."""

from __future__ import annotations

import numpy as np

from mrfit.errors import InputError

Seed = int | tuple[int, ...]


def check_seed(seed: object) -> None:
    """Refuse anything but a whole number from 0 on, or several of them."""
    numbers = seed if isinstance(seed, tuple) and seed else (seed,)
    if not all(
        isinstance(number, int | np.integer) and not isinstance(number, bool) and number >= 0 for number in numbers
    ):
        raise InputError(f"The seed is {seed!r}; expected a whole number, 0 or larger.")


def generator(seed: Seed) -> np.random.Generator:
    """Return a generator of random numbers that a user's seed begins."""
    check_seed(seed)
    return np.random.default_rng(seed)


def one_number(seed: Seed) -> int:
    """Return a seed as one whole number: itself, or one that several begin."""
    check_seed(seed)
    return int(np.random.SeedSequence(seed).generate_state(1)[0]) if isinstance(seed, tuple) else int(seed)
