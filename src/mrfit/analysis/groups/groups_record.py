"""Record of a comparison of groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mrfit._renamed import with_former_keys
from mrfit._typing import Floats
from mrfit.analysis.groups.compare_groups import GroupComparison
from mrfit.analysis.groups.groups_plot import draw_groups, groups_layout
from mrfit.analysis.stability.case_dropping import incidence
from mrfit.analysis.stability.resampled_networks import pairs_of
from mrfit.model.wald import WaldTest, adjusted_p

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVEL = 0.05  # of the adjusted p of an edge


@dataclass(frozen=True)
class ComparedGroups:
    """A pair of variables, or one variable, in all groups.

    ``values`` are weights of a pair, or sums of a variable's absolute weights. ``difference`` is the second less the
    first of two groups, else the largest less the smallest. Tests that were not made have NaN; ``adjusted`` is p for
    the number of pairs or of variables.
    """

    variables: tuple[str, ...]
    values: tuple[float, ...]
    difference: float
    wald_p: float
    wald_adjusted: float
    permutation_p: float
    permutation_adjusted: float
    has_sign: bool = True  # node strengths have none, nor have the weights of categories

    @property
    def adjusted(self) -> float:
        """Adjusted p of the Wald test, or of the permutations where there is no Wald test."""
        return self.permutation_adjusted if np.isnan(self.wald_p) else self.wald_adjusted

    def to_dict(self) -> dict[str, Any]:
        names = ("source", "target") if len(self.variables) == 2 else ("variable",)
        what = "weights" if len(self.variables) == 2 else "node_strengths"
        tests = ("difference", "wald_p", "wald_adjusted", "permutation_p", "permutation_adjusted")
        record = {
            **dict(zip(names, self.variables, strict=True)),
            what: list(self.values),
            **{name: getattr(self, name) for name in tests},
        }
        return with_former_keys(record, node_strengths="strengths")


@dataclass(frozen=True, eq=False)
class GroupsSummary:
    """``edges`` are the pairs that are joined in some group, ``nodes`` all variables; most different first."""

    comparison: GroupComparison
    edges: tuple[ComparedGroups, ...]
    nodes: tuple[ComparedGroups, ...]

    @classmethod
    def of(cls, comparison: GroupComparison) -> GroupsSummary:
        names, weights = comparison.names, comparison.weights
        pairs = [(names[a], names[b]) for a, b in pairs_of(len(names)).tolist()]
        finite = np.where(np.isfinite(weights), np.abs(weights), 0.0)
        strengths = np.where(np.isinf(weights) @ incidence(len(names)) > 0, np.inf, finite @ incidence(len(names)))
        shuffled, wald = comparison.permutations, comparison.wald
        signed = np.ones(len(pairs), bool) if comparison.has_sign is None else comparison.has_sign
        edges = _compared(
            pairs, weights, () if wald is None else wald.edges, None if shuffled is None else shuffled.p_edges, signed
        )
        nodes = _compared(
            [(name,) for name in names],
            strengths,
            () if wald is None else wald.nodes,
            None if shuffled is None else shuffled.p_strengths,
            np.zeros(len(names), bool),
        )
        return cls(comparison, tuple(edge for edge in edges if any(edge.values)), nodes)

    @property
    def n_failed(self) -> int:
        return sum(self.failures.values())

    @property
    def failures(self) -> Mapping[str, int]:
        shuffled = self.comparison.permutations
        return {} if shuffled is None else shuffled.failures

    @property
    def difference_network(self) -> Floats:
        """``difference`` of all pairs, in the order of `pairs_of`."""
        return np.array([_difference(values) for values in self.comparison.weights.T])

    @property
    def signed_panels(self) -> NDArray[np.bool_]:
        """Whether weights have a sign, (groups and their difference, pairs); a difference always has one."""
        found = self.comparison
        own = np.ones(found.weights.shape[1], bool) if found.has_sign is None else found.has_sign
        return np.stack([*[own] * len(found.labels), np.ones_like(own)])

    @property
    def faint_panels(self) -> NDArray[np.bool_]:
        """Pairs drawn in grey, (groups and their difference, pairs): differences with an adjusted p above 0.05.

        Where no test compares edges, all differences keep their colours.
        """
        found = self.comparison
        adjusted = {edge.variables: edge.adjusted for edge in self.edges}
        pairs = [(found.names[a], found.names[b]) for a, b in pairs_of(len(found.names)).tolist()]
        p = np.array([adjusted.get(pair, np.nan) for pair in pairs])
        faint = np.zeros((len(found.labels) + 1, len(pairs)), bool)
        faint[-1] = ~(p <= LEVEL) & ~np.isnan(p).all()
        return faint

    @property
    def panels(self) -> list[tuple[str, Floats]]:
        """Headings and weights of the networks in the picture: all groups, and their difference."""
        found = self.comparison
        sizes = zip(found.labels, found.sizes, found.weights, strict=True)
        groups = [(f"{found.by} = {label} ({size:,.0f} rows)", weights) for label, size, weights in sizes]
        what = f"difference {found.labels[1]} - {found.labels[0]}" if len(found.labels) == 2 else "largest - smallest"
        heading = f"{what}; adjusted p ≤ {LEVEL} for {self.n_different():,} of {len(self.edges):,} edges"
        return [*groups, (heading, self.difference_network)]

    def layout(self, layout: str | Floats = "force") -> Floats:
        """Return the positions of the variables in the picture, (variables, 2): by the mean of all panels, or given."""
        return groups_layout(self.comparison.names, self.panels, layout)

    def figure(self, *, layout: str | Floats = "force", title: str | None = None) -> Figure:
        """Draw all groups and their difference on one layout and one scale; differences that may be chance are grey."""
        found = self.comparison
        return draw_groups(
            found.names,
            self.panels,
            self.layout(layout),
            title=title,
            signed=self.signed_panels,
            faint=self.faint_panels,
            unit=found.unit,
        )

    def n_different(self, level: float = LEVEL) -> int:
        """Edges whose adjusted p is at most that."""
        return sum(edge.adjusted <= level for edge in self.edges)

    def to_dict(self) -> dict[str, Any]:
        found = self.comparison
        return {
            "by": found.by,
            "groups": [
                {"label": label, "n_rows": size} for label, size in zip(found.labels, found.sizes.tolist(), strict=True)
            ],
            "wald": None if found.wald is None else _without_variables(found.wald.whole),
            "likelihood": None if found.likelihood is None else found.likelihood.to_dict(),
            "permutations": self._permutations(),
            "remarks": list(found.remarks) + ([] if found.wald is None else list(found.wald.remarks)),
            "edge_weight": found.unit,
            "edges": [edge.to_dict() for edge in self.edges],
            "nodes": [node.to_dict() for node in self.nodes],
        }

    def _permutations(self) -> dict[str, Any] | None:
        shuffled = self.comparison.permutations
        if shuffled is None:
            return None
        return {
            "n": shuffled.n,
            "n_failed": self.n_failed,
            "failures": dict(self.failures),
            "M": float(shuffled.observed.largest),
            "p_M": shuffled.p_largest,
            "S": float(shuffled.observed.total),
            "p_S": shuffled.p_total,
            "global_strengths": np.abs(self.comparison.weights).sum(axis=1).tolist(),
        }


def _without_variables(test: WaldTest) -> dict[str, Any]:
    return {name: value for name, value in test.to_dict().items() if name not in ("variables", "adjusted")}


def _compared(
    keys: Sequence[tuple[str, ...]],
    values: Floats,
    tests: tuple[WaldTest, ...],
    shuffled: Floats | None,
    has_sign: NDArray[np.bool_],
) -> tuple[ComparedGroups, ...]:
    wald = {test.variables: test for test in tests}
    permuted = np.full(len(keys), np.nan) if shuffled is None else shuffled
    adjusted = adjusted_p(permuted)
    found = [
        ComparedGroups(
            key,
            tuple(values[:, k].tolist()),
            _difference(values[:, k]),
            wald[key].p if key in wald else np.nan,
            wald[key].adjusted if key in wald else np.nan,
            float(permuted[k]),
            float(adjusted[k]),
            bool(has_sign[k]),
        )
        for k, key in enumerate(keys)
    ]
    order = sorted(range(len(found)), key=lambda k: (-abs(found[k].difference), k))
    return tuple(found[k] for k in order)


def _difference(values: Floats) -> float:
    if values.max() == values.min():
        return 0.0
    return float(values[1] - values[0] if len(values) == 2 else values.max() - values.min())
