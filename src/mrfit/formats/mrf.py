"""The native model file: a zip of one JSON document and the arrays it speaks of.

    model.json    format, schema, library version, domain, parameterization, provenance
    arrays.npz    w, and scopes_<size> for every size of scope

No pickle anywhere. Archives carry fixed dates, so equal models are equal files.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._version import __version__
from mrfit.domain import Domain
from mrfit.errors import ModelFileError
from mrfit.formats.whole import write_whole
from mrfit.model import MarkovNetwork
from mrfit.parameterizations.canonical import Canonical
from mrfit.structure.structure import Structure

FORMAT = "mrfit model"
SCHEMA = 1
PARAMETERIZATION = {"name": "canonical", "reference": "first"}


def save(model: MarkovNetwork, path: str | Path) -> None:
    """Write ``model`` to ``path``, whole or not at all."""
    description = {
        "format": FORMAT,
        "schema": SCHEMA,
        "mrfit": __version__,
        "domain": model.domain.to_states(),
        "parameterization": PARAMETERIZATION,
        "provenance": dict(model.provenance),
    }
    arrays = {f"scopes_{size}": block.astype(np.int32) for size, block in model.structure.blocks.items()}
    packed_arrays, packed = io.BytesIO(), io.BytesIO()
    np.savez_compressed(packed_arrays, w=model.w, **arrays)  # type: ignore[arg-type]
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            zipfile.ZipInfo("model.json"),
            json.dumps(description, indent=1, ensure_ascii=False, allow_nan=False),
        )
        archive.writestr(zipfile.ZipInfo("arrays.npz"), packed_arrays.getvalue())
    write_whole(path, packed.getvalue())


def load(path: str | Path) -> MarkovNetwork:
    """Read a model; a damaged, foreign or newer file raises `ModelFileError`."""
    description, arrays = _opened(Path(path))
    try:
        if description["parameterization"] != PARAMETERIZATION:
            raise ValueError(f"unknown parameterization {description['parameterization']}")
        domain = Domain.from_states(description["domain"])
        blocks = {int(name.removeprefix("scopes_")): array for name, array in arrays.items() if name != "w"}
        structure = Structure.from_blocks(len(domain), blocks)
        if arrays["w"].dtype != np.float64:
            raise ValueError(f"parameters of type {arrays['w'].dtype}")
        return MarkovNetwork(Canonical(domain, structure), arrays["w"], dict(description["provenance"]))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ModelFileError(
            f"{path} is a mrfit model, but its parts do not fit together ({error}); it was altered or damaged."
        ) from error


def _opened(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    try:
        with zipfile.ZipFile(path) as archive:
            description = json.loads(archive.read("model.json"), parse_constant=_refuse_constant)
            _check_format(path, description)
            with np.load(io.BytesIO(archive.read("arrays.npz")), allow_pickle=False) as arrays:
                return description, dict(arrays)
    except ModelFileError:
        raise
    except FileNotFoundError:
        raise ModelFileError(f"There is no model file {path}; check the name.") from None
    except OSError as error:
        raise ModelFileError(f"Cannot read {path}: {error.strerror or error}.") from error
    # A damaged directory may ask for passwords (RuntimeError) or unknown methods (NotImplementedError, one of those).
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError, RuntimeError) as error:
        raise ModelFileError(
            f"{path} is not a model file of mrfit, or it is damaged ({error}); "
            "expected what `mrfit fit -o` or `model.save` wrote."
        ) from error


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _check_format(path: Path, description: Any) -> None:
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ModelFileError(f"{path} is a zip archive, but not a model file of mrfit.")
    if description.get("schema") != SCHEMA:
        raise ModelFileError(
            f"{path} has schema {description.get('schema')}, written by mrfit {description.get('mrfit')}; "
            f"this is mrfit {__version__}, which reads schema {SCHEMA}. Upgrade mrfit."
        )
