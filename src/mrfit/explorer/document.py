"""The document: all that the page knows of a model, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.edge_weights import EdgeWeights
from mrfit.explorer.finite_weights import finite_matrix
from mrfit.explorer.first_answer import FirstAnswer
from mrfit.explorer.page_plan import page_plan
from mrfit.explorer.places import Places
from mrfit.formats.stability_file import EdgeStability
from mrfit.inference.tree_plan import TreePlan
from mrfit.model import MarkovNetwork
from mrfit.summaries.model_card import how_learned
from mrfit.summaries.observed import Observed, Stability, finite

FORMAT = "mrfit explorer"
SCHEMA = 1

_NEVER = EdgeStability(0.0, 0.0, 0.0)  # of pairs that no resample joins
_MOST_STARTS = 512  # distinct rows from which chains may begin
_DRAWN_STARTS = 32  # one for each of them


@dataclass(frozen=True)
class Document:
    """A model for the page; no row of data is in it, only how frequent each state was.

    ======================= ====================================================================================
    ``variables``           name, states, whether these have scores, without which edges have no sign, and, where data
                            were given or the model carries what they say, the frequency of each state and the
                            share of the deviance that the other variables explain
    ``edges``               [a, b, weight]: the edge weight (`mrfit.edge_weights`); where there were resamples, with
                            [share of them that have it, range of its weight: low, high]
    ``edge_weight``         name of the unit of the weights
    ``scopes``              [variables, table]: log p is their sum; null for minus infinity; last variable fastest
    ``layout, community``   see `Places`
    ``parameters``          how many of each order, how many are not zero, and their mean size
    ``groups``              centers and sizes of tied groups, the value of every tied parameter
    ``scores``              of the data that were given, or of those that the model carries
    ``plan``                how the page answers: ``exact`` with an order of elimination, or ``sampled``
    ``marginals``           before anything is known, with their standard ``errors`` (null where exact) and twice the
                            largest of them
    ``other``               a second model, see `mrfit.explorer.two_models`
    ======================= ====================================================================================
    """

    content: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        model: MarkovNetwork,
        *,
        title: str,
        rows: UniqueRows | None = None,
        stability: Stability | None = None,
        places: Places | None = None,
        edges: EdgeWeights | None = None,
        seed: int = 0,
    ) -> Document:
        """``rows`` in the model's coding give frequencies, a score, and states for chains to begin in.

        Without them, and without ``stability``, what the model carries is shown. ``edges`` by default have the weights
        of the model.
        """
        model.check_no_covariates("The explorer shows")
        observed = Observed.of(model, rows=rows, stability=stability)
        edges = model.weighted_edges if edges is None else edges
        weights = finite_matrix(edges, len(model.domain))
        places = places or Places.of(weights)
        plan = page_plan(model, seed=seed)
        first = FirstAnswer.of(model, plan, codes=starting_rows(rows, observed), seed=seed)
        return cls(
            {
                "format": FORMAT,
                "schema": SCHEMA,
                "title": title,
                "variables": _variables(model, observed),
                "edges": _edges(weights, observed.edges),
                "edge_weight": edges.unit,
                "scopes": _scopes(model),
                "layout": np.round(places.positions, 4).tolist(),
                "community": places.community.tolist(),
                "parameterization": model.parameters.word,
                "meaning": model.parameters.meaning,
                "parameters": _by_order(model),
                "groups": _groups(model),
                "scores": [each.to_dict() for each in observed.scores],
                "learned": how_learned(model.provenance),
                "rows": _learned_from(model),
                "plan": _engine(plan),
                "marginals": {
                    "values": first.marginals,
                    "error": finite(first.error),
                    "errors": first.errors,
                    "remarks": list(first.remarks),
                },
            }
        )

    def to_json(self) -> str:
        """ASCII in which nothing can end a script element, whatever names hold."""
        return _json(self.content)

    def in_two_parts(self) -> tuple[str, str]:
        """The same without ``scopes``, and these: most of a large document, and no first picture needs them."""
        rest = {name: part for name, part in self.content.items() if name != "scopes"}
        return _json(rest), _json(self.content["scopes"])


def _json(content: Any) -> str:
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def starting_rows(rows: UniqueRows | None, observed: Observed, *, seed: int = 0) -> NDArray[Any] | None:
    """Rows near which chains may begin: of the data; or drawn by how frequent each state was in them."""
    if rows is not None and rows.is_complete:
        return rows.codes[:_MOST_STARTS]
    if observed.variables is None:
        return None
    u = np.random.default_rng(seed).random((_DRAWN_STARTS, len(observed.variables)))
    below = [np.searchsorted(np.cumsum(of.frequency)[:-1], u[:, v]) for v, of in enumerate(observed.variables)]
    return np.stack(below, axis=1)


def _variables(model: MarkovNetwork, observed: Observed) -> list[dict[str, Any]]:
    told = [
        {"name": variable.name, "states": list(variable.states), "ordered": scores is not None}
        for variable, scores in zip(model.domain, model.state_scores, strict=True)
    ]
    if observed.variables is None:
        return told
    return [
        each | {"frequency": [short_number(share) for share in seen.frequency], "explained": finite(seen.explained)}
        for each, seen in zip(told, observed.variables, strict=True)
    ]


def _edges(weights: NDArray[np.float64], stability: Stability | None) -> list[list[Any]]:
    told = []
    for a, b in np.argwhere(np.triu(weights)).tolist():
        edge: list[Any] = [a, b, short_number(weights[a, b])]
        if stability is not None:
            of_it = stability.get((a, b), _NEVER)
            edge.append(
                [short_number(of_it.inclusion), finite(short_number(of_it.low)), finite(short_number(of_it.high))]
            )
        told.append(edge)
    return told


def _scopes(model: MarkovNetwork) -> list[list[Any]]:
    factors = model.factors
    tables = (table.tolist() for table in factors.tables)
    if factors.has_impossible_states:
        tables = (list(map(finite, table)) for table in tables)
    return [[list(scope), table] for scope, table in zip(factors.scopes, tables, strict=True)]


def _by_order(model: MarkovNetwork) -> list[dict[str, Any]]:
    orders, size = model.parameters.order_of_parameter, np.abs(model.w)
    size = np.where(np.isfinite(size), size, np.nan)
    return [
        {
            "order": int(order),
            "count": int((orders == order).sum()),
            "nonzero": int(np.count_nonzero(model.w[orders == order])),
            "size": float(np.nan_to_num(np.nanmean(size[orders == order]))),
        }
        for order in np.unique(orders)
    ]


def _groups(model: MarkovNetwork) -> dict[str, Any] | None:
    groups = model.groups
    if groups is None:
        return None
    tied = groups.assignment >= 0
    return {
        "centers": np.asarray(groups.centers, np.float64).tolist(),
        "sizes": np.asarray(groups.sizes).tolist(),
        "values": [float(f"{value:.5g}") for value in np.unique(model.w[tied])],
        "equal": model.is_hard_tied,
    }


def _learned_from(model: MarkovNetwork) -> int | None:
    data = model.provenance.get("data")
    rows = data.get("rows") if isinstance(data, dict) else None
    return int(rows) if isinstance(rows, int | float) else None


def _engine(plan: TreePlan | None) -> dict[str, Any]:
    if plan is None:
        return {"engine": "sampled"}
    return {"engine": "exact", "order": list(plan.order), "cells": plan.n_cells}


def short_number(value: float) -> float:
    """With as many digits as anybody sees."""
    return float(f"{value:.6g}")
