"""The native model file: a zip of one JSON document, the arrays it refers to, and a checksum of them all.

    model.json        format, schema, library version, domain, parameterization, provenance, covariates (given)
    scopes_<size>.npy for every size of scope
    w.npy             parameters; for tied ones also group.npy, centers.npy, and pinned.npy: which are pinned at zero.
                      Where all members equal their center, w has only the others.
    covariance.npy    of the estimates, where their errors are known; model.json has the rest of these
    sha256            of the names, lengths and contents of all parts above, in hexadecimal

There is no pickle and no compression: a file is as large as its content, so its size bounds the memory for opening it.
Archives carry fixed dates, so equal models give equal files.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mrfit._version import __version__
from mrfit.core.domain import Domain
from mrfit.core.errors import ModelFileError
from mrfit.formats.output_file import write_output
from mrfit.model.markov_network import MarkovNetwork
from mrfit.model.standard_error_estimates import StandardErrors
from mrfit.parameterizations.groups import Groups
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.registry import PARAMETERIZATIONS
from mrfit.structures.structure import Structure

FORMAT = "mrfit model"
SCHEMA = 2

_OF_ERRORS = ("kind", "effective_parameters", "claic", "clbic", "remarks")
_DESCRIPTION, _CHECKSUM = "model.json", "sha256"
_MAGIC = b"PK\x03\x04"
_ARRAY_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(rb"\{'descr': '([<|][fib][1248])', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \} *\n")


def save(model: MarkovNetwork, path: str | Path) -> None:
    """Write ``model`` to ``path`` atomically."""
    write_output(path, to_bytes(model))


def to_bytes(model: MarkovNetwork) -> bytes:
    """Return the content of a model file."""
    description = {
        "format": FORMAT,
        "schema": SCHEMA,
        "mrfit": __version__,
        "domain": model.domain.to_states(),
        "parameterization": {"name": model.parameters.word, **model.parameters.options},
        "provenance": dict(model.provenance),
        **({"given": list(model.covariates)} if model.covariates else {}),
    }
    arrays: dict[str, NDArray[Any]] = {
        f"scopes_{size}": block.astype(np.int32) for size, block in model.structure.blocks.items()
    }
    arrays |= _parameter_arrays(model)
    if model.errors is not None:
        described = {name: getattr(model.errors, name) for name in _OF_ERRORS}
        description["errors"] = {name: None if value != value else value for name, value in described.items()}
        arrays["covariance"] = model.errors.covariance
    parts = {_DESCRIPTION: json.dumps(description, allow_nan=False).encode()}
    parts |= {f"{name}.npy": _packed(array) for name, array in arrays.items()}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for name, part in (parts | {_CHECKSUM: _checksum(parts).encode()}).items():
            archive.writestr(zipfile.ZipInfo(name), part)
    return content.getvalue()


def load(path: str | Path) -> MarkovNetwork:
    """Read a model from a file or a pipe; a damaged, foreign or newer file raises `ModelFileError`."""
    try:
        with Path(path).open("rb") as file:
            return from_stream(file, str(path))
    except FileNotFoundError:
        raise ModelFileError(f"There is no model file {path}; check the name.") from None
    except OSError as error:
        raise ModelFileError(f"Cannot read {path}: {error.strerror or error}.") from error


def from_stream(stream: BinaryIO, name: str) -> MarkovNetwork:
    """Read a model from an open stream, which may be unseekable; ``name`` is for messages."""
    # Read a few bytes first: an endless stream or a large file of another kind is not read.
    first = stream.read(len(_MAGIC))
    content = first + stream.read() if first == _MAGIC else first
    description, arrays = _opened(content, name)
    try:
        domain = Domain.from_states(description["domain"])
        scopes = {part.removeprefix("scopes_"): array for part, array in arrays.items() if part.startswith("scopes_")}
        structure = Structure.from_blocks(len(domain), {int(size): block for size, block in scopes.items()})
        w, groups = _parameters(arrays)
        parameters = _parameterization(domain, structure, **description["parameterization"])
        covariates = tuple(domain.index(name) for name in description.get("given", ()))
        parameters = replace(parameters, covariate_indices=covariates)
        errors = _errors(arrays, description.get("errors"))
        return MarkovNetwork(parameters, w, dict(description["provenance"]), groups, errors)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise ModelFileError(
            f"{name} is a mrfit model, but its parts do not fit together ({error}); it was altered or damaged."
        ) from error


def _parameterization(domain: Domain, structure: Structure, *, name: str, **options: Any) -> Parameterization:
    if name not in PARAMETERIZATIONS:
        raise ValueError(f"unknown parameterization {name!r}: is its plug-in installed?")
    return PARAMETERIZATIONS[name](domain, structure).with_options(**options)


def _parameter_arrays(model: MarkovNetwork) -> dict[str, NDArray[Any]]:
    groups = model.groups
    if groups is None:
        return {"w": model.w}
    group = groups.assignment.astype(np.min_scalar_type(-max(groups.n_groups, 1)))
    kept = model.w[groups.assignment < 0] if model.is_hard_tied else model.w
    return {"w": kept, "group": group, "centers": groups.centers, "pinned": groups.pinned}  # type: ignore[dict-item]


def _parameters(arrays: dict[str, NDArray[Any]]) -> tuple[NDArray[np.float64], Groups | None]:
    w = arrays["w"]
    if w.dtype != np.float64 or w.ndim != 1:
        raise ValueError(f"parameters of type {w.dtype} and shape {w.shape}")
    known = {"w", "covariance"} | ({"group", "centers", "pinned"} if "group" in arrays else set())
    foreign = sorted(name for name in arrays if not name.startswith("scopes_") and name not in known)
    if foreign:
        raise ValueError(f"unknown arrays {foreign}")
    if "group" not in arrays:
        return w, None
    group, centers, pinned = (arrays[name] for name in ("group", "centers", "pinned"))
    if group.dtype.kind != "i" or centers.dtype != np.float64 or pinned.dtype != np.bool_:
        raise ValueError(f"groups of types {group.dtype}, {centers.dtype}, {pinned.dtype}")
    groups = Groups(group, centers, pinned)
    if len(w) < len(group):
        single = groups.assignment < 0
        every = np.zeros(len(group))
        every[single] = w
        w = groups.tied(every)
    return w, groups


def _errors(arrays: dict[str, NDArray[Any]], described: dict[str, Any] | None) -> StandardErrors | None:
    covariance = arrays.get("covariance")
    if covariance is None or described is None:
        if covariance is not None or described is not None:
            raise ValueError("half of its errors")
        return None
    if covariance.dtype != np.float64 or not np.array_equal(covariance, covariance.T, equal_nan=True):
        raise ValueError(f"a covariance of type {covariance.dtype} and shape {covariance.shape}")
    facts = {name: np.nan if described[name] is None else float(described[name]) for name in _OF_ERRORS[1:4]}
    return StandardErrors(str(described["kind"]), covariance, **facts, remarks=tuple(map(str, described["remarks"])))


def _opened(content: bytes, name: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_directory(archive, len(content))
            description = json.loads(archive.read(_DESCRIPTION), parse_constant=_refuse_constant)
            _check_format(name, description)
            parts = {part: archive.read(part) for part in archive.namelist()}
        if parts.pop(_CHECKSUM).decode("ascii", "replace") != _checksum(parts):
            raise ValueError("its checksum differs")
        return description, {
            part.removesuffix(".npy"): _unpacked(part, parts[part]) for part in parts if part != _DESCRIPTION
        }
    except ModelFileError:
        raise
    # A damaged directory may request passwords (RuntimeError, like RecursionError) or unknown methods.
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError, RuntimeError, OSError) as error:
        raise ModelFileError(
            f"{name} is not a model file of mrfit, or it is damaged ({error}); "
            "expected a file written by `mrfit fit -o` or `model.save`."
        ) from error


def _check_directory(archive: zipfile.ZipFile, n_bytes: int) -> None:
    """Refuse parts that overlap or claim more bytes than the file has, before reading any."""
    parts = archive.infolist()
    names = [part.filename for part in parts]
    if _DESCRIPTION not in names:
        raise ValueError(f"it has no {_DESCRIPTION}")
    if len(set(names)) < len(names):
        raise ValueError("it contains a part twice")
    for part in parts:
        if part.compress_type != zipfile.ZIP_STORED or part.file_size != part.compress_size:
            raise ValueError(f"{part.filename} is compressed")
    if sum(part.file_size for part in parts) > n_bytes:
        raise ValueError("its parts are larger than the file")


def _checksum(parts: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name in sorted(parts):
        digest.update(f"{name} {len(parts[name])}\n".encode())
        digest.update(parts[name])
    return digest.hexdigest()


def _packed(array: NDArray[Any]) -> bytes:
    content = io.BytesIO()
    np.lib.format.write_array(content, array, version=(1, 0), allow_pickle=False)
    return content.getvalue()


def _unpacked(name: str, content: bytes) -> NDArray[Any]:
    """Return the array in a part as a view of its bytes: nothing is evaluated, and headers allocate nothing."""
    start = 10 + int.from_bytes(content[8:10], "little")
    header = _HEADER.fullmatch(content[10:start])
    if not content.startswith(_ARRAY_MAGIC) or header is None or not name.endswith(".npy"):
        raise ValueError(f"{name} is no array of numbers")
    dtype = np.dtype(header[1].decode())
    shape = tuple(int(length) for length in header[3].split(b",") if length.strip())
    if math.prod(shape) * dtype.itemsize != len(content) - start:
        raise ValueError(f"{name} declares {dtype} of shape {shape} and holds {len(content) - start} bytes")
    array = np.frombuffer(content, dtype, offset=start)
    return array.reshape(shape, order="F" if header[2] == b"True" else "C")


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _check_format(name: str, description: Any) -> None:
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ModelFileError(f"{name} is a zip archive, but not a model file of mrfit.")
    schema = description.get("schema")
    if schema != SCHEMA:
        older = isinstance(schema, int) and schema < SCHEMA
        raise ModelFileError(
            f"{name} has schema {schema}, written by mrfit {description.get('mrfit')}; this is mrfit {__version__}, "
            f"which reads schema {SCHEMA}. {'Fit the model again' if older else 'Upgrade mrfit'}."
        )
