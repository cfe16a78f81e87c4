"""Promises of every objective: its value, its derivatives, and the same bits on any number of threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mrfit._typing import Floats
from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.hessian import Matrix
from mrfit.objectives.objective import Objective
from mrfit.parameterizations.canonical import Canonical
from mrfit.testing.assertions import close, same
from mrfit.testing.promises import check_promises
from mrfit.testing.samples import SHAPES, problems

Build = Callable[..., Objective]
Problem = tuple[UniqueRows, Canonical, Floats]


def check_objective(
    make: Build, *, shapes: tuple[tuple[int, ...], ...] = SHAPES, threads: bool = True, seed: int = 0
) -> None:
    """Check that an objective keeps every promise that solvers rely on.

    Parameters
    ----------
    make : callable
        ``make(rows, parameters)`` returns the objective of a weighted table in canonical parameters. With ``threads``
        it takes ``jobs`` too.
    shapes : tuple of tuple of int, default ((2, 2, 2), (2, 3, 2, 2), (3, 1, 2), (3,))
        Numbers of states of the variables of each table. Leave out shapes that the objective does not support.
    threads : bool, default True
        Whether to check that the result does not depend on the number of threads.
    seed : int, default 0
        Random seed of the tables and points.

    Raises
    ------
    AssertionError
        If derivatives do not agree with differences, or another promise is broken; the message names it.

    See Also
    --------
    Objective : The interface.
    check_penalty : The same for penalties.

    Examples
    --------
    >>> from mrfit.objectives import ConditionalCells, PseudoLikelihood
    >>> from mrfit.testing import check_objective
    >>> def make(rows, parameters, jobs=1):
    ...     return PseudoLikelihood(ConditionalCells.count(rows, parameters), jobs=jobs)
    >>> check_objective(make, shapes=((2, 2),))
    """
    promises = PROMISES if threads else [each for each in PROMISES if each is not two_jobs_give_the_same_bits_as_one]
    for problem in problems(np.random.default_rng(seed), shapes):
        check_promises(promises, make, problem, seed=seed)


def differences(objective: Objective, w: Floats, step: float = 1e-5) -> tuple[Floats, Floats]:
    """Return central differences of the value and, one row for each entry of w, of the gradient."""
    by_value, by_gradient = np.empty(len(w)), np.empty((len(w), len(w)))
    for k, move in enumerate(step * np.eye(len(w))):
        (above, gradient_above), (below, gradient_below) = (
            objective.value_and_gradient(w + sign * move) for sign in (1, -1)
        )
        by_value[k], by_gradient[k] = (above - below) / (2 * step), (gradient_above - gradient_below) / (2 * step)
    return by_value, by_gradient


def derivatives_equal_finite_differences(make: Build, problem: Problem, rng: np.random.Generator) -> None:
    """The gradient is the derivative of the value, the Hessian that of the gradient."""
    rows, parameters, w = problem
    objective = make(rows, parameters)
    assert objective.n_parameters == len(w), "n_parameters is not that of the parameterization"
    _, gradient = objective.value_and_gradient(w)
    by_value, by_gradient = differences(objective, w)
    rounding = 1e-8 * max(1.0, np.abs(by_gradient).max(initial=0.0))
    close(gradient, by_value, "gradient", rtol=1e-6, atol=rounding)
    expansion = objective.expand(w)
    close(expansion.diagonal(), np.diag(by_gradient), "diagonal of the Hessian", rtol=1e-6, atol=rounding)
    direction = np.cos(np.arange(len(w)))
    close(expansion.product(direction), direction @ by_gradient, "product of the Hessian", rtol=1e-6, atol=rounding)
    if expansion.explicit is not None:
        hessian = expansion.explicit.hessian()
        assert isinstance(hessian, Matrix), "a small explicit Hessian is one matrix"
        close(hessian.entries, by_gradient, "explicit Hessian", rtol=1e-6, atol=rounding)
    if objective.is_convex and len(w):
        least = np.linalg.eigvalsh(0.5 * (by_gradient + by_gradient.T)).min()
        assert least >= -1e-7 * max(1.0, np.abs(by_gradient).max()), "not convex here: set is_convex = False"


def expansion_agrees_with_value_and_gradient(make: Build, problem: Problem, rng: np.random.Generator) -> None:
    """Both methods return the same value and gradient."""
    rows, parameters, w = problem
    objective = make(rows, parameters)
    value, gradient = objective.value_and_gradient(w)
    expansion = objective.expand(w)
    close(expansion.value, value, "value", rtol=1e-12, atol=1e-300)
    close(expansion.gradient, gradient, "gradient", rtol=1e-12, atol=1e-12)


def an_expansion_owns_what_it_needs(make: Build, problem: Problem, rng: np.random.Generator) -> None:
    """An expansion stays valid after evaluations and expansions elsewhere, and when its point is overwritten."""
    rows, parameters, w = problem
    objective, w, direction = make(rows, parameters), w.copy(), rng.standard_normal(len(w))
    expected = make(rows, parameters).expand(w.copy())
    expansion = objective.expand(w)
    objective.value_and_gradient(w + 1.0)
    objective.expand(w - 1.0).product(direction)
    w += 2.0
    assert expansion.value == expected.value, "its value changed"
    same(expansion.gradient, expected.gradient, "its gradient changed")
    same(expansion.product(direction), expected.product(direction), "its product changed")
    same(expansion.diagonal(), expected.diagonal(), "its diagonal changed")


def two_jobs_give_the_same_bits_as_one(make: Build, problem: Problem, rng: np.random.Generator) -> None:
    """Sums do not depend on the number of threads."""
    rows, parameters, w = problem
    direction, answers = np.sin(1.0 + np.arange(len(w))), []
    for jobs in (1, 2, 3):
        objective = make(rows, parameters, jobs=jobs)
        value, gradient = objective.value_and_gradient(w)
        expansion = objective.expand(w)
        answers.append((value, gradient, expansion.value, expansion.diagonal(), expansion.product(direction)))
    for other in answers[1:]:
        for expected, found in zip(answers[0], other, strict=True):
            same(found, expected, "another number of threads gives other bits")


PROMISES = (
    derivatives_equal_finite_differences,
    expansion_agrees_with_value_and_gradient,
    an_expansion_owns_what_it_needs,
    two_jobs_give_the_same_bits_as_one,
)
