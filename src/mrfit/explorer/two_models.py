"""Two models of the same variables on one page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mrfit.analysis.model_comparison import ComparedScores, common_scores
from mrfit.core.domain import Domain
from mrfit.core.factors import Factors
from mrfit.data.unique_rows import UniqueRows
from mrfit.explorer.document import Document, short_number
from mrfit.explorer.finite_weights import finite_matrix
from mrfit.explorer.node_positions import Places
from mrfit.formats.mrf_network import to_model
from mrfit.model.factor_network import FactorNetwork
from mrfit.model.markov_network import MarkovNetwork
from mrfit.parameterizations.edge_tables import edge_weights
from mrfit.structures.edge_weights import unit_of

_OF_ONE = ("title", "scopes", "plan", "marginals", "parameters", "learned", "rows")


def document_of_two(
    a: MarkovNetwork,
    b: MarkovNetwork,
    *,
    titles: tuple[str, str],
    scores: ComparedScores | None = None,
    rows: UniqueRows | None = None,
    seed: int = 0,
) -> Document:
    """Return the document of A with all edges of both models in a common layout, and under ``other`` the parts of B.

    The states of all variables must be the same, as `mrfit.analysis.model_comparison.compare` checks. ``rows`` in the
    coding of A give frequencies.
    """
    b = in_order_of(a.domain, b)
    common, _ = common_scores(a, b)
    weighed = [edge_weights(model.parameters, model.w, common) for model in (a, b)]
    one, other = (finite_matrix(edges, len(a.domain)) for edges in weighed)
    places = Places.of(np.maximum(np.abs(one), np.abs(other)))
    first, second = (
        Document.of(model, title=title, rows=rows, places=places, seed=seed).content
        for model, title in zip((a, b), titles, strict=True)
    )
    edges = np.argwhere(np.triu((one != 0) | (other != 0))).tolist()
    of_b: dict[str, Any] = {name: second[name] for name in _OF_ONE}
    of_b |= {"weights": [short_number(other[i, j]) for i, j in edges]}
    of_b |= {"compared": None if scores is None else scores.to_dict()}
    shown = {
        "variables": [
            each | {"ordered": known is not None} for each, known in zip(first["variables"], common, strict=True)
        ],
        "edges": [[i, j, short_number(one[i, j])] for i, j in edges],
        "edge_weight": unit_of(np.concatenate([edges.kinds for edges in weighed])),
    }
    return Document({**first, **shown, "other": of_b})


def in_order_of(domain: Domain, model: MarkovNetwork) -> MarkovNetwork:
    """Return the same model with its variables in another order."""
    if model.domain.names == domain.names:
        return model
    factors = model.factors
    numbers = [domain.index(name) for name in model.domain.names]
    scopes = (tuple(numbers[i] for i in scope) for scope in factors.scopes)
    turned = to_model(
        FactorNetwork(domain, Factors.from_tables(domain.shape, zip(scopes, factors.tables, strict=True)))
    )
    return replace(turned, provenance={"scores": model.ordered_scores})
