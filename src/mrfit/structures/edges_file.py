"""Structures in text files: one scope per line, with names of variables."""

from __future__ import annotations

import csv
from pathlib import Path

from mrfit.core.domain import Domain
from mrfit.core.errors import StructureError, listed
from mrfit.structures.structure import Structure


def read_edges(path: str | Path, domain: Domain) -> Structure:
    """Read the structure of a comma- or tab-separated file with the variable names of one scope per line.

    Two names are an edge, more names are a higher-order scope. Lines that begin with ``#`` are comments. A header with
    the columns ``source`` and ``target`` restricts every line to those two. The structure contains all subsets of the
    scopes and all single variables.
    """
    scopes, columns = [], None
    for number, fields in _lines(Path(path)):
        if columns is None and {"source", "target"} <= set(fields):
            columns = [fields.index("source"), fields.index("target")]
            continue
        if columns is not None and len(fields) <= max(columns):
            raise StructureError(
                f"{Path(path).name}, line {number}: expected a source and a target, as its header says."
            )
        names = fields if columns is None else [fields[k] for k in columns]
        unknown = [name for name in names if name not in domain]
        if unknown:
            raise StructureError(
                f"{Path(path).name}, line {number}: there is no variable {unknown[0]!r}; "
                f"the variables are {listed(domain.names)}."
            )
        scopes.append([domain.index(name) for name in names])
    return Structure.from_scopes(len(domain), scopes)


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise StructureError(f"There is no edge file {str(path)!r}; check the path.") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise StructureError(f"Cannot read the edge file {str(path)!r}: {reason}.") from error
    lines = ((number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip())
    try:
        return [(number, _fields(line)) for number, line in lines if not line.lstrip().startswith("#")]
    except csv.Error as error:
        raise StructureError(f"Cannot read the edge file {str(path)!r}: {error}.") from error


def _fields(line: str) -> list[str]:
    delimiter = "\t" if "\t" in line else ","
    return [field.strip() for field in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))]
