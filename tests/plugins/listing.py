"""An engine that lists all joint states: the definition, for few variables."""

from dataclasses import dataclass
from math import prod

import numpy as np

from mrfit.core.errors import ImpossibleError, InputError
from mrfit.inference import Engine, Plan, Posterior, check_scopes


@dataclass(frozen=True)
class Listing(Engine):
    max_cells: int = 2**20

    word = "listing"
    is_exact = True

    def plan(self, factors, targets=()):
        check_scopes(factors.shape, targets)
        n = prod(factors.shape)
        way_on = "Observe some of the variables, or take a junction tree."
        seconds = 1e-8 * min(n, 2**1000)
        return Plan(self.word, factors.shape, "A list", n, self.max_cells, 99 * n, seconds, "asked for", way_on)

    def _run(self, plan, factors):
        numbers, shape = np.arange(plan.n_cells), factors.shape
        codes = [numbers // prod(shape[i + 1 :]) % c for i, c in enumerate(shape)]
        with np.errstate(over="ignore", invalid="ignore"):
            q = factors.log_potential(np.array(codes, np.int64).reshape(len(shape), plan.n_cells).T)
        if not q.max() < np.inf:
            raise InputError("The tables are so large that their sums overflow; subtract a constant from each.")
        if q.max() == -np.inf:
            raise ImpossibleError
        p = np.exp(q - q.max())
        return Listed(shape, codes, p / p.sum(), float(q.max() + np.log(p.sum())))


class Listed(Posterior):
    def __init__(self, shape, codes, p, log_z):
        self.shape, self.codes, self.p, self.log_z = shape, codes, p, log_z

    def marginal(self, scope):
        check_scopes(self.shape, (scope,))
        cell = np.zeros(len(self.p), np.int64)
        for i in scope:
            cell = cell * self.shape[i] + self.codes[i]
        return np.bincount(cell, weights=self.p, minlength=prod(self.shape[i] for i in scope))
