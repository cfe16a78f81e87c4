"""The native model file: a zip of one JSON document and the arrays it speaks of.

    model.json    format, schema, library version, domain, parameterization, provenance
    arrays.npz    scopes_<size> for every size of scope, and w; for tied parameters also their group, the groups'
                  centers, and which are pinned at zero. Where all members equal their center, w has only the others.

No pickle anywhere. Archives carry fixed dates, so equal models are equal files.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from dataclasses import replace
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
from mrfit.parameterizations.kinds import KINDS
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.structure.structure import Structure
from mrfit.tying.groups import Groups

FORMAT = "mrfit model"
SCHEMA = 1


def save(model: MarkovNetwork, path: str | Path) -> None:
    """Write ``model`` to ``path``, whole or not at all."""
    description = {
        "format": FORMAT,
        "schema": SCHEMA,
        "mrfit": __version__,
        "domain": model.domain.to_states(),
        "parameterization": {"name": model.parameters.word, **model.parameters.options},
        "provenance": dict(model.provenance),
    }
    arrays = {f"scopes_{size}": block.astype(np.int32) for size, block in model.structure.blocks.items()}
    arrays |= _parameter_arrays(model)
    packed_arrays, packed = io.BytesIO(), io.BytesIO()
    np.savez_compressed(packed_arrays, **arrays)  # type: ignore[arg-type]
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            zipfile.ZipInfo("model.json"),
            json.dumps(description, indent=1, ensure_ascii=False, allow_nan=False),
            compress_type=zipfile.ZIP_DEFLATED,  # a learner may list all scopes it was given
        )
        archive.writestr(zipfile.ZipInfo("arrays.npz"), packed_arrays.getvalue())
    write_whole(path, packed.getvalue())


def load(path: str | Path) -> MarkovNetwork:
    """Read a model; a damaged, foreign or newer file raises `ModelFileError`."""
    description, arrays = _opened(Path(path))
    try:
        domain = Domain.from_states(description["domain"])
        scopes = {name.removeprefix("scopes_"): array for name, array in arrays.items() if name.startswith("scopes_")}
        structure = Structure.from_blocks(len(domain), {int(size): block for size, block in scopes.items()})
        w, groups = _parameters(arrays)
        parameters = _parameterization(domain, structure, **description["parameterization"])
        return MarkovNetwork(parameters, w, dict(description["provenance"]), groups)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ModelFileError(
            f"{path} is a mrfit model, but its parts do not fit together ({error}); it was altered or damaged."
        ) from error


def _parameterization(
    domain: Domain, structure: Structure, *, name: str, reference: str | list[str] | None = None
) -> Parameterization:
    if name not in KINDS:
        raise ValueError(f"unknown parameterization {name!r}")
    parameters = KINDS[name](domain, structure)
    if reference in (None, "first"):
        return parameters
    if not isinstance(parameters, Canonical) or not isinstance(reference, list) or len(reference) != len(domain):
        raise ValueError(f"reference states {reference!r}")
    codes = tuple(variable.codes[state] for variable, state in zip(domain, reference, strict=True))
    return replace(parameters, reference=codes)


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
    known = {"w", "group", "centers", "pinned"} if "group" in arrays else {"w"}
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
