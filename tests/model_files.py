"""Model files taken apart and put together again, sound but for what a test changes."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mrfit.formats import mrf


def parts_of(path: Path) -> dict[str, bytes]:
    """All parts but the checksum."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name != "sha256"}


def write_parts(path: Path, parts: Mapping[str, bytes], *, checksum: str | None = None, compression: int = 0) -> None:
    """An archive of these parts, with the right checksum unless another is given."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
        archive.writestr("sha256", mrf._checksum(parts) if checksum is None else checksum)


def npy(array: Any) -> bytes:
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def npy_header(shape: tuple[int, ...], dtype: str = "<f8") -> bytes:
    """An array file that ends where its numbers should begin."""
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"shape": shape, "fortran_order": False, "descr": dtype})
    return content.getvalue()


def rewrite(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object], target: Path | None = None) -> None:
    """Change the description and the arrays of a model file."""
    parts = parts_of(path)
    description = json.loads(parts.pop("model.json"))
    arrays = {name.removesuffix(".npy"): np.load(io.BytesIO(part)) for name, part in parts.items()}
    change(description, arrays)
    packed = {f"{name}.npy": npy(array) for name, array in arrays.items()}
    write_parts(target or path, {"model.json": json.dumps(description).encode(), **packed})
