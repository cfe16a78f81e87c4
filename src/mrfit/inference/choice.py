"""Which engine to take: the one that is asked for, or the fastest exact one, or an approximation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from math import prod

import numpy as np

from mrfit.errors import InputError, listed
from mrfit.factors import Factors, Scope
from mrfit.inference.annealed import Annealed
from mrfit.inference.engine import AUTO, Engine, check_precision
from mrfit.inference.enumeration import Enumeration
from mrfit.inference.junction_tree import JunctionTree
from mrfit.inference.plan import Plan
from mrfit.plugins import ENGINES

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
    """An engine that answers marginals, and its plan for these factors.

    ``auto`` takes the exact engine with the shorter forecast, and annealed importance sampling where none fits: it
    gives log Z and marginals, and says when what it began from does not agree. ``samples`` and ``precision`` are those
    of `with_effort`. A plan says which engine it is of, and why; ``names`` of variables are for that. A tree takes the
    variables in ``order``, if there is one.
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
    """The exact engine with the shorter forecast; that of a tree where none fits."""
    tree, everything = JunctionTree(seed=seed), Enumeration()
    plan = tree.plan(factors, targets, order=order)
    if prod(factors.shape) <= _FEW_STATES:
        other = everything.plan(factors, targets)
        if not plan.fits or other.forecast < plan.forecast:
            return everything, replace(other, why="there are few joint states, which is faster than a tree here")
    return tree, plan


def engine_called(word: str, *, seed: int = 0) -> Engine:
    """The engine of a word, with its usual settings."""
    if word not in ENGINES:
        raise InputError(f"There is no engine {word!r}; choose one of {_able()}.")
    kind = ENGINES.called(word, AUTO)
    return kind(seed=seed) if "seed" in kind.__dataclass_fields__ else kind()  # type: ignore[attr-defined, call-arg]


def check_answers_marginals(engine: Engine) -> None:
    """Refuse an engine that only finds most probable states, and name those that do more."""
    if not engine.answers_marginals:
        raise InputError(
            f"The engine {engine.word!r} finds most probable states, but neither marginals nor log Z. Choose one of "
            f"{_able()}."
        )


def _able() -> str:
    """Words of the engines that answer marginals."""
    return listed([AUTO, *(word for word, kind in ENGINES.items() if kind.answers_marginals)], limit=12)


def with_effort(engine: Engine, *, samples: int | None = None, precision: float | None = None) -> Engine:
    """Return an engine with that many chains (``samples``), or that runs until its errors are small enough.

    ``precision`` is the largest standard error of the probability of a state that is good enough. An exact engine
    stays as it is; one that knows no errors is refused.
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
            f"The engine {engine.word!r} does not know its errors, so that no precision or number of samples makes "
            f"them smaller. Choose one of {listed(able)}, or leave them out."
        )
    return replace(engine, **settings)  # type: ignore[type-var]
