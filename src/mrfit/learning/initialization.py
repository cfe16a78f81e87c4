"""Where fits start: independent variables, and bounds for what no data keep finite."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.learning.backend import Backend
from mrfit.learning.partitioned_rows import Rows

# A parameter that nothing penalises and whose feature never (or always) occurs has no finite optimum. It is held
# where its conditional probability is exp(-30) = 1e-13: as good as never, and still a number.
HELD_AT = 30.0


def start_and_bound(
    coordinates: Backend, rows: Rows, penalized: NDArray[np.bool_], *, smooth: bool = False
) -> tuple[Floats, Floats]:
    """Zero, but for free parameters of single variables: there log p(x_i), which is their optimum if all else is zero.

    A state that never occurs is taken as exp(-30) times as likely as the reference, or as the commonest state where
    there is none or it never occurs either; what that takes of a free parameter is its bound.

    Under a ``smooth`` penalty on all interactions, where all states of a variable occur, its parameters have an optimum
    and need no bound: beside strong interactions it may lie far out (pumsb_star: 60). Other penalties need one for
    their duality gap.
    """
    w = np.zeros(coordinates.n_parameters)
    bound = np.where(penalized, np.inf, HELD_AT)
    parameters, of_several = coordinates.parameters, penalized[coordinates.orders > 1]
    finite = smooth and len(of_several) > 0 and bool(of_several.all())
    for variable, mine in enumerate(coordinates.singles()):
        if not len(mine) or penalized[mine[0]]:
            continue
        c = parameters.domain.shape[variable]
        features = np.hstack([parameters.features((variable,)), np.ones((c, 1))])
        weight = rows.state_weights[variable]
        silent = np.flatnonzero((features[:, :-1] == 0).all(axis=1))
        anchor = silent[0] if len(silent) and weight[silent[0]] > 0 else int(weight.argmax())
        table = np.full(c, np.log(weight[anchor]) - HELD_AT)
        table[weight > 0] = np.log(weight[weight > 0])
        never = np.linalg.lstsq(features, -HELD_AT * np.eye(c), rcond=None)[0][:-1]
        bound[mine] = np.round(np.abs(never).max(axis=1), 9)
        values = np.linalg.lstsq(features, table, rcond=None)[0][:-1]
        w[mine] = np.where(np.abs(values) > bound[mine] - 1e-9, np.sign(values) * bound[mine], values)
        if finite and (weight > 0).all():
            bound[mine] = np.inf
    return w, bound


def hold_parameters_without_data(w: Floats, gradient: Floats, held: NDArray[np.bool_]) -> None:
    """Put free features of several variables that never occur at their bound; in canonical coordinates.

    Where the probabilities of all states but the reference vanish the gradient is minus the weight of every feature.
    """
    w[held & (gradient >= 0.0)] = -HELD_AT
