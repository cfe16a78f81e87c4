"""What a reader of a learned structure should know besides its edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.errors import listed
from mrfit.structure.mutual_information import pairwise_mutual_information
from mrfit.structure.node_paths import NodePath


def at_the_end(domain: Domain, variables: Sequence[int], weakest: float) -> str:
    """Of variables whose criterion was best at the last point of their path."""
    names = listed([domain.names[i] for i in variables])
    return (
        f"The criterion of {len(variables)} of {len(domain)} variables was still falling at the weakest strength "
        f"tried, {weakest:g} of the critical one: {names}. Nearly everything helps to predict them, or something "
        "predicts them perfectly."
    )


def nothing_selected(
    rows: UniqueRows, select: str, paths: list[NodePath], chosen: NDArray[np.bool_], *, price: float
) -> str:
    """Why there are no edges; ``price`` is that of one coefficient, for the EBIC."""
    if chosen.any():
        return (
            f"No edges: {chosen.sum()} neighbours were chosen, but none by both variables of a pair; rule 'or' joins."
        )
    critical = max((path.critical for path in paths), default=0.0)
    if select == "degree" or critical == 0.0:
        return "No edges: no variable helps to predict another."
    if select == "ebic":
        return f"No edges: {_price_and_gain(rows, paths, price)}"
    if select == "valid":
        return "No edges: held-out rows are predicted best without any neighbour."
    return f"No edges: the strength is not below the largest critical one, {critical:.4g}."


def _price_and_gain(rows: UniqueRows, paths: list[NodePath], price: float) -> str:
    """What the most promising pair lowers 2 loss by, and what its coefficients cost."""
    best = (-np.inf, "")
    for path in paths:
        first = next((point for point in path.points if len(point.selected)), None)
        if first is not None:
            pair = rows.on_columns(sorted([path.variable, int(first.selected[0])]))
            gain = 2.0 * rows.total_weight * pairwise_mutual_information(pair)[0, 1]
            n = first.coefficients[0].size
            names = " - ".join(pair.domain.names)
            text = f"{names} lowers 2 x loss by {gain:.1f}, at a price of {n * price:.1f} ({n} x {price:.2f})."
            best = max(best, (gain - n * price, text))
    return best[1]
