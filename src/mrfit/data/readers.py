"""Files as batches of dictionary-encoded columns, read in pieces of bounded size."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.data.batch import Batch, Column, arrow_codes, check_names
from mrfit.data.delimited import delimited_pieces
from mrfit.errors import DataError, InputError, listed

# How text files spell a missing value.
MISSING_SPELLINGS = frozenset(("", "NA", "NaN", "nan", "null", "NULL", "N/A", "?", "*"))

_CELLS_PER_PIECE = 2**23
_ACCEPTED = ".csv, .tsv, .txt or .data (each also .gz), or .parquet"

_Header = bool | str


def read_batches(path: str | Path, *, weight: str | None = None, header: _Header = "auto") -> Iterator[Batch]:
    """The rows of a file, in pieces.

    Parameters
    ----------
    path
        Text separated by commas, tabs or semicolons (``.csv``, ``.tsv``, ``.txt``), a Libra/DEBD ``.data``
        file (commas, no header, rows may start with ``weight|``), each also gzipped, or a Parquet file.
    weight
        The column that holds row weights; it is not a variable.
    header
        Whether the first line of a delimited file names the columns; "auto" takes it for data if every field
        is a number. Columns without names are called v0, v1, ...
    """
    path = Path(path)
    kind = _kind(path, weight, header)
    with named_in_errors(path):
        n_rows = 0
        for piece in kind.pieces(path, header):
            if piece.num_rows:
                yield _batch(piece, kind, weight=weight, first_row=n_rows)
                n_rows += piece.num_rows
        if n_rows == 0:
            raise DataError(f"{path.name!r} names columns but has no rows; at least one is needed.")


@dataclass(frozen=True)
class _Kind:
    """How a kind of file is read; ``prefixed`` if its rows may start with ``weight|``."""

    pieces: Callable[[Path, _Header], Iterator[Any]]
    missing: frozenset[str] = MISSING_SPELLINGS
    prefixed: bool = False


def _kind(path: Path, weight: str | None, header: _Header) -> _Kind:
    if header not in ("auto", True, False):
        raise InputError(f"header={header!r} is not an option; use 'auto', True or False.")
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a directory; expected a file: {_ACCEPTED}.")
    if not path.exists():
        raise DataError(f"There is no file {str(path)!r}; check the path.")
    suffix = _suffix(path)
    if suffix not in _KINDS:
        raise DataError(f"{path.name!r} is of no known kind; expected {_ACCEPTED}. Rename or convert it.")
    kind = _KINDS[suffix]
    if kind.prefixed and weight is not None:
        raise DataError(
            f"weight={weight!r} does not apply to {path.name!r}: rows of .data files carry weights as "
            "'weight|' in front. Rename the file to .csv if a column holds the weights."
        )
    return kind


def _suffix(path: Path) -> str:
    """The suffix in lower case, without ``.gz`` on text files."""
    name = path.name.lower()
    return Path(name if name.endswith(".parquet.gz") else name.removesuffix(".gz")).suffix


def _libra(path: Path, header: _Header) -> Iterator[Any]:
    return delimited_pieces(path, False, delimiter=",")


def _parquet(path: Path, header: _Header) -> Iterator[Any]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
        check_names(names, source=repr(path.name))
        yield from file.iter_batches(batch_size=max(1, _CELLS_PER_PIECE // len(names)))


_KINDS = {
    ".csv": _Kind(delimited_pieces),
    ".tsv": _Kind(partial(delimited_pieces, delimiter="\t")),
    ".txt": _Kind(delimited_pieces),
    ".data": _Kind(_libra, prefixed=True),
    ".parquet": _Kind(_parquet, missing=frozenset()),
}


def _batch(piece: Any, kind: _Kind, *, weight: str | None, first_row: int) -> Batch:
    arrays = dict(zip(piece.schema.names, piece.columns, strict=True))
    columns: list[Column] = []
    sample_weight = None
    if weight is not None:
        if weight not in arrays:
            raise DataError(f"There is no weight column {weight!r}; the columns are {listed(arrays)}.")
        sample_weight = _weights(*arrow_codes(weight, arrays.pop(weight)), first_row)
    if kind.prefixed:
        first = piece.schema.names[0]
        codes, values = arrow_codes(first, arrays.pop(first))
        prefixes, values = _parted(values)
        sample_weight = _weights(codes, prefixes, first_row)
        columns = [Column.encoded(first, codes, values, missing=kind.missing)]
    columns += [Column.from_arrow(name, array, missing=kind.missing) for name, array in arrays.items()]
    return Batch(tuple(columns), sample_weight, first_row)


def _parted(fields: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Weights and values of fields ``weight|value``; a field without a weight weighs 1."""
    parts = [field.rpartition("|") for field in fields]
    return [weight if bar else "1" for weight, bar, _ in parts], [value for _, _, value in parts]


def _weights(codes: NDArray[np.int32], values: Sequence[object], first_row: int) -> NDArray[np.float64]:
    """Row weights, parsed once per distinct value; code -1 (null) finds the last entry."""
    weight = np.array([*map(_weight, values), np.nan])[codes]
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if wrong.size:
        value = [*values, None][codes[wrong[0]]]
        raise DataError(
            f"Row {first_row + wrong[0] + 1} has the weight {value!r}; weights must be finite numbers, not "
            "negative. Correct it or leave the row out."
        )
    return weight


def _weight(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")


@contextmanager
def named_in_errors(path: str | Path) -> Iterator[None]:
    """Say in one line, with the name of the file, what kept it from being read or understood."""
    import pyarrow as pa

    path = Path(path)
    try:
        yield
    except InputError as error:
        if path.name in str(error):
            raise
        raise DataError(f"{path.name!r}: {error}") from None
    except (pa.ArrowException, UnicodeDecodeError, csv.Error) as error:
        if "utf8" in str(error).lower().replace("-", ""):
            raise DataError(f"{path.name!r} is not UTF-8 text; save it with the encoding UTF-8.") from None
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path.name!r} cannot be read: {reason}. Check that it is what its name says.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{path.name!r} is damaged, cut short or not readable: {error}. Get the file again or check its "
            "permissions."
        ) from None
