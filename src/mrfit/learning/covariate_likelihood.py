"""The exact likelihood given covariates: in every state of these, that of a network without them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from mrfit._typing import Floats, Indices
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.enumeration import MOST_CELLS
from mrfit.learning.backend import Backend, ListedCoordinates
from mrfit.learning.partitioned_rows import Rows, together
from mrfit.objectives.hessian import Matrix
from mrfit.objectives.objective import Objective
from mrfit.objectives.reparameterized import Reparameterized
from mrfit.objectives.weighted_mean import WeightedMean
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.structures.structure import Structure


def without_covariates(parameters: Parameterization) -> Canonical:
    """Canonical parameters of the network that is left where the states of all covariates are known."""
    left = _left(parameters)
    scopes = ([left.index(i) for i in scope if i in left] for scope in parameters.canonical.structure.scopes)
    structure = Structure.from_scopes(len(left), scopes, closed=False)
    return Canonical(Domain(tuple(parameters.domain[i] for i in left)), structure)


class CovariateState(NamedTuple):
    """The rows in one state of the covariates."""

    numbers: Indices  # among all distinct rows
    rows: UniqueRows  # without covariates
    matrix: csr_array  # (parameters without covariates, all parameters): the first are sums of the second


class ConditionalCoordinates(ListedCoordinates):
    """Parameters of log p(x | z): for each state of z, a network of x whose parameters are sums of these.

    Parameters
    ----------
    parameters
        Parameterization with covariates.
    inner
        Backend of the parameterization `without_covariates`, for an exact likelihood.
    """

    def __init__(self, parameters: Parameterization, inner: Backend, *, jobs: int = 1) -> None:
        super().__init__(parameters, jobs=jobs)
        self.inner, self.engine, self.gap_tolerance_factor = inner, inner.engine, inner.gap_tolerance_factor
        self.smooth_solver, self.sparse_solver = inner.smooth_solver, inner.sparse_solver

    def objective(self, rows: Rows) -> WeightedMean:
        parts = list(self._parts(together(rows)))
        objectives: list[Objective] = []
        for part in parts:
            objectives.append(Reparameterized(self.inner.objective(part.rows), part.matrix))
            _check_cells(len(parts), objectives[0].n_cells)
        return WeightedMean(objectives, [part.rows.total_weight / rows.total_weight for part in parts])

    def row_scores(self, w: Floats, rows: UniqueRows) -> Floats:
        out = np.empty(rows.n_distinct)
        for part in self._parts(rows):
            out[part.numbers] = self.inner.row_scores(part.matrix @ w, part.rows)
        return out

    def gradient_products(self, w: Floats, rows: Rows) -> Floats:
        rows, out = together(rows), np.zeros((self.n_parameters,) * 2)
        for part in self._parts(rows):
            products = Matrix(self.inner.gradient_products(part.matrix @ w, part.rows))
            out += part.rows.total_weight / rows.total_weight * products.through(part.matrix.T.tocsr()).entries
        return out

    def gradient_sums(self, w: Floats, rows: UniqueRows, weights: Floats) -> Floats:
        out = np.zeros((len(weights), self.n_parameters))
        for part in self._parts(rows):
            out += self.inner.gradient_sums(part.matrix @ w, part.rows, weights[:, part.numbers]) @ part.matrix
        return out

    def to_model(self, w: Floats) -> tuple[Parameterization, Indices]:
        return self.parameters, np.arange(self.n_parameters)

    def _parts(self, rows: UniqueRows) -> Iterator[CovariateState]:
        """Distinct rows are sorted, and stay so where some columns are left out that do not vary."""
        covariates, left = list(self.parameters.covariate_indices), _left(self.parameters)
        states, number = np.unique(rows.codes[:, covariates], axis=0, return_inverse=True)
        for k, state in enumerate(states.tolist()):
            numbers = np.flatnonzero(number.ravel() == k)
            part = UniqueRows.from_codes(rows.domain, rows.codes[numbers], rows.sample_weight[numbers])
            yield CovariateState(
                numbers, part.on_columns(left), self._matrix(dict(zip(covariates, state, strict=True)))
            )

    def _matrix(self, known: dict[int, int]) -> csr_array:
        """A parameter counts where its covariates are in its states, for what else it speaks of, if anything."""
        canonical, left, inner = self.parameters.canonical, _left(self.parameters), self.inner.parameters.canonical
        number = {inner.states(k): k for k in range(inner.n_parameters)}
        entries = []
        for k in range(canonical.n_parameters):
            states = canonical.states(k)
            rest = tuple((left.index(i), s) for i, s in states if i not in known)
            if rest and all(known.get(i, s) == s for i, s in states):
                entries.append((number[rest], k))
        rows, columns = np.array(entries, np.int64).reshape(-1, 2).T
        shape = (inner.n_parameters, canonical.n_parameters)
        chosen = csr_array((np.ones(len(entries)), (rows, columns)), shape=shape)
        return csr_array(chosen @ self.parameters.canonical_map)


def _left(parameters: Parameterization) -> list[int]:
    """Variables that have a distribution."""
    return [i for i in range(len(parameters.domain)) if i not in parameters.covariate_indices]


def _check_cells(n_states: int, n_cells: int) -> None:
    if n_states * n_cells > MOST_CELLS:
        raise InputError(
            f"The covariates have {n_states:,} joint states in the rows, and the exact likelihood takes {n_cells:,} "
            f"cells for each; the limit is {MOST_CELLS:,} in all. Use the pseudo-likelihood, or fewer covariates."
        )
