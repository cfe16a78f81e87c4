"""Ratio matching (Hyvarinen 2007): squared errors of the odds of each state against the observed one. Not convex."""

from dataclasses import dataclass

import numpy as np

from mrfit.objectives import Expansion, Objective, PseudoLikelihoodBackend, PseudoLikelihoodSpec


class RatioMatching(Objective):
    """1/N sum over rows, variables i and states s that x_i is not in of sigmoid(f(x with x_i = s) - f(x))^2."""

    is_convex = False

    def __init__(self, rows, parameters):
        codes, self.n_parameters = rows.codes.astype(np.int64), parameters.n_parameters
        changed = [
            np.where(np.arange(len(c)) == i, (codes + k) % c, codes)
            for i, _ in enumerate(codes.T)
            for c in [np.array(rows.domain.shape)]
            for k in range(1, c[i])
        ]
        features = [parameters.to_factors(unit).log_potential for unit in np.eye(self.n_parameters)]
        rise = [f(np.concatenate(changed)) - np.tile(f(codes), len(changed)) for f in features if changed]
        self.rises = np.array(rise).T.reshape(-1, self.n_parameters)
        self.weight = np.tile(rows.sample_weight / rows.total_weight, len(changed))
        self.n_cells = len(self.weight)

    def value_and_gradient(self, w):
        s = 1.0 / (1.0 + np.exp(-self.rises @ w))
        return float(self.weight @ s**2), self.rises.T @ (self.weight * 2 * s**2 * (1 - s))

    def expand(self, w):
        s = 1.0 / (1.0 + np.exp(-self.rises @ w))
        bend = self.weight * 2 * s**2 * (1 - s) * (2 - 3 * s)
        hessian = (self.rises.T * bend) @ self.rises
        return Expansion(*self.value_and_gradient(w), lambda: np.diag(hessian), lambda v: hessian @ v)


class Ratios(PseudoLikelihoodBackend):
    def objective(self, rows):
        return RatioMatching(rows, self.parameters)


@dataclass(frozen=True)
class RatioMatchingChoice(PseudoLikelihoodSpec):  # which scores held-out rows
    word = "ratio-matching"
    is_score = False

    def coordinates(self, parameters, *, listed, keep_zeros, jobs):
        return Ratios(parameters, jobs=jobs)
