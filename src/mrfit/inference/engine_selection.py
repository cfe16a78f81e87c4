"""Selection of an engine: the requested one, else the fastest exact one that fits, else an approximation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from math import prod

import numpy as np

from mrfit._typing import Scope
from mrfit.core.errors import InputError, listed
from mrfit.core.factors import Factors
from mrfit.inference.engine import AUTO, Engine, check_precision
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.plan import Plan
from mrfit.inference.sampling.annealed import Annealed
from mrfit.registry import ENGINES

_FEW_STATES = 2**22  # joint states up to which enumeration may be faster than a tree


def planned(
    factors: Factors,
    targets: Sequence[Scope] = (),
    *,
    engine: str | Engine = AUTO,
    seed: int = 0,
    samples: int | None = None,
    precision: float | None = None,
    names: Sequence[str] | None = None,
    order: Sequence[int] | None = None,
) -> tuple[Engine, Plan]:
    """Return an engine that answers marginals, and its plan for these factors.

    ``auto`` takes the exact engine with the shorter forecast. Where none fits, it takes annealed importance sampling,
    which estimates log Z and marginals and warns when its starting distributions disagree. ``samples`` and
    ``precision`` are described in `with_effort`. The plan states its engine and the reason; ``names`` of variables
    serve that sentence. A tree eliminates the variables in ``order``, if you give one.
    """
    if isinstance(engine, Engine):
        check_answers_marginals(engine)
        chosen = with_effort(engine, samples=samples, precision=precision)
        return chosen, chosen.plan(factors, targets)
    if engine != AUTO:
        chosen = engine_called(engine, seed=seed)
        check_answers_marginals(chosen)
        chosen = with_effort(chosen, samples=samples, precision=precision)
        return chosen, replace(chosen.plan(factors, targets), why="it was asked for")
    sampling = with_effort(Annealed(seed=seed), samples=samples, precision=precision)
    exact, plan = exactly_planned(factors, targets, seed=seed, order=order)
    if plan.fits:
        return exact, plan
    return sampling, replace(sampling.plan(factors, targets), why=f"no exact engine fits. {plan.figures(names)}")


def exactly_planned(
    factors: Factors, targets: Sequence[Scope] = (), *, seed: int = 0, order: Sequence[int] | None = None
) -> tuple[Engine, Plan]:
    """Return the exact engine with the shorter forecast, or the junction tree where neither fits."""
    tree, everything = JunctionTree(seed=seed), Enumeration()
    plan = tree.plan(factors, targets, order=order)
    if prod(factors.shape) <= _FEW_STATES:
        other = everything.plan(factors, targets)
        if not plan.fits or other.forecast < plan.forecast:
            return everything, replace(other, why="there are few joint states, which is faster than a tree here")
    return tree, plan


def engine_called(word: str, *, seed: int = 0) -> Engine:
    """Return the engine of this name, with its default settings."""
    if word not in ENGINES:
        raise InputError(f"There is no engine {word!r}; choose one of {_marginal_engines()}.")
    kind = ENGINES.called(word, AUTO)
    return kind(seed=seed) if "seed" in kind.__dataclass_fields__ else kind()  # type: ignore[attr-defined, call-arg]


def check_answers_marginals(engine: Engine) -> None:
    """Refuse an engine that only finds most probable states, and name those that answer marginals."""
    if not engine.answers_marginals:
        raise InputError(
            f"The engine {engine.word!r} finds most probable states, but neither marginals nor log Z. Choose one of "
            f"{_marginal_engines()}."
        )


def _marginal_engines() -> str:
    """List the engines that answer marginals, for messages."""
    return listed([AUTO, *(word for word, kind in ENGINES.items() if kind.answers_marginals)], limit=12)


def with_effort(engine: Engine, *, samples: int | None = None, precision: float | None = None) -> Engine:
    """Return an engine with that many chains (``samples``), or that runs until its errors are small enough.

    ``precision`` is the largest acceptable standard error of the probability of a state. An exact engine stays as it
    is; an engine that cannot estimate its errors is refused.
    """
    check_precision(precision)
    if samples is not None and not (isinstance(samples, int | np.integer) and samples > 0):
        raise InputError(f"The number of samples is {samples!r}; expected a whole number of chains, such as 256.")
    asked = {"chains": samples, "precision": precision}
    settings = {name: value for name, value in asked.items() if value is not None}
    if not settings or engine.is_exact:
        return engine
    if not settings.keys() <= {each.name for each in fields(engine)}:  # type: ignore[arg-type]
        able = [word for word, kind in ENGINES.items() if "precision" in kind.__dataclass_fields__]  # type: ignore[attr-defined]
        raise InputError(
            f"The engine {engine.word!r} cannot estimate its errors, so neither a precision nor a number of samples "
            f"applies to it. Choose one of {listed(able)}, or leave them out."
        )
    return replace(engine, **settings)  # type: ignore[type-var]
