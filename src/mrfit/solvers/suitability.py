"""Which method can handle which penalty."""

from __future__ import annotations

from typing import Any

from mrfit.errors import InputError
from mrfit.penalties.l1 import L1
from mrfit.penalties.l2 import L2
from mrfit.penalties.penalty import Penalty
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.owlqn import OWLQN

# What an error may suggest.
METHODS: tuple[type[Method[Any]], ...] = (TruncatedNewton, LBFGS, OWLQN)
PENALTIES: tuple[type[Penalty], ...] = (L2, L1)


def check_suitable(method: type[Method[Any]], penalty: type[Penalty]) -> None:
    """Raise an error that names the way out unless ``penalty`` has what ``method`` needs."""
    if method.needs in penalty.traits:
        return
    methods = [other for other in METHODS if other.needs in penalty.traits]
    penalties = [other for other in PENALTIES if method.needs in other.traits]
    ways = ", or ".join(" or ".join(f"`{other.__name__}`" for other in some) for some in (methods, penalties) if some)
    raise InputError(
        f"`{method.__name__}` needs a {method.needs.value} penalty; `{penalty.__name__}` is not. Use {ways} instead."
    )
