"""Remarks on a learned structure."""

from __future__ import annotations

from mrfit.core.domain import Domain
from mrfit.core.errors import listed
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.neighbour_selection import NeighbourSelection
from mrfit.structures.nodewise.neighbours import Neighbours


def remarks(rows: UniqueRows, selection: NeighbourSelection, neighbours: Neighbours, *, n_edges: int) -> list[str]:
    said = [_still_falling(rows.domain, neighbours)] if neighbours.at_end else []
    if neighbours.infinite:
        said.append(_at_infinity(rows.domain, neighbours.infinite))
    if n_edges == 0 and len(rows.domain) > 1:
        said.append(f"No edges: {_why_no_edges(rows, selection, neighbours)}")
    return [*said, *neighbours.remarks]


def _still_falling(domain: Domain, neighbours: Neighbours) -> str:
    """Name the variables whose criterion was best at the last point of their path."""
    variables = neighbours.at_end
    names = listed([domain.names[i] for i in variables])
    ends = [path.points[-1].strength / path.critical for path in neighbours.paths if path.variable in variables]
    return (
        f"The criterion of {len(variables)} of {len(domain)} variables was still falling at the weakest strength "
        f"tried, {min(ends):.1g} of the critical one: {names}. Nearly everything helps to predict them, or something "
        "predicts them perfectly."
    )


def _at_infinity(domain: Domain, variables: tuple[int, ...]) -> str:
    names = listed([domain.names[i] for i in variables])
    return (
        f"The refitted regressions of {len(variables)} of {len(domain)} variables have their optimum at infinity: "
        f"{names}. Some states never occur together; the sizes of such coefficients mean little."
    )


def _why_no_edges(rows: UniqueRows, selection: NeighbourSelection, neighbours: Neighbours) -> str:
    n_chosen = neighbours.chosen.sum()
    if n_chosen:
        return f"{n_chosen} neighbours were chosen, but none by both variables of a pair; rule 'or' joins."
    return selection.why_none(rows, neighbours.paths)
