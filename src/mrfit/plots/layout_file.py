"""Layout files: positions of variables, so that several networks can be drawn alike."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError, listed
from mrfit.formats.output_file import check_writable, write_output

SUFFIXES = (".csv", ".json")


def write_layout(path: str | Path, names: Sequence[str], positions: Floats) -> None:
    """Write positions, (variables, 2) with y upwards: ``name,x,y`` lines or ``{"name": [x, y], ...}``."""
    check_layout_path(path)
    entries = [(name, float(x), float(y)) for name, (x, y) in zip(names, positions, strict=True)]
    if Path(path).suffix.lower() == ".json":
        text = json.dumps({name: [x, y] for name, x, y in entries}, indent=1, ensure_ascii=False) + "\n"
    else:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerows([("name", "x", "y"), *entries])
        text = buffer.getvalue()
    write_output(path, text.encode(errors="replace"))


def read_layout(path: str | Path, names: Sequence[str]) -> Floats:
    """Read the positions of the variables ``names``, (variables, 2), from a layout file, which may have others."""
    _check_suffix(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"Cannot read the layout {str(path)!r}: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise InputError(f"The layout {str(path)!r} is not text in UTF-8; save it as that.") from None
    entries = _json_entries(text, path) if Path(path).suffix.lower() == ".json" else _csv_entries(text, path)
    positions: dict[str, tuple[float, float]] = {}
    for name, x, y in entries:
        if name in positions:
            raise InputError(f"The layout {str(path)!r} has two positions for {name!r}; leave one.")
        positions[name] = _position(name, x, y, path)
    missing = [name for name in names if name not in positions]
    if missing:
        raise InputError(
            f"The layout {str(path)!r} has no position for {listed(missing)}; add a line for each, or save a layout of "
            "these variables with --save-layout."
        )
    return np.array([positions[name] for name in names], np.float64).reshape(-1, 2)


def check_layout_path(path: str | Path) -> None:
    """Refuse a path to which `write_layout` could not write, before the work and not after it."""
    _check_suffix(path)
    check_writable(path)


def _check_suffix(path: str | Path) -> None:
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InputError(f"The name {Path(path).name!r} is not that of a layout; let it end in .csv or .json.")


def _json_entries(text: str, path: str | Path) -> Iterable[tuple[str, Any, Any]]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"The layout {str(path)!r} is not JSON ({error}).") from error
    if not isinstance(document, dict):
        raise InputError(f'The layout {str(path)!r} must look like {{"smoker": [0.5, 1.0], ...}}.')
    for name, position in document.items():
        if not isinstance(position, list) or len(position) != 2:
            raise InputError(f"The layout {str(path)!r} must give {name!r} two numbers, as in [0.5, 1.0].")
        yield name, position[0], position[1]


def _csv_entries(text: str, path: str | Path) -> Iterable[tuple[str, Any, Any]]:
    try:
        lines = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise InputError(f"The layout {str(path)!r} is not a CSV file ({error}).") from error
    for number, line in enumerate(lines, start=2):
        if not {"name", "x", "y"} <= line.keys():
            raise InputError(f"The layout {str(path)!r} must have columns name, x and y; its first line has others.")
        if line["name"] is None:
            raise InputError(f"Line {number} of the layout {str(path)!r} has no name.")
        yield line["name"], line["x"], line["y"]


def _position(name: str, x: Any, y: Any, path: str | Path) -> tuple[float, float]:
    try:
        position = float(x), float(y)
    except (TypeError, ValueError, OverflowError):
        position = np.nan, np.nan
    if not np.isfinite(position).all() or max(map(abs, position)) > 1e100:
        raise InputError(f"The layout {str(path)!r} puts {name!r} at {x!r}, {y!r}; a position is two finite numbers.")
    return position
