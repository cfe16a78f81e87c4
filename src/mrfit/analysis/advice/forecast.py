"""Forecast of the memory, the passes over the rows and the time that work on a table takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from mrfit.data.preview import FirstLook

# Measured (docs/scale.md says by which benchmarks, on which machine), in seconds and bytes.
_PATH_VALUE, _PATH_BYTES = 5e-7, 15.0  # l1 paths with up to 6 neighbours, a value of a distinct row
_PATH_SHARED = 3e-6  # the same from lists: a pair of items in one row
_CELLS_VALUE, _ACTIVE_BYTES = 2.5e-8, 8.0  # the cells of a sparse structure, a value; a value that is not the first
_PIECES, _PIECE_VALUE = 6e7, 8.0  # bytes of the pieces that a table is read in, at most; of a value in them
_LIST_COLUMN, _LIST_ENTRY = 2.5e-4, 1e-6  # the same from lists, a column; an entry of it or of a neighbour
_PRODUCT, _CELL_BYTES = 1.3e-10, 38.0  # a pass over the cells of all pairs, a cell and column; a cell
_PASSES = 230  # of a fit of all pairs: evaluations and products


@dataclass(frozen=True)
class ForecastStep:
    """One piece of work; ``passes`` over the rows or what they were reduced to."""

    name: str
    command: str
    passes: int
    bytes: float
    seconds: float


@dataclass(frozen=True)
class Forecast:
    """Steps that may be taken with a table, each with what it takes on one processor, and the memory there is."""

    look: FirstLook
    memory: float
    steps: tuple[ForecastStep, ...]

    @classmethod
    def of(cls, look: FirstLook, memory: float) -> Forecast:
        return cls(look, memory, tuple(_of_lists(look) if look.is_lists else _of_codes(look)))

    def fits(self, step: ForecastStep) -> bool:
        return step.bytes <= self.memory

    def to_dict(self) -> dict[str, Any]:
        return {
            **asdict(self.look),
            "memory": self.memory,
            "steps": [{**asdict(step), "data_passes": step.passes, "fits": self.fits(step)} for step in self.steps],
        }


def _of_codes(look: FirstLook) -> Iterator[ForecastStep]:
    rows = look.share_distinct * look.n_rows
    values = rows * look.n_columns
    held = look.n_bytes_needed + min(_PIECES, _PIECE_VALUE * look.n_rows * look.n_columns)
    yield ForecastStep("read", "", 1, held, look.seconds)
    path = "mrfit structure DATA --bound path --max-degree 5"
    yield ForecastStep("structure by l1 paths", path, 1, held + _PATH_BYTES * values, _PATH_VALUE * values)
    active = _ACTIVE_BYTES * look.share_distinct * look.n_entries
    edges = "mrfit fit DATA --structure edges:FILE"
    yield ForecastStep("fit of a sparse structure", edges, 1, held + active, _CELLS_VALUE * values)
    parts = "mrfit fit DATA --structure edges:FILE --in-parts"
    yield ForecastStep(
        "the same, rows not held", parts, 2, 1e8, 2 * look.seconds + _CELLS_VALUE * look.n_rows * look.n_columns
    )
    pairs = _PASSES * _PRODUCT * values * look.n_columns
    yield ForecastStep("fit of all pairs", "mrfit fit DATA", _PASSES, held + _CELL_BYTES * values, pairs)


def _of_lists(look: FirstLook) -> Iterator[ForecastStep]:
    held = look.n_bytes_needed
    yield ForecastStep("read", "", 1, held, look.seconds)
    path = "mrfit structure DATA --bound path --max-degree 5"
    yield ForecastStep("structure by l1 paths", path, 1, held, _PATH_SHARED * look.n_shared)
    cells = _LIST_COLUMN * look.n_columns + _LIST_ENTRY * look.n_entries
    yield ForecastStep("fit of a sparse structure", "mrfit fit DATA --structure edges:FILE", 1, held, cells)
