"""Methods and the penalties that they accept."""

from __future__ import annotations

import numpy as np
import pytest

import populations
from mrfit.core.errors import InputError
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.l1 import WeightedL1
from mrfit.penalties.penalty import NonsmoothPenalty, Penalty, ZeroPenalty
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.method import Method
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.owlqn import OWLQN
from mrfit.solvers.suitability import check_suitable, offered
from populations import SHAPES, STRUCTURES, pseudo_likelihood, random_rows
from words import learner


class _Tangled(NonsmoothPenalty):
    """Neither smooth nor a sum over parameters."""

    traits = frozenset()


@pytest.mark.parametrize("method", offered(Method))
def test_every_method_takes_a_smooth_problem(method: type) -> None:
    """The penalty is then part of the objective."""
    for penalty in (ZeroPenalty, *populations.SMOOTH_PENALTIES):
        check_suitable(method, penalty)


@pytest.mark.parametrize("method", [TruncatedNewton, LBFGS])
def test_the_error_names_the_way_out(method: type) -> None:
    """The error has the missing trait, the penalty, and both ways out."""
    expected = (
        f"`{method.__name__}` needs a differentiable penalty; `L1` is not. "
        "Use `Fista` or `OWLQN` or `ProximalNewton`, or `SoftTied` or `L2` instead."
    )
    with pytest.raises(InputError) as caught:
        check_suitable(method, WeightedL1)
    assert str(caught.value) == expected
    with pytest.raises(InputError, match="needs a differentiable penalty"):
        learner(penalty="l1", solver=method())


def test_a_penalty_that_no_method_takes() -> None:
    """Only another penalty is suggested."""
    with pytest.raises(InputError) as caught:
        check_suitable(OWLQN, _Tangled)
    assert (
        str(caught.value)
        == "`OWLQN` needs a separable penalty; `_Tangled` is not. Use `SoftTied` or `L2` or `L1` instead."
    )


def test_the_driver_refuses_an_unsuitable_pair(rng: np.random.Generator) -> None:
    """A method that cannot see the penalty would return the optimum of something else."""
    rows = random_rows(rng, SHAPES["binary"], 20)
    objective = pseudo_likelihood(rows, Canonical(rows.domain, STRUCTURES["complete"](5)))
    with pytest.raises(InputError, match="`LBFGS` needs a differentiable penalty"):
        minimize(objective, LBFGS(), penalty=WeightedL1(1.0, np.ones(objective.n_parameters)))


def test_everything_can_be_suggested() -> None:
    """All methods and penalties of the library, and nothing that a user made."""
    methods = {type(method) for method in populations.METHODS.values()} | populations.SPECIAL_METHODS
    assert set(offered(Method)) == methods
    assert set(offered(Penalty)) == {*populations.SMOOTH_PENALTIES, *populations.NONSMOOTH_PENALTIES}
