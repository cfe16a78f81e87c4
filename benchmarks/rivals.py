"""Code that a user would write instead: value and gradient of the pairwise binary pseudo-likelihood.

All take parameters in the order of `Canonical` (single variables, then edges) and return sums, not means.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse


class DenseNumpy:
    """Matrix products over distinct rows, with the parameters as a symmetric matrix."""

    name = "dense numpy"

    def __init__(self, codes: np.ndarray, sample_weight: np.ndarray, edges: np.ndarray) -> None:
        self.X, self.sample_weight, self.edges = codes.astype(float), sample_weight, edges

    def _couplings(self, w: np.ndarray) -> np.ndarray:
        n = self.X.shape[1]
        W = np.zeros((n, n))
        W[self.edges[:, 0], self.edges[:, 1]] = W[self.edges[:, 1], self.edges[:, 0]] = w[n:]
        return W

    def _forward(self, w: np.ndarray) -> np.ndarray:
        return self.X @ self._couplings(w)

    def _backward(self, R: np.ndarray) -> np.ndarray:
        return self.X.T @ R

    def __call__(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        X, n = self.X, self.X.shape[1]
        Z = self._forward(w)
        Z += w[:n]
        E = np.exp(-np.abs(Z))
        value = self.sample_weight @ (np.maximum(Z, 0) + np.log1p(E) - X * Z).sum(axis=1)
        R = (np.where(Z >= 0, 1.0, E) / (1.0 + E) - X) * self.sample_weight[:, None]
        G = self._backward(R)
        i, j = self.edges.T
        return value, np.concatenate([R.sum(axis=0), G[i, j] + G[j, i]])


class ScipySparse(DenseNumpy):
    """SciPy with sparse matrices for the rows and the parameters."""

    name = "scipy.sparse"

    def __init__(self, codes: np.ndarray, sample_weight: np.ndarray, edges: np.ndarray) -> None:
        super().__init__(codes, sample_weight, edges)
        self._rows = sparse.csr_array(self.X)
        self._columns = sparse.csr_array(self.X.T)

    def _forward(self, w: np.ndarray) -> np.ndarray:
        n = self.X.shape[1]
        i, j = self.edges.T
        entries = (np.concatenate([w[n:], w[n:]]), (np.concatenate([i, j]), np.concatenate([j, i])))
        return (self._rows @ sparse.csr_array(entries, shape=(n, n))).toarray()

    def _backward(self, R: np.ndarray) -> np.ndarray:
        return self._columns @ R


class Jax:
    """Dense products, differentiated and compiled by JAX, in double precision."""

    name = "jax"

    def __init__(self, codes: np.ndarray, sample_weight: np.ndarray, edges: np.ndarray) -> None:
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        X, weight = jnp.asarray(codes, float), jnp.asarray(sample_weight)
        i, j = (jnp.asarray(column) for column in edges.T)
        n = codes.shape[1]

        def value(w: Any) -> Any:
            W = jnp.zeros((n, n)).at[i, j].set(w[n:]).at[j, i].set(w[n:])
            Z = X @ W + w[:n]
            return weight @ (jnp.logaddexp(0.0, Z) - X * Z).sum(axis=1)

        self._compiled = jax.jit(jax.value_and_grad(value))

    def __call__(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = self._compiled(w)
        return float(value), np.asarray(gradient)


RIVALS = (DenseNumpy, ScipySparse, Jax)


def installed_rivals() -> list[type]:
    return [rival for rival in RIVALS if rival is not Jax or find_spec("jax")]
