"""Which method can handle which penalty."""

from __future__ import annotations

from typing import Any

from mrfit.errors import InputError
from mrfit.penalties.group import GroupL1
from mrfit.penalties.hierarchical import HierarchicalL1
from mrfit.penalties.l1 import L1
from mrfit.penalties.l2 import L2
from mrfit.penalties.penalty import Penalty, Trait
from mrfit.penalties.tied import Tied
from mrfit.solvers.fista import Fista
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.owlqn import OWLQN
from mrfit.solvers.proximal_newton import ProximalNewton

# What an error may suggest.
METHODS: tuple[type[Method[Any]], ...] = (TruncatedNewton, LBFGS, OWLQN, ProximalNewton, Fista)
PENALTIES: tuple[type[Penalty], ...] = (L2, L1, GroupL1, HierarchicalL1, Tied)


def check_suitable(method: type[Method[Any]], penalty: type[Penalty]) -> None:
    """Raise an error that names the way out unless ``penalty`` has what ``method`` needs."""
    if _suits(method, penalty):
        return
    methods = [other for other in METHODS if _suits(other, penalty)]
    penalties = [other for other in PENALTIES if _suits(method, other)]
    ways = ", or ".join(" or ".join(f"`{other.__name__}`" for other in some) for some in (methods, penalties) if some)
    raise InputError(
        f"`{method.__name__}` needs a {method.needs.value} penalty; `{penalty.__name__}` is not. Use {ways} instead."
    )


def _suits(method: type[Method[Any]], penalty: type[Penalty]) -> bool:
    """A smooth penalty is part of the objective, which every method can handle."""
    return method.needs in penalty.traits or Trait.DIFFERENTIABLE in penalty.traits
