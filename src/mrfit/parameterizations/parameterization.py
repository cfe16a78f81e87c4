"""Parameterizations: every scope has features, and their weighted sum is the scope's table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import sparse

from mrfit import _renamed
from mrfit._typing import Floats, Indices, Scope
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.parameterizations.bases import CompleteBase, Zeta, digits_of
from mrfit.parameterizations.expansion import canonical_coefficients, entries_of, sparse_map
from mrfit.structures.distinct import distinct_rows
from mrfit.structures.structure import Structure

if TYPE_CHECKING:
    from mrfit.parameterizations.canonical import Canonical


_MOST_ENTRIES = 1e8


@dataclass(frozen=True)
class Parameterization(ABC):
    """Parameters of a structure over a domain, scope after scope; base class of all coordinates.

    The table of a scope A in log p is theta_A = features(A) @ w_A. A subclass defines the features of a scope and their
    names; the rest follows from these. Scopes with a one-state variable have no parameters, because a smaller scope
    represents the same functions.

    Parameters
    ----------
    domain : Domain
        Variables and their states.
    structure : Structure
        Interactions that have parameters.
    covariate_indices : tuple of int, default ()
        Positions of variables that have no distribution: the model is conditional on them.

    See Also
    --------
    Canonical : The usual coordinates.
    Spectral : Coordinates of contrasts.
    MarkovNetwork : A distribution: a parameterization and values of its parameters.

    Notes
    -----
    A subclass has a ``word``, by which users choose it, a ``meaning``, which describes a parameter, and the methods
    ``n_features``, ``features`` and ``feature_name``. Class attributes say what it can do: ``is_complete`` (it
    expresses any tables over a closed structure), ``is_minimal`` (without redundant parameters), ``is_orthogonal``,
    ``are_indicators`` (features are 0 or 1), ``may_be_impossible`` (parameters may be minus infinity),
    ``has_reference``, ``has_scores`` and ``takes_covariates``. `mrfit.testing.check_parameterization` checks one of
    your own.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.parameterizations import Canonical, Parameterization
    >>> domain = mrfit.Domain.from_states({"a": ["no", "yes"], "b": ["no", "yes"]})
    >>> parameters = Canonical(domain, mrfit.Structure.complete(2))
    >>> isinstance(parameters, Parameterization), parameters.n_parameters
    (True, 3)
    >>> parameters.to_tables([0.0, 0.0, 1.5])[(0, 1)].tolist()
    [[0.0, 0.0], [0.0, 1.5]]
    """

    domain: Domain
    structure: Structure
    covariate_indices: tuple[int, ...] = field(default=(), kw_only=True)  # covariates, which have no distribution

    given = _renamed.attribute("given", "covariate_indices")
    order_without_given = _renamed.attribute("order_without_given", "order_without_covariates")

    word: ClassVar[str]  # the word that users choose it by
    meaning: ClassVar[str]  # meaning of a parameter, for users
    are_indicators: ClassVar[bool] = True  # whether features that are sums of base functions are 0 or 1
    may_be_impossible: ClassVar[bool] = False  # whether parameters may be minus infinity, for impossible states
    is_complete: ClassVar[bool] = False  # whether it can express any tables over a closed structure
    is_minimal: ClassVar[bool] = False  # whether it is complete without redundant parameters
    is_orthogonal: ClassVar[bool] = False  # whether features are orthogonal over all joint states
    has_reference: ClassVar[bool] = False  # whether users choose reference categories
    has_scores: ClassVar[bool] = False  # whether variables may interact by scores
    takes_covariates: ClassVar[bool] = False
    when_ordered: ClassVar[str | None] = None  # the word of the kind that replaces it for ordered variables

    @abstractmethod
    def n_features(self, scope: Scope) -> int:
        """Return the number of parameters of a scope whose variables all have at least two states."""

    @abstractmethod
    def features(self, scope: Scope) -> Floats:
        """Return the features of a scope at its joint states: shape (states of the scope in C order, parameters)."""

    @abstractmethod
    def feature_name(self, scope: Scope, number: int) -> str:
        """Return a readable name for a parameter of a scope.

        Parameters
        ----------
        scope : tuple of int
            Positions of the variables of an interaction.
        number : int
            Number of the parameter within the scope, from 0.

        Returns
        -------
        str
        """

    def feature_states(self, scope: Scope, number: int) -> tuple[tuple[int, int], ...]:
        """Return the states that a parameter of a scope refers to; none if it compares states.

        Parameters
        ----------
        scope : tuple of int
            Positions of the variables of an interaction.
        number : int
            Number of the parameter within the scope, from 0.

        Returns
        -------
        tuple of (int, int)
            Variable and state, both as positions.
        """
        return ()

    @property
    def base(self) -> CompleteBase:
        """Base of functions of all joint states that exact computations use."""
        return Zeta(self.domain.shape)

    @property
    def options(self) -> dict[str, Any]:
        """Settings that a file stores beside the kind, ready for JSON."""
        return {}

    def with_options(self, **options: Any) -> Self:
        """Return the same kind with the `options` of a file."""
        if options:
            raise ValueError(f"{self.word} coordinates with {sorted(options)}")
        return self

    def on(self, structure: Structure) -> Self:
        """Return the same kind of parameters for another structure."""
        return replace(self, structure=structure)

    def for_lengths(self) -> Parameterization:
        """Return coordinates in which a penalty on the norms of whole interactions has the same optimum."""
        return self

    def from_lengths(self, w: Floats) -> Floats:
        """Convert parameters of `for_lengths` to this kind."""
        return w

    # -- positions of parameters -----------------------------------------------------------------------------------

    @cached_property
    def _counts(self) -> dict[int, Indices]:
        """Number of parameters of every scope, by scope size."""
        signature, counts = self._signature(), {}
        for size, block in self.structure.blocks.items():
            _, kind_of = distinct_rows(signature[block].reshape(len(block), -1))
            _, one_of_each = np.unique(kind_of, return_index=True)
            scopes = map(tuple, block[one_of_each].tolist())
            each = [self.n_features(scope) if min(self._shape(scope)) > 1 else 0 for scope in scopes]
            counts[size] = np.array(each, np.int64)[kind_of]
        return counts

    @cached_property
    def first_parameter(self) -> dict[int, Indices]:
        """Number of the first parameter of every scope, by scope size."""
        firsts, offset = {}, 0
        for size, counts in self._counts.items():
            firsts[size] = offset + np.concatenate([[0], np.cumsum(counts)[:-1]])
            offset += int(counts.sum())
        return firsts

    @cached_property
    def n_parameters(self) -> int:
        """Number of parameters of all scopes."""
        return sum(int(counts.sum()) for counts in self._counts.values())

    @cached_property
    def order_of_parameter(self) -> Indices:
        """Size of the scope each parameter belongs to."""
        n = [int(counts.sum()) for counts in self._counts.values()]
        return np.repeat(np.array(list(self._counts), np.int64), n)

    @cached_property
    def order_without_covariates(self) -> Indices:
        """Number of modelled variables in each parameter's scope, without covariates."""
        is_covariate = np.isin(np.arange(len(self.domain)), self.covariate_indices)
        blocks = self.structure.blocks.items()
        n_covariates = [np.repeat(is_covariate[block].sum(axis=1), self._counts[size]) for size, block in blocks]
        return np.asarray(self.order_of_parameter - np.concatenate([np.empty(0, np.int64), *n_covariates]), np.int64)

    @cached_property
    def scope_of_parameter(self) -> Indices:
        """Number of the scope each parameter belongs to, counted through all sizes."""
        counts = np.concatenate([np.empty(0, np.int64), *self._counts.values()])
        return np.repeat(np.arange(len(counts)), counts)

    @cached_property
    def feature_range(self) -> float:
        """Largest difference between two values of one feature, one for indicators."""
        ranges = [float(np.ptp(features, axis=0).max()) for _, _, features in self.alike()]
        return max(ranges, default=0.0)

    def singles(self) -> list[Indices]:
        """Return each variable's own parameters, in the order of its features; empty for some variables."""
        singles = [np.empty(0, np.int64)] * len(self.domain)
        if 1 in self.structure.blocks:
            firsts, counts = self.first_parameter[1].tolist(), self._counts[1].tolist()
            for variable, first, count in zip(self.structure.blocks[1][:, 0].tolist(), firsts, counts, strict=True):
                singles[variable] = first + np.arange(count)
        return singles

    def _scope_and_number(self, parameter: int) -> tuple[Scope, int]:
        """Return the scope of a parameter, and its number within the scope."""
        size = int(self.order_of_parameter[parameter])
        # Scopes without parameters share their first number with the next one.
        row = int(np.searchsorted(self.first_parameter[size], parameter, side="right")) - 1
        scope = tuple(self.structure.blocks[size][row].tolist())
        return scope, parameter - int(self.first_parameter[size][row])

    def scope(self, parameter: int) -> Scope:
        """Return the variables of a parameter, as positions."""
        return self._scope_and_number(parameter)[0]

    def states(self, parameter: int) -> tuple[tuple[int, int], ...]:
        """Return the (variable, state) pairs a parameter refers to; none if it compares states."""
        return self.feature_states(*self._scope_and_number(parameter))

    def name(self, parameter: int) -> str:
        """Return a readable name: "lung=yes & smoker=yes"."""
        return self.feature_name(*self._scope_and_number(parameter))

    def names(self) -> Iterator[str]:
        """Yield the readable names of all parameters, in their order."""
        return map(self.name, range(self.n_parameters))

    # -- tables --------------------------------------------------------------------------------------------------

    def to_tables(self, w: Floats) -> dict[Scope, Floats]:
        """Return the table of every scope with parameters: its part of log p, with one axis for each variable."""
        return {
            scope: (features @ w[own_range]).reshape(self._shape(scope))
            for scope, features, own_range in self._scopes()
        }

    def to_factors(self, w: Floats) -> Factors:
        """Return the tables of all scopes with parameters, in the order of the structure."""
        tables: dict[Scope, Floats] = {}
        for block, own, features in self.alike():
            values = w[own[:, None] + np.arange(features.shape[1])] @ features.T  # (scopes, states of a scope)
            tables |= zip(map(tuple, block.tolist()), values, strict=True)
        return Factors.from_tables(self.domain.shape, [(scope, tables[scope]) for scope in self.table_scopes])

    @cached_property
    def table_scopes(self) -> tuple[Scope, ...]:
        """Scopes with parameters, in the order of the structure."""
        blocks = ((block, self._counts[size]) for size, block in self.structure.blocks.items())
        return tuple(tuple(scope) for block, counts in blocks for scope in block[counts > 0].tolist())

    @cached_property
    def table_map(self) -> sparse.csr_array:
        """Matrix of all features, shape (cells of all tables, parameters), tables in the order of `table_scopes`."""
        self._check_expansion()
        rows, columns, values = [], [], []
        for block, own, features in self.alike():
            row, column = np.nonzero(features)
            rows.append((self.first_cells(block)[:, None] + row).ravel())
            columns.append((own[:, None] + column).ravel())
            values.append(np.tile(features[row, column], len(block)))
        n_cells = sum(int(cells.sum()) for cells in self._cells.values())
        return sparse_map(values, rows, columns, (n_cells, self.n_parameters))

    def first_cells(self, block: Indices) -> Indices:
        """Return the first cell of the tables of scopes of one size, among the tables of `table_scopes`."""
        size = block.shape[1]
        before = sum(int(cells.sum()) for other, cells in self._cells.items() if other < size)
        own_range = self._cells[size]
        return np.asarray(before + (np.cumsum(own_range) - own_range)[self.structure.find(block)], np.int64)

    @cached_property
    def _cells(self) -> dict[int, Indices]:
        """Number of cells of every scope's table, 0 for scopes without parameters, by scope size."""
        shape = np.array(self.domain.shape, np.int64)
        blocks = self.structure.blocks.items()
        return {size: np.where(self._counts[size] > 0, shape[block].prod(axis=1), 0) for size, block in blocks}

    def pull_back(self, tables: Mapping[Scope, Floats]) -> Floats:
        """Apply the adjoint of `to_tables`: turn a gradient in tables into one in parameters."""
        gradient = np.zeros(self.n_parameters)
        for scope, features, own_range in self._scopes():
            gradient[own_range] = features.T @ np.ravel(tables[scope])
        return gradient

    def from_tables(self, tables: Mapping[Scope, Floats]) -> Floats:
        """Return parameters with the same sum of tables up to a constant; refuse if no such parameters exist.

        If several would do, each scope takes the least-squares solution, larger scopes first.
        """
        structure = Structure.from_scopes(len(self.domain), tables, closed=False)
        full = _canonical(self.domain, structure.closure())
        w = np.zeros(full.n_parameters)
        for scope, table in tables.items():
            ordered = np.transpose(table, np.argsort(scope))
            block = np.sort(np.array([scope], np.int64))
            values = canonical_coefficients(ordered.reshape(*ordered.shape, 1))
            _, rows, numbers = entries_of(full, block, values)
            w[numbers[0]] += values[rows, 0]
        return self.from_canonical(full, w)

    def _shape(self, scope: Scope) -> tuple[int, ...]:
        return tuple(self.domain.shape[i] for i in scope)

    def _scopes(self) -> Iterator[tuple[Scope, Floats, slice]]:
        """Yield every scope with parameters, its features, and the slice of its parameters."""
        for size, block in self.structure.blocks.items():
            starts, counts = self.first_parameter[size], self._counts[size]
            for scope, start, count in zip(block.tolist(), starts.tolist(), counts.tolist(), strict=True):
                if count:
                    yield tuple(scope), self.features(tuple(scope)), slice(start, start + count)

    # -- canonical coordinates, through which the others convert ------------------------------------------------------

    @cached_property
    def canonical(self) -> Canonical:
        """Canonical coordinates, first states as reference, that can express every distribution of these."""
        return replace(_canonical(self.domain, self.structure.closure()), covariate_indices=self.covariate_indices)

    @cached_property
    def canonical_map(self) -> sparse.csr_array:
        """Matrix (canonical parameters, own parameters) that converts these to `canonical`."""
        rows, columns, values = [], [], []
        for block, own, moebius in self._canonical_by_shape():
            at, row, numbers = entries_of(self.canonical, block, moebius)
            rows.append(numbers.ravel())
            columns.append((own[:, None] + at).ravel())
            values.append(np.tile(moebius[row, at], len(block)))
        return sparse_map(values, rows, columns, (self.canonical.n_parameters, self.n_parameters))

    def to_canonical(self, w: Floats) -> Floats:
        """Convert parameters to `canonical` coordinates."""
        return np.asarray(self.canonical_map @ w, np.float64)

    def from_canonical(self, source: Canonical, w: Floats) -> Floats:
        """Return parameters with the same distribution as canonical parameters of any structure.

        The features of a scope have canonical coefficients on its subsets too. The largest scopes are therefore solved
        first, by what remains on the scope itself, and their contribution to subsets is subtracted.

        Parameters
        ----------
        source : Canonical
            Coordinates to convert from, with the first states as reference.
        w : array
            Values of the parameters of ``source``.

        Returns
        -------
        array of shape (n_parameters,)

        Raises
        ------
        MrfitError
            If these coordinates cannot express the distribution.
        """
        full = source.on(source.structure.closure())
        wanted = full.spread(source, w)
        rest, own = wanted.copy(), np.zeros(self.n_parameters)
        for block, own_range, moebius in sorted(self._canonical_by_shape(), key=lambda kind: -kind[0].shape[1]):
            known = full.structure.find(block) >= 0
            if not known.any():
                continue
            top = (digits_of(np.arange(len(moebius)), self._shape(tuple(block[0]))) > 0).all(axis=1)
            at, row, numbers = entries_of(full, block[known], moebius)
            _, _, target = entries_of(full, block[known], np.where(top, 1.0, 0.0)[:, None])
            solved = rest[target] @ np.linalg.pinv(moebius[top]).T  # (scopes, parameters)
            own[own_range[known][:, None] + np.arange(moebius.shape[1])] = solved
            np.subtract.at(rest, numbers, solved[:, at] * moebius[row, at])
        if np.abs(rest).max(initial=0.0) > 1e-9 * (1.0 + np.abs(wanted).max(initial=0.0)):
            raise InputError(
                f"The {self.word} parameterization of this structure cannot express the distribution; use full, "
                "canonical or spectral, and a structure that has all subsets of its scopes."
            )
        return own

    def spread(self, source: Parameterization, w: Floats) -> Floats:
        """Return parameters of the same kind on another structure: copied where scopes are in both, zero elsewhere.

        Parameters
        ----------
        source : Parameterization
            Coordinates of the same kind on the other structure.
        w : array
            Values of the parameters of ``source``.

        Returns
        -------
        array of shape (n_parameters,)
        """
        out = np.zeros(self.n_parameters)
        for size, block in source.structure.blocks.items():
            at = self.structure.find(block)
            counts, starts = source._counts[size][at >= 0], source.first_parameter[size][at >= 0]
            if not len(counts):
                continue
            firsts = self.first_parameter[size][at[at >= 0]]
            within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            out[np.repeat(firsts, counts) + within] = w[np.repeat(starts, counts) + within]
        return out

    def pruned(self, w: Floats) -> tuple[Self, Indices]:
        """Drop interactions whose parameters are all zero; return the rest and the numbers of its parameters."""
        structure = self.structure
        kept = np.bincount(self.scope_of_parameter, w != 0, minlength=structure.n_scopes) > 0
        at, blocks = 0, {}
        for size, block in structure.blocks.items():
            own_range = slice(at, at + len(block))
            kept[own_range] |= size == 1
            if kept[own_range].any():
                blocks[size] = block[kept[own_range]]
            at += len(block)
        return self.on(Structure(structure.n_variables, blocks)), np.flatnonzero(kept[self.scope_of_parameter])

    def _canonical_by_shape(self) -> Iterator[tuple[Indices, Indices, Floats]]:
        """Yield the groups of `alike` with their canonical coefficients: shape (digits in C order, parameters)."""
        for block, own, features in self.alike():
            table = features.reshape(*self._shape(tuple(block[0].tolist())), -1)
            yield block, own, canonical_coefficients(table)

    def alike(self) -> Iterator[tuple[Indices, Indices, Floats]]:
        """Yield scopes with equal shape and features: their block, their first parameters, their features."""
        signature = self._signature()
        for size, block in self.structure.blocks.items():
            kinds, kind_of = distinct_rows(signature[block].reshape(len(block), -1))
            for number in range(len(kinds)):
                chosen = kind_of == number
                if self._counts[size][chosen][0]:
                    scope = tuple(block[chosen][0].tolist())
                    self._check_table(scope, int(self._counts[size][chosen][0]))
                    yield block[chosen], self.first_parameter[size][chosen], self.features(scope)

    def _check_table(self, scope: Scope, n_features: int) -> None:
        """Refuse features of a scope whose table would be too large, before they are listed."""
        n_entries = prod(self._shape(scope)) * n_features
        if n_entries > _MOST_ENTRIES:
            raise InputError(
                f"The {self.word} parameterization of a scope of {len(scope)} variables needs a table of "
                f"{min(n_entries, 10**300):.2g} numbers; the limit is {_MOST_ENTRIES:.0e}. Lower the order."
            )

    def _signature(self) -> Indices:
        """Return the properties that a scope's features depend on, for each variable: shape (variables, any)."""
        return np.array(self.domain.shape, np.int64)[:, None]

    def _n_entries(self, size: int) -> float:
        """Bound the number of base coefficients of the features of all scopes of a size."""
        shapes = np.array(self.domain.shape, float)[self.structure.blocks[size]]
        return float(self._counts[size] @ shapes.prod(axis=1))

    def _check_expansion(self) -> None:
        """Refuse features that expand into too many base functions, before they are listed."""
        n_entries = float(sum(self._n_entries(size) for size in self.structure.blocks))
        if n_entries > _MOST_ENTRIES:
            raise InputError(
                f"The {self.word} parameterization of these {self.structure.n_scopes:,} scopes has "
                f"{self.n_parameters:,} parameters and needs up to {n_entries:.2g} numbers for all joint states; "
                f"the limit is {_MOST_ENTRIES:.0e}. Lower the order, or use canonical or spectral coordinates."
            )

    # -- all joint states ----------------------------------------------------------------------------------------

    def joint_entries(self) -> tuple[Indices, Indices, Floats]:
        """Return the coefficients of `base` that make up the features: positions, parameters and values, flat."""
        self._check_expansion()
        positions, parameters, values = [], [], []
        strides = self.base.strides
        for block, own, moebius in self._canonical_by_shape():
            row, at = np.nonzero(moebius)
            digits = digits_of(row, self._shape(tuple(block[0].tolist())))
            positions.append((strides[block] @ digits.T).ravel())
            parameters.append((own[:, None] + at).ravel())
            values.append(np.tile(moebius[row, at], len(block)))
        none = [np.empty(0, np.int64)]
        return (
            np.concatenate(positions or none),
            np.concatenate(parameters or none),
            np.concatenate(values or [np.empty(0)]),
        )


def _canonical(domain: Domain, structure: Structure) -> Canonical:
    from mrfit.parameterizations.canonical import Canonical

    return Canonical(domain, structure)
