"""Promises of every objective (`mrfit.testing`) on any small problem, and the same bits on any number of threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.objective import Objective
from mrfit.parameterizations.canonical import Canonical
from mrfit.testing import objectives as promises
from populations import OBJECTIVES, problems

Problem = tuple[UniqueRows, Canonical, np.ndarray]
Build = Callable[..., Objective]

every_objective = pytest.mark.parametrize("build", OBJECTIVES.values(), ids=lambda build: build.__name__)


@every_objective
@given(problem=problems())
@settings(max_examples=40)
def test_derivatives_equal_finite_differences(build: Build, problem: Problem) -> None:
    promises.derivatives_equal_finite_differences(build, problem, np.random.default_rng(0))


@every_objective
@given(problem=problems())
@settings(max_examples=30)
def test_expansion_agrees_with_value_and_gradient(build: Build, problem: Problem) -> None:
    promises.expansion_agrees_with_value_and_gradient(build, problem, np.random.default_rng(0))


@every_objective
@given(problem=problems())
@settings(max_examples=25)
def test_two_jobs_give_the_same_bits_as_one(build: Build, problem: Problem) -> None:
    """The assignment of variables to threads changes no sum."""
    rows, parameters, w = problem
    direction = np.sin(1.0 + np.arange(len(w)))
    answers = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mrfit.objectives.conditional_loss._WORTH_A_THREAD", -1.0)
        patch.setattr("mrfit.objectives.tree_likelihood._WORTH_A_THREAD", 0)
        for jobs in (1, 2, 3):
            objective = build(rows, parameters, jobs=jobs)
            value, gradient = objective.value_and_gradient(w)
            expansion = objective.expand(w)
            answers.append((value, gradient, expansion.value, expansion.diagonal(), expansion.product(direction)))
    for other in answers[1:]:
        for mine, theirs in zip(answers[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)
