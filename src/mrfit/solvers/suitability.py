"""Check that a method can handle a penalty."""

from __future__ import annotations

import inspect
from typing import Any

from mrfit.core.errors import InputError
from mrfit.penalties.penalty import Penalty, Scaled, Trait, ZeroPenalty
from mrfit.solvers.method import Method

_NOT_CHOSEN = (ZeroPenalty, Scaled)  # solvers create these themselves


def check_suitable(method: type[Method[Any]], penalty: type[Penalty]) -> None:
    """Refuse a penalty that lacks what ``method`` needs, and suggest methods and penalties that fit."""
    if _suits(method, penalty):
        return
    methods = [other for other in offered(Method) if _suits(other, penalty)]
    penalties = [other for other in offered(Penalty) if _suits(method, other) and other not in _NOT_CHOSEN]
    names = [[other.__name__ for other in methods], [_name(other) for other in penalties]]
    ways = ", or ".join(" or ".join(f"`{name}`" for name in some) for some in names if some)
    raise InputError(
        f"`{method.__name__}` needs a {method.needs.value} penalty; `{_name(penalty)}` is not. Use {ways} instead."
    )


def offered(base: type) -> list[Any]:
    """Return the subclasses that the library has loaded, by name, for suggestions in errors."""
    own = {kind for kind in _descendants(base) if kind.__module__.startswith("mrfit.") and not inspect.isabstract(kind)}
    return sorted(own, key=lambda kind: kind.__name__)


def _name(penalty: type[Penalty]) -> str:
    return penalty.name or penalty.__name__


def _descendants(base: type) -> set[type]:
    children: list[type] = base.__subclasses__()
    return {found for child in children for found in {child} | _descendants(child)}


def _suits(method: type[Method[Any]], penalty: type[Penalty]) -> bool:
    """Return whether a method can handle a penalty. A smooth penalty joins the objective, which every method can."""
    return method.needs in penalty.traits or Trait.DIFFERENTIABLE in penalty.traits
