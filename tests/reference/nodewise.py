"""One variable's sparse regression on all others, dense and from its definition, and networks small enough to list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.lasso_paths import PathPoint
from populations import domain_of


@dataclass(frozen=True)
class DenseRegression:
    """minimise  sum of weight * -log p(x_i | rest) + strength * sum over j of the Frobenius norm of table j.

    ``beta`` is (1 + columns, states - 1), the constant first; ``groups[j]`` are the rows of variable j.
    """

    design: np.ndarray  # (rows, 1 + columns)
    target: np.ndarray  # (rows, states - 1)
    weight: np.ndarray
    groups: dict[int, slice]

    @classmethod
    def of(cls, rows: UniqueRows, variable: int) -> DenseRegression:
        shape, codes = rows.domain.shape, rows.codes
        columns, groups = [np.ones(len(codes))], {}
        for j in range(len(shape)):
            if j != variable:
                groups[j] = slice(len(columns), len(columns) + shape[j] - 1)
                columns += [(codes[:, j] == s).astype(float) for s in range(1, shape[j])]
        target = np.stack([codes[:, variable] == s for s in range(1, shape[variable])], axis=1).astype(float)
        return cls(np.stack(columns, axis=1), target, rows.sample_weight, groups)

    def probabilities(self, beta: np.ndarray) -> np.ndarray:
        z = np.hstack([np.zeros((len(self.design), 1)), self.design @ beta])
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return (e / e.sum(axis=1, keepdims=True))[:, 1:]

    def loss(self, beta: np.ndarray) -> float:
        z = np.hstack([np.zeros((len(self.design), 1)), self.design @ beta])
        top = z.max(axis=1)
        log_total = top + np.log(np.exp(z - top[:, None]).sum(axis=1))
        return float(self.weight @ (log_total - (z[:, 1:] * self.target).sum(axis=1)))

    def gradient(self, beta: np.ndarray) -> np.ndarray:
        return self.design.T @ (self.weight[:, None] * (self.probabilities(beta) - self.target))

    def value(self, beta: np.ndarray, strength: float) -> float:
        return self.loss(beta) + strength * sum(float(np.linalg.norm(beta[g])) for g in self.groups.values())

    def violation(self, beta: np.ndarray, strength: float) -> float:
        """Largest distance of minus the gradient to the subdifferential, over the constant and the groups."""
        gradient = self.gradient(beta)
        worst = float(np.abs(gradient[0]).max())
        for group in self.groups.values():
            size = np.linalg.norm(beta[group])
            if size:
                worst = max(worst, float(np.linalg.norm(gradient[group] + strength * beta[group] / size)))
            else:
                worst = max(worst, float(np.linalg.norm(gradient[group])) - strength)
        return worst

    @property
    def independent(self) -> np.ndarray:
        """The best constant, and no neighbours."""
        beta = np.zeros((self.design.shape[1], self.target.shape[1]))
        share = self.weight @ self.target / self.weight.sum()
        beta[0] = np.log(share / (1.0 - share.sum()))
        return beta

    @property
    def critical(self) -> float:
        gradient = self.gradient(self.independent)
        return max(float(np.linalg.norm(gradient[group])) for group in self.groups.values())

    def solve(self, strength: float, *, share: float = 1e-10) -> np.ndarray:
        """Accelerated proximal gradient with restarts, to a violation of ``share`` of the critical strength."""
        # The curvature of a softmax is at most 1/2, that of a single logit at most 1/4.
        most = 0.25 if self.target.shape[1] == 1 else 0.5
        bound = most * float(np.linalg.eigvalsh(self.design.T @ (self.weight[:, None] * self.design))[-1])
        beta = ahead = self.independent
        goal, momentum = share * self.critical, 1.0
        for step in range(100_000):
            if step % 20 == 0 and self.violation(beta, strength) <= goal:
                return beta
            new = self._shrunk(ahead - self.gradient(ahead) / bound, strength / bound)
            if np.sum((ahead - new) * (new - beta)) > 0:
                momentum = 1.0
            larger = 0.5 + np.sqrt(0.25 + momentum**2)
            ahead = new + (momentum - 1.0) / larger * (new - beta)
            beta, momentum = new, larger
        raise AssertionError(f"The reference did not converge: {self.violation(beta, strength) / self.critical:.1e}.")

    def _shrunk(self, beta: np.ndarray, by: float) -> np.ndarray:
        out = beta.copy()
        for group in self.groups.values():
            size = np.linalg.norm(beta[group])
            out[group] *= max(0.0, 1.0 - by / size) if size else 0.0
        return out

    def beta_of(self, point: PathPoint) -> np.ndarray:
        """A point of a path in this order of columns."""
        beta = np.zeros((self.design.shape[1], self.target.shape[1]))
        beta[0] = point.constant
        for j, table in zip(point.selected.tolist(), point.coefficients, strict=True):
            beta[self.groups[j]] = table
        return beta


def pairwise_probabilities(shape: Sequence[int], edges: Sequence[tuple[int, int]], coupling: float) -> np.ndarray:
    """P(x) of the Potts model exp(sum over edges of +-2 coupling [x_a = x_b]) over all joint states, in C order.

    For two states this is the Ising model with couplings +-coupling; signs alternate from edge to edge.
    """
    energy = np.zeros(tuple(shape))
    codes = np.indices(tuple(shape))
    for k, (a, b) in enumerate(edges):
        energy += (-1) ** k * 2.0 * coupling * (codes[a] == codes[b])
    p = np.exp(energy - energy.max()).ravel()
    return p / p.sum()


def drawn_rows(rng: np.random.Generator, shape: Sequence[int], p: np.ndarray, n_rows: int) -> UniqueRows:
    """An exact sample: how often each joint state occurs among ``n_rows`` independent draws."""
    codes = np.array(list(product(*(range(c) for c in shape))), np.uint8)
    return UniqueRows.from_codes(domain_of(tuple(shape)), codes, rng.multinomial(n_rows, p).astype(float))


def dense_columns(rows: UniqueRows) -> np.ndarray:
    """Indicators of all states but the first, (rows, columns)."""
    columns = [rows.codes[:, j] == s for j, c in enumerate(rows.domain.shape) for s in range(1, c)]
    return np.array(columns, float).reshape(len(columns), rows.n_distinct).T
