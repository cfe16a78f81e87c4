"""Machine code shipped with the package, so that no one waits for a compiler.

``_compiled/LEVEL/`` holds one file for each kernel and signature that Python calls, written when a wheel is built, or
by `make` in a checkout, and never committed to git. A file is named by everything its code was made from, so code that
does not match is not found. Code for a level runs on every processor that has the level's instructions, whereas numba's
own cache names one processor.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import llvmlite.binding  # type: ignore[import-untyped]
import numba
import numpy as np
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from mrfit.core.temporary_file import replacing

_config: Any = numba.config  # set at run time

_KERNELS = Path(__file__).parents[1]
DIRECTORY = _KERNELS / "_compiled"
MAKES_CODE_IN = "MRFIT_MAKES_CODE_IN"  # set by `build` for processes that build code: a directory named by its level
_MADE_FOR = "made-for.json"
_MADE_FROM = "sources"

_V3 = {"avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


@dataclass(frozen=True)
class Level:
    """A set of instructions that many processors share, by its name in LLVM and compilers."""

    name: str
    options: str  # further LLVM options; never empty, else numba would add those of the host
    needs: frozenset[str]

    @property
    def environment(self) -> dict[str, str]:
        """Environment in which numba compiles for this level."""
        return {"NUMBA_CPU_NAME": self.name, "NUMBA_CPU_FEATURES": self.options}


# Best first. By default LLVM avoids the wide registers of v4, which costs a tenth of the speed.
LEVELS = (
    Level("x86-64-v4", "-prefer-256-bit", frozenset(_V4)),
    Level("x86-64-v3", "+avx2", frozenset(_V3)),
)


def levels_of_host() -> list[Level]:
    """Return the levels whose code runs on this processor, best first; none on other than x86-64 processors."""
    try:
        features = llvmlite.binding.get_host_cpu_features()
    except RuntimeError:  # LLVM does not know the processor
        return []
    present = {name for name, is_there in features.items() if is_there}
    return [level for level in LEVELS if level.needs <= present]


def made_for() -> dict[str, str]:
    """Return the versions that machine code built here depends on.

    Of numpy only the major version matters: compiled code reaches arrays through numba's own runtime.
    """
    major, minor = sys.version_info[:2]
    return {
        "Python": f"{major}.{minor}{getattr(sys, 'abiflags', '')}",  # Windows has none
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "numpy": np.__version__.partition(".")[0],
        "SVML": str(bool(_config.USING_SVML)),
    }


@dataclass(frozen=True)
class Shipped:
    """The usable machine code of the package: a directory, or the reason why nothing is usable."""

    directory: Path | None
    reason: str | None = None  # None also if the package has no machine code at all


@cache
def shipped() -> Shipped:
    """Return the machine code shipped with this package."""
    return usable(DIRECTORY)


def usable(directory: Path) -> Shipped:
    """Return the usable part of a directory of machine code."""
    try:
        there = json.loads((directory / _MADE_FOR).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Shipped(None)
    here = made_for()
    for name, version in here.items():
        if there.get(name) != version:
            return Shipped(None, f"the compiled code of this package is for {name} {there.get(name)}, not {version}")
    if _config.CPU_NAME is not None or _config.CPU_FEATURES is not None:
        return Shipped(None, "NUMBA_CPU_NAME or NUMBA_CPU_FEATURES asks for code of its own")
    for level in levels_of_host():
        if (directory / level.name).is_dir():
            return Shipped(directory / level.name)
    return Shipped(None, "the compiled code of this package is for other processors")


def load(directory: Path, function: Callable, signature: Any, target_context: Any) -> Any:
    """Return a compiled kernel, or None if it is not there for this signature."""
    path = _path(directory, function, signature, target_context.codegen())
    if not path.exists():
        return None
    return CompileResult._rebuild(target_context, *pickle.loads(path.read_bytes()))


def save(directory: Path, function: Callable, signature: Any, codegen: Any, reduced: Any) -> None:
    """Write a compiled kernel for a signature, in numba's reduced form, atomically."""
    with replacing(_path(directory, function, signature, codegen)) as written:
        written.write(dumps(reduced))


def copy(source: Path, target: Path, function: Callable, signature: Any, codegen: Any) -> None:
    """Copy a compiled kernel from one directory of a level to another, and mark the first as used."""
    path = _path(source, function, signature, codegen)
    path.touch()
    shutil.copyfile(path, _path(target, function, signature, codegen))


def versions_digest() -> str:
    """Return a short name for the versions of `made_for`."""
    return digest(sorted(made_for().items()))[:16]


def sign(directory: Path, *, sources: str) -> None:
    """Record what the machine code in a directory depends on, and for which sources it is complete."""
    written = {**made_for(), _MADE_FROM: sources}
    with replacing(directory / _MADE_FOR) as file:
        file.write(json.dumps(written, indent=2).encode() + b"\n")


def signed(directory: Path) -> str | None:
    """Return the sources for which a directory's code was built; None if it is not usable here."""
    if usable(directory).directory is None:
        return None
    written = json.loads((directory / _MADE_FOR).read_text(encoding="utf-8"))
    sources: str | None = written.get(_MADE_FROM)
    return sources


def _path(directory: Path, function: Callable, signature: Any, codegen: Any) -> Path:
    """Return the path of a kernel's code for its argument types; the name covers everything that affects the code."""
    system = codegen.magic_tuple()[0]
    # Including the level: code in the wrong directory would crash a processor without its instructions.
    made_from = (identity(function), str(signature), system, directory.name)
    return directory / f"{function.__name__}-{digest(made_from)[:32]}.nbc"


def identity(function: Callable) -> str:
    """Return a hash that distinguishes a kernel from all others, and from its earlier versions."""
    enclosed = tuple(cell.cell_contents for cell in function.__closure__ or ())
    return digest((source_stamp(function), function.__qualname__, function.__code__.co_firstlineno, dumps(enclosed)))


def digest(made_from: Any) -> str:
    """Return a name for the origin of something."""
    return hashlib.sha256(repr(made_from).encode()).hexdigest()


def source_stamp(function: Callable) -> str:
    """Return a hash of a kernel's file and all kernel files it imports, which hold the functions compiled into it."""
    return _stamp(Path(function.__code__.co_filename))


@cache
def _stamp(file: Path) -> str:
    texts: dict[Path, bytes] = {}
    waiting = [file]
    while waiting:
        path = waiting.pop()
        if path not in texts:
            texts[path] = path.read_bytes()
            imported = re.findall(rb"^from mrfit\._kernels\.([\w.]+) import", texts[path], re.MULTILINE)
            files = (_KERNELS.joinpath(*name.decode().split(".")).with_suffix(".py") for name in imported)
            waiting += [file for file in files if file.is_file()]  # a folder contains no kernels itself
    ordered = sorted((path.name, text) for path, text in texts.items() if path.name not in _NO_KERNELS)
    return digest(ordered)


_NO_KERNELS = {"compiled.py"}
