"""Model card: variables, structure, strongest parameters, groups of tied parameters, and provenance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from mrfit.analysis.nodes.observed_numbers import Observed, finite
from mrfit.core.errors import InputError, listed
from mrfit.learning.learner import Learner
from mrfit.model.markov_network import MarkovNetwork

_CHOSEN_ON = {"valid": " chosen on validation rows", "folds": " chosen in cross-validation"}


@dataclass(frozen=True)
class GroupSummary:
    """One group of tied parameters; ``farthest`` is the largest distance of a member from the center."""

    center: float
    size: int
    farthest: float
    pinned: bool


@dataclass(frozen=True)
class ModelCard:
    """A model without its parameters, but for the strongest of each order.

    ``learned`` says in one line how the model was learned; None where its provenance does not tell. ``observed`` says
    what it carries of data and resamples; empty where nothing. ``unbounded`` has the limits of parameters without a
    finite estimate, whose values in ``strongest`` are where the solver stopped. ``edges`` are those with the largest
    edge weights, whose unit is ``edge_weight``.
    """

    domain: Mapping[str, list[str]]
    n_scopes: int
    n_edges: int
    n_parameters: int
    parameterization: Mapping[str, Any]
    meaning: str
    strongest: Mapping[int, tuple[tuple[str, float], ...]]
    groups: tuple[GroupSummary, ...] | None
    is_hard_tied: bool
    learned: str | None
    provenance: Mapping[str, Any]
    covariates: tuple[str, ...] = ()
    observed: str = ""
    unbounded: Mapping[str, str] = field(default_factory=dict)
    edges: tuple[Mapping[str, Any], ...] = ()
    edge_weight: str = ""

    @classmethod
    def of(cls, model: MarkovNetwork, *, top: int = 10) -> ModelCard:
        """Return the card with the ``top`` strongest parameters of each order, and as many edges."""
        return cls(
            domain=model.domain.to_states(),
            n_scopes=model.n_scopes,
            n_edges=model.n_edges,
            n_parameters=model.n_parameters,
            parameterization={"name": model.parameters.word, **model.parameters.options},
            meaning=model.parameters.meaning,
            strongest={order: tuple(model.strongest(top, order=order)) for order in model.structure.blocks},
            groups=_groups(model),
            is_hard_tied=model.is_hard_tied,
            learned=how_learned(model.provenance),
            provenance=model.provenance,
            covariates=model.covariates,
            observed=Observed.kept_with(model).describe(),
            unbounded=model.unbounded,
            edges=_edges(model, top),
            edge_weight=model.weighted_edges.unit,
        )

    @property
    def n_variables(self) -> int:
        return len(self.domain)

    def to_dict(self) -> dict[str, Any]:
        same = ("n_variables", "n_scopes", "n_edges", "n_parameters", "meaning", "is_hard_tied", "learned")
        strongest = {
            str(order): [{"name": name, "value": value, **self._limit(name)} for name, value in parameters]
            for order, parameters in self.strongest.items()
        }
        return {
            "domain": dict(self.domain),
            **{name: getattr(self, name) for name in same},
            "parameterization": dict(self.parameterization),
            "strongest": strongest,
            "edge_weight": self.edge_weight,
            "edges": [{**edge, "weight": finite(edge["weight"])} for edge in self.edges],
            "groups": None if self.groups is None else [asdict(group) for group in self.groups],
            "unbounded": dict(self.unbounded),
            "provenance": dict(self.provenance),
            **({"covariates": list(self.covariates), "given": list(self.covariates)} if self.covariates else {}),
        }

    def _limit(self, name: str) -> dict[str, str]:
        return {"limit": self.unbounded[name]} if name in self.unbounded else {}


def _edges(model: MarkovNetwork, top: int) -> tuple[Mapping[str, Any], ...]:
    """Edges with the largest weights; ``unbounded`` where a parameter of their two variables has no finite estimate."""
    edges, names, unbounded = model.weighted_edges, model.domain.names, set()
    if model.unbounded:
        numbers = (k for k, name in enumerate(model.parameters.names()) if name in model.unbounded)
        unbounded = {model.parameters.scope(k) for k in numbers}
    found = []
    for k in np.argsort(-np.abs(edges.values), kind="stable").tolist()[:top]:
        a, b = edges.edges[k].tolist()
        if edges.values[k]:
            found.append(
                {
                    "source": names[a],
                    "target": names[b],
                    "weight": float(edges.values[k]),
                    "has_sign": bool(edges.has_sign[k]),
                    "unbounded": (a, b) in unbounded or not np.isfinite(edges.values[k]),
                }
            )
    return tuple(found)


def how_learned(provenance: Mapping[str, Any]) -> str | None:
    """One line of words: "structure learned (at most 5 neighbours), l1, strength 4 chosen on validation rows".

    None where a provenance does not hold a learner that this version knows: models come from elsewhere too.
    """
    description, penalty = provenance.get("learner"), provenance.get("penalty")
    if not isinstance(description, dict) or not isinstance(penalty, dict):
        return None
    try:
        learner = Learner.from_dict(description)
    except InputError:
        return None
    groups = f", {penalty['groups']} groups" if "groups" in penalty else ""
    chosen = _CHOSEN_ON.get(str(provenance.get("chosen_on")), "")
    strength = penalty.get("strength")
    shown = f"{strength:g}" if isinstance(strength, int | float) else strength
    how = "no penalty" if strength == 0 else f"{learner.penalty.word}, strength {shown}{groups}{chosen}"
    covariates = f", covariates {listed(learner.covariates)}" if learner.covariates else ""
    return f"{learner.structure.describe()}, {how}, by {learner.objective.word}{covariates}"


def _groups(model: MarkovNetwork) -> tuple[GroupSummary, ...] | None:
    groups = model.groups
    if groups is None:
        return None
    tied, farthest = groups.assignment >= 0, np.zeros(groups.n_groups)
    np.maximum.at(farthest, groups.assignment[tied], abs(model.w - groups.tied(model.w))[tied])
    columns = zip(groups.centers, groups.sizes, farthest, groups.pinned, strict=True)  # type: ignore[arg-type]
    return tuple(
        GroupSummary(float(center), int(size), float(far), bool(pinned)) for center, size, far, pinned in columns
    )
