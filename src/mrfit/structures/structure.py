"""Structures: the sets of variables that interact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Scopes
from mrfit.core.errors import StructureError, listed
from mrfit.core.html_table import html_table
from mrfit.structures.distinct import distinct_rows

if TYPE_CHECKING:
    import networkx

    from mrfit.core.domain import Domain


@dataclass(frozen=True, eq=False)
class Structure:
    """Sets of variables that interact, called scopes; variables are numbered from 0.

    Build one with a class method, such as `from_edges`, which sorts and checks.

    Parameters
    ----------
    n_variables : int
        Number of variables.
    blocks : mapping of int to ndarray, default=None
        For each size r the scopes of r variables, shape (scopes, r). Rows ascend, and so do the entries of a row. Sizes
        without scopes are absent. Required, although it has a default.

    Raises
    ------
    StructureError
        If ``blocks`` is no mapping.

    See Also
    --------
    FixedStructure : Learns the parameters of a given structure.

    Examples
    --------
    >>> from mrfit import Structure
    >>> structure = Structure.from_edges(4, [(0, 1), (1, 2)])
    >>> structure
    <Structure: 4 variables, 2 edges>
    >>> structure.degrees
    array([1, 2, 1, 0])
    >>> Structure.from_scopes(3, [(0, 1, 2)]).order
    3
    """

    n_variables: int
    blocks: Mapping[int, Scopes] = None  # type: ignore[assignment]  # missing blocks raise a helpful error below

    def __post_init__(self) -> None:
        if not isinstance(self.blocks, Mapping):
            raise StructureError(
                "A Structure is not made of a list of pairs or scopes alone; call Structure.from_edges(n_variables, "
                "edges) or Structure.from_scopes(n_variables, scopes)."
            )
        for block in () if self.is_saturated else self.blocks.values():
            block.flags.writeable = False

    @classmethod
    def from_scopes(cls, n_variables: int, scopes: Iterable[Sequence[int]], *, closed: bool = True) -> Structure:
        """Build a structure from scopes.

        Closed structures are the hierarchical log-linear models; scopes then act as generators.

        Parameters
        ----------
        n_variables : int
            Number of variables.
        scopes : iterable of sequence of int
            Sets of variables, by their numbers counted from 0.
        closed : bool, default=True
            Whether to add all subsets of these scopes, and every single variable.
        """
        try:
            sets = {frozenset(map(index, scope)) for scope in scopes} - {frozenset()}
            n_variables = index(n_variables)
        except TypeError as error:
            raise StructureError(
                f"A structure is a number of variables and lists of their numbers, counted from 0: {error}."
            ) from None
        wrong = sorted({i for scope in sets for i in scope if not 0 <= i < n_variables})
        if wrong:
            raise StructureError(
                f"A scope names variable number {wrong[0]}, but variables are numbered 0 to {n_variables - 1}."
            )
        widest = max(map(len, sets), default=0)
        if closed and widest > _WIDEST_CLOSED:
            raise StructureError(
                f"A scope has {widest} variables, so {2.0 ** min(widest, 1000):.2g} subsets belong to the structure; "
                f"the limit is {_WIDEST_CLOSED} variables. Name smaller scopes."
            )
        if closed:
            sets |= {frozenset([i]) for i in range(n_variables)}
        by_size: dict[int, list[list[int]]] = {}
        for scope in sorted(sorted(scope) for scope in sets):
            by_size.setdefault(len(scope), []).append(scope)
        structure = cls(n_variables, {size: np.array(by_size[size], np.int64) for size in sorted(by_size)})
        return structure.closure() if closed else structure

    @classmethod
    def from_blocks(cls, n_variables: int, blocks: Mapping[int, Scopes]) -> Structure:
        """Build a structure from arrays of scopes, and check them.

        Parameters
        ----------
        n_variables : int
            Number of variables.
        blocks : mapping of int to ndarray
            For each size r the sorted scopes of r variables, shape (scopes, r).
        """
        for size, block in blocks.items():
            if block.ndim != 2 or block.shape[1] != size or size < 1 or not len(block) or block.dtype.kind not in "iu":
                raise StructureError(
                    f"Scopes of size {size} came as an array of shape {block.shape} and {block.dtype}."
                )
            if block.min() < 0 or block.max() >= n_variables or (np.diff(block, axis=1) <= 0).any():
                raise StructureError(f"Scopes of size {size} must be ascending variables 0 to {n_variables - 1}.")
            if not np.array_equal(block, distinct_rows(block)[0]):
                raise StructureError(f"Scopes of size {size} must be sorted, each once.")
        return cls(n_variables, {size: blocks[size].astype(np.int64) for size in sorted(blocks)})

    @classmethod
    def independent(cls, n_variables: int) -> Structure:
        """Return the structure of single variables."""
        return cls.up_to_order(n_variables, 1)

    @classmethod
    def complete(cls, n_variables: int) -> Structure:
        """Return the structure of all pairs: the full pairwise model."""
        return cls.up_to_order(n_variables, 2)

    @classmethod
    def up_to_order(cls, n_variables: int, order: int) -> Structure:
        """Return the structure of all scopes of at most ``order`` variables.

        Parameters
        ----------
        n_variables : int
            Number of variables.
        order : int
            Size of the largest scopes, 1 or more.
        """
        if order < 1:
            raise StructureError(f"The order of a structure must be at least 1; got {order}.")
        if order >= n_variables:
            return cls(n_variables, AllScopes(n_variables))
        sizes = range(1, order + 1)
        _check_number(sum(comb(n_variables, size) for size in sizes), order, n_variables)
        return cls(n_variables, {size: _all_scopes(n_variables, size) for size in sizes})

    @classmethod
    def from_membership(cls, membership: NDArray[np.bool_]) -> Structure:
        """Build a structure whose scopes are the rows of a 0/1 matrix (scopes, variables); empty rows are dropped."""
        size = membership.sum(axis=1)
        blocks = {}
        for r in np.unique(size[size > 0]).tolist():
            variables = np.nonzero(membership[size == r])[1].reshape(-1, r)
            blocks[r], _ = distinct_rows(variables)
        return cls(membership.shape[1], blocks)

    @classmethod
    def from_edges(cls, n_variables: int, edges: Iterable[tuple[int, int]]) -> Structure:
        """Build the structure of some edges, with every single variable.

        Parameters
        ----------
        n_variables : int
            Number of variables.
        edges : iterable of pairs of int
            Pairs of variables, by their numbers counted from 0.
        """
        structure = cls.from_scopes(n_variables, edges := list(edges) if isinstance(edges, Iterable) else edges)
        if wrong := [edge for edge in edges if len(edge) != 2]:
            raise StructureError(f"An edge joins two variables; got {wrong[0]}. Use from_scopes for larger sets.")
        return structure

    @classmethod
    def from_adjacency(cls, adjacency: NDArray[np.bool_]) -> Structure:
        """Build the pairwise structure of a symmetric 0/1 matrix; the diagonal is ignored."""
        return cls.of_pairs(len(adjacency), np.argwhere(np.triu(adjacency | adjacency.T, 1)))

    @classmethod
    def of_pairs(cls, n_variables: int, pairs: Scopes) -> Structure:
        """Build the structure of an array of edges, with every single variable.

        Parameters
        ----------
        n_variables : int
            Number of variables.
        pairs : ndarray of int
            Edges, shape (edges, 2), sorted, each once.
        """
        singles = {1: _all_scopes(n_variables, 1)}
        return cls(n_variables, {**singles, 2: pairs} if len(pairs) else singles)

    @classmethod
    def from_graph(cls, graph: networkx.Graph[Any], domain: Domain) -> Structure:
        """Build the structure of a networkx graph whose nodes are names of variables.

        Parameters
        ----------
        graph : networkx.Graph
            The graph.
        domain : Domain
            The variables; those without edges need not be in the graph.
        """
        unknown = [node for node in graph.nodes if str(node) not in domain]
        if unknown:
            raise StructureError(
                f"The graph has nodes that are not variables: {listed(unknown)}; "
                f"the variables are {listed(domain.names)}."
            )
        edges = ((domain.index(str(a)), domain.index(str(b))) for a, b in graph.edges if a != b)
        return cls.from_edges(len(domain), edges)

    @property
    def is_saturated(self) -> bool:
        """Whether all sets of variables are scopes, without a list of them."""
        return isinstance(self.blocks, AllScopes)

    @cached_property
    def n_scopes(self) -> int:
        """Number of scopes."""
        return 2**self.n_variables - 1 if self.is_saturated else sum(len(block) for block in self.blocks.values())

    @cached_property
    def is_closed(self) -> bool:
        """Whether every subset of a scope is a scope: the hierarchical log-linear models."""
        return self.is_saturated or all(
            size == 1 or all((self.find(np.delete(block, k, axis=1)) >= 0).all() for k in range(size))
            for size, block in self.blocks.items()
        )

    def conditional_on(self, covariates: tuple[int, ...], *, on_edges: bool = False) -> Structure:
        """Return the scopes of log p(others | covariates).

        These are the scopes of the others, and each other variable with each covariate. Scopes of covariates alone are
        dropped.

        Parameters
        ----------
        covariates : tuple of int
            Numbers of the covariates.
        on_edges : bool, default=False
            Whether to add every pair of others with every covariate.
        """
        others = [scope for scope in self.scopes if not set(scope) & set(covariates)]
        touched: list[tuple[int, ...]] = [(i,) for i in range(self.n_variables) if i not in covariates]
        touched += [scope for scope in others if len(scope) == 2 and on_edges]
        scopes = [*others, *((*scope, z) for scope in touched for z in covariates)]
        return Structure.from_scopes(self.n_variables, scopes, closed=False)

    def closure(self) -> Structure:
        """Return these scopes with all their subsets."""
        if self.is_closed:
            return self
        n_subsets = sum(len(block) * 2**size for size, block in self.blocks.items())
        _check_number(min(n_subsets, 2**self.n_variables), self.order, self.n_variables)
        blocks: dict[int, Scopes] = {}
        parts: list[Scopes] = []
        for size in range(self.order, 0, -1):
            parts += [self.blocks[size]] if size in self.blocks else []
            blocks[size] = distinct_rows(np.concatenate(parts))[0]
            parts = [np.delete(blocks[size], k, axis=1) for k in range(size)]
        return Structure(self.n_variables, dict(sorted(blocks.items())))

    def find(self, scopes: Scopes) -> NDArray[np.int64]:
        """Return the index of each row of ``scopes``, shape (any, size), in the block of its size; -1 if absent."""
        wanted = _sortable(scopes)
        known = _sortable(self.blocks[scopes.shape[1]]) if scopes.shape[1] in self.blocks else wanted[:0]
        if not len(known):
            return np.full(len(wanted), -1)
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.where(known[at] == wanted, at, -1)

    @property
    def scopes(self) -> Iterator[tuple[int, ...]]:
        """All scopes, smaller ones first."""
        for block in self.blocks.values():
            for scope in block.tolist():
                yield tuple(scope)

    @property
    def order(self) -> int:
        """Size of the largest scope."""
        return max(self.blocks, default=0)

    @cached_property
    def edges(self) -> Scopes:
        """Pairs of variables that share a scope, shape (edges, 2): the primal graph."""
        if self.is_saturated:
            return _all_scopes(self.n_variables, 2)
        pairs = [block[:, [a, b]] for size, block in self.blocks.items() for a, b in combinations(range(size), 2)]
        return distinct_rows(np.concatenate(pairs))[0] if pairs else np.empty((0, 2), np.int64)

    @property
    def adjacency(self) -> NDArray[np.bool_]:
        """The primal graph as a symmetric matrix."""
        adjacency = np.zeros((self.n_variables, self.n_variables), bool)
        adjacency[tuple(self.edges.T)] = True
        return adjacency | adjacency.T

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Number of neighbours of each variable."""
        return np.bincount(self.edges.ravel(), minlength=self.n_variables)

    def to_graph(self, domain: Domain) -> networkx.Graph[Any]:
        """Return the primal graph, with nodes named as in the domain."""
        import networkx

        graph: networkx.Graph[Any] = networkx.Graph()
        graph.add_nodes_from(domain.names)
        names = domain.names
        graph.add_edges_from((names[a], names[b]) for a, b in self.edges.tolist())
        return graph

    def __repr__(self) -> str:
        larger = f", sets of up to {self.order} variables" if self.order > 2 else ""
        return f"<Structure: {self.n_variables:,} variables, {len(self.edges):,} edges{larger}>"

    def _repr_html_(self) -> str:
        return html_table(
            "Structure",
            {
                "variables": f"{self.n_variables:,}",
                "edges": f"{len(self.edges):,}",
                "scopes": f"{self.n_scopes:,}",
                "largest scope": f"{self.order} variables",
                "largest degree": f"{self.degrees.max(initial=0)}",
            },
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Structure):
            return NotImplemented
        return (
            self.n_variables == other.n_variables
            and self.blocks.keys() == other.blocks.keys()
            and all(np.array_equal(block, other.blocks[size]) for size, block in self.blocks.items())
        )

    __hash__ = None  # type: ignore[assignment]


