"""Files of `mrfit stability`: the share of resamples with each edge."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError, listed

_COLUMNS = ("source", "target", "inclusion", "low", "high")


@dataclass(frozen=True)
class EdgeStability:
    """Share of resamples that have an edge, and the range of its weight in them."""

    inclusion: float
    low: float
    high: float


def read_stability(path: str | Path, domain: Domain) -> dict[tuple[int, int], EdgeStability]:
    """Read the stability of pairs of variables a < b; pairs without a line are in no resample."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            lines, header = list(reader), reader.fieldnames or ()
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"Cannot read the stability of edges {str(path)!r}: {reason}.") from error
    if absent := [name for name in _COLUMNS if name not in header]:
        raise InputError(
            f"The stability of edges {str(path)!r} has no column {listed(absent)}; write it by mrfit stability -o."
        )
    found: dict[tuple[int, int], EdgeStability] = {}
    for place, line in enumerate(lines, 2):
        pair, stability = _edge(line, domain, f"{path}, line {place}")
        if pair in found:
            raise InputError(f"{path}, line {place}: this pair has a line already; leave one.")
        found[pair] = stability
    return found


def _edge(line: Mapping[str, str | None], domain: Domain, where: str) -> tuple[tuple[int, int], EdgeStability]:
    ends = [line[name] or "" for name in ("source", "target")]
    if unknown := [name for name in ends if name not in domain]:
        raise InputError(f"{where}: the model has no variable {unknown[0]!r}; give resamples of the same variables.")
    a, b = sorted(map(domain.index, ends))
    try:
        stability = EdgeStability(*(float(line[name] or "") for name in _COLUMNS[2:]))
    except ValueError as error:
        raise InputError(f"{where}: {error}; expected the share of resamples and a range.") from None
    if a == b or not 0.0 <= stability.inclusion <= 1.0 or not stability.low <= stability.high:
        raise InputError(f"{where}: expected two variables, a share from 0 to 1, and a range from low to high.")
    return (a, b), stability
