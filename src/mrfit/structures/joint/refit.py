"""Newton steps for a joint model of pairs, started from its fit before edges were added or removed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mrfit._typing import Floats
from mrfit.core.diagonal_in_basis import UncorrelatedFeatures
from mrfit.core.linear_systems import conjugate_gradients
from mrfit.structures.joint.pair_model import PairModel, PairParameters

_ACCURACY = 1e-6  # nats for each row and variable
_MOST_STEPS = 15
_MOST_PRODUCTS = 25
_RESIDUAL = 0.15  # residual of a Newton system, as a share of its right-hand side
_MOST_HALVINGS = 8


def accuracy(model: PairModel) -> float:
    """Return the decrease of the loss that a fit may leave unrealised."""
    table = model.table
    return _ACCURACY * float(table.arrays.sample_weight.sum()) * table.n_variables


def refit(
    model: PairModel,
    start: PairParameters,
    *,
    ridge: float,
    decrease: float,
    share: float = 0.0,
    constant_ridge: float = 0.0,
) -> tuple[PairParameters, float]:
    """Minimise loss + ridge / 2 * |w|^2.

    It stops when a step promises less than ``decrease``, or less than a ``share`` of the decrease so far. It returns
    the parameters and the value, and leaves the model expanded there. Fits only determine which edges come next, so
    neither tolerance needs to be tiny.
    """
    n_constants, n_pairs = len(start.constants), len(start.w)
    weight = np.concatenate([np.full(n_constants, constant_ridge), np.full(n_pairs, ridge)])
    parameters, features = start, start.features(model.table)
    value, gradient = _penalized(model, parameters, weight)
    first_value = value
    for _ in range(_MOST_STEPS):
        step = _newton_step(model, features, gradient, weight)
        promised = -0.5 * float(gradient @ step)
        if promised < max(decrease, share * (first_value - value)):
            break
        size = 1.0
        for _ in range(_MOST_HALVINGS):
            trial = _after_step(parameters, size * step)
            trial_value, gradient = _penalized(model, trial, weight)
            if trial_value <= value - 0.1 * size * promised:
                break
            size *= 0.5
        else:
            value, gradient = _penalized(model, parameters, weight)
            break
        parameters, value = trial, trial_value
    return parameters, value


def _penalized(model: PairModel, parameters: PairParameters, weight: Floats) -> tuple[float, Floats]:
    value, *slopes = model.expand(parameters)
    w = np.concatenate([parameters.constants, parameters.w])
    return value + 0.5 * float(weight @ (w * w)), np.concatenate(slopes) + weight * w


def _after_step(parameters: PairParameters, step: Floats) -> PairParameters:
    n = len(parameters.constants)
    return replace(parameters, constants=parameters.constants + step[:n], w=parameters.w + step[n:])


def _newton_step(model: PairModel, features: UncorrelatedFeatures, gradient: Floats, weight: Floats) -> Floats:
    """Return minus the inverse Hessian times the gradient, approximated by conjugate gradients."""
    n = model.table.n_columns
    step, _ = conjugate_gradients(
        lambda direction: np.concatenate(model.product(direction[:n], direction[n:])) + weight * direction,
        -gradient,
        is_enough=lambda _, size, first: size <= _RESIDUAL**2 * first,
        most=_MOST_PRODUCTS,
        precondition=features.at(model.curvature(len(gradient) - n)).division(weight),
    )
    return step