class AllScopes(Mapping[int, Scopes]):
    """A mapping of all scopes by size, each size listed only when it is first read."""

    def __init__(self, n_variables: int) -> None:
        self.n_variables = n_variables
        self._listed: dict[int, Scopes] = {}

    def __getitem__(self, size: int) -> Scopes:
        if not 1 <= size <= self.n_variables:
            raise KeyError(size)
        if size not in self._listed:
            _check_number(comb(self.n_variables, size), size, self.n_variables)
            block = _all_scopes(self.n_variables, size)
            block.flags.writeable = False
            self._listed[size] = block
        return self._listed[size]

    def __iter__(self) -> Iterator[int]:
        return iter(range(1, self.n_variables + 1))

    def __len__(self) -> int:
        return self.n_variables


_WIDEST_CLOSED = 16  # 65,535 subsets
_MOST_SCOPES = 50_000_000  # 0.4 to 1 GB of scope numbers; with more, later arrays would not fit into memory


def _check_number(n_scopes: int, order: int, n_variables: int) -> None:
    if n_scopes > _MOST_SCOPES:
        raise StructureError(
            f"The scopes of up to {order} of {n_variables} variables are {min(n_scopes, 10**300):.2g}; the limit is "
            f"{_MOST_SCOPES:.0g}. Use a lower order or name the scopes."
        )


def _sortable(scopes: Scopes) -> NDArray[np.bytes_]:
    """Return every row as one byte string that sorts as the row does."""
    big_endian = np.ascontiguousarray(scopes, ">i8")
    return big_endian.view(f"S{8 * scopes.shape[1]}").ravel()


def _all_scopes(n_variables: int, size: int) -> Scopes:
    if size == 1:
        return np.arange(n_variables)[:, None]
    if size == 2:
        return np.stack(np.triu_indices(n_variables, 1), axis=1)
    count = comb(n_variables, size)
    flat = (i for scope in combinations(range(n_variables), size) for i in scope)
    return np.fromiter(flat, np.int64, count * size).reshape(count, size)
