"""Building of the package's machine code: `make` does it once in a checkout, and builds of wheels ship it.

First commands are run and the called kernels are recorded. Then the recorded calls are compiled for every level without
being run, so that one machine makes code for processors it does not have.

Every compiled kernel is stored among the user's caches, named by the source it was made from. Another checkout, or this
one after a change, therefore compiles only what is new. If nothing is new, no command is run either: the store has
lists of all files of a package, each named by that package's sources.

``python -m mrfit._kernels.machine_code.build`` builds the code inside the package, for the present processor.
"""

from __future__ import annotations

import importlib
import os
import pickle
import pkgutil
import shutil
import subprocess
import sys
import time
from collections.abc import Collection
from hashlib import sha256
from pathlib import Path

import pooch
from numba.core.serialize import dumps

from mrfit import _kernels
from mrfit._kernels.machine_code.compiled import kernels
from mrfit._kernels.machine_code.load import (
    DIRECTORY,
    LEVELS,
    MAKES_CODE_IN,
    Level,
    copy,
    identity,
    levels_of_host,
    sign,
    signed,
    versions_digest,
)
from mrfit.core.temporary_file import replacing, scratch_folder

_THIS = "mrfit._kernels.machine_code.build"  # its own name, even if it is run as a program
_LIST = ".list"


def ship(directory: Path, names: Collection[str] = ()) -> list[str]:
    """Fill an empty directory with machine code for levels of these names, by default all.

    Returns their names, or an empty list if this machine can run no level at all.
    """
    levels, here, sources = _levels_named(names), levels_of_host(), _all_sources()
    if not here:
        return []
    with scratch_folder() as scratch:
        store = _store() or scratch / "store"
        if not all(_copy_from_store(store / level.name, directory / level.name, sources) for level in levels):
            run = next((level for level in levels if level in here), here[-1])  # one that is compiled anyway, if any
            _make(directory, levels, run, store, scratch / "signatures")
            for level in levels:
                _record_files(store / level.name, directory / level.name, sources)
                _forget_unused(store / level.name)
    sign(directory, sources=sources)
    return [level.name for level in levels]


def _make(directory: Path, levels: Collection[Level], run: Level, store: Path, signatures: Path) -> None:
    """Fill a directory, for each level, with the kernels that commands call when they run with code of one level."""
    warm_up = ("mrfit", "warm-up", "--quiet")
    _run(_build_environment(run, store), *warm_up)
    # Now everything is loaded from the store. Kernels that only other kernels call are part of them and are not loaded.
    _run(_build_environment(run, store), *warm_up, "--jobs", "1", "--record", str(signatures))
    for level in levels:
        shutil.rmtree(directory / level.name, ignore_errors=True)
        (directory / level.name).mkdir(parents=True)
        _run(_build_environment(level, store), _THIS, str(signatures), str(directory / level.name))


def _record_files(stored: Path, made: Path, sources: str) -> None:
    """Record in the store which of its files make up a level's code for these sources."""
    names = "".join(f"{file.name}\n" for file in sorted(made.iterdir()))
    with replacing(stored / f"{sources}{_LIST}") as written:
        written.write(names.encode())


def _copy_from_store(stored: Path, target: Path, sources: str) -> bool:
    """Copy all of a level's code for these sources from the store; return False if some of it is missing."""
    try:
        listed = stored / f"{sources}{_LIST}"
        files = [stored / name for name in listed.read_text(encoding="utf-8").split()]
        target.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copyfile(file, target / file.name)
        for file in (listed, *files):
            os.utime(file)  # mark as used
    except FileNotFoundError:
        return False
    return True


def _store() -> Path | None:
    """Return the directory of stored code for these versions; None if nothing can be written there."""
    directory = Path(pooch.os_cache("mrfit")) / "kernels" / versions_digest()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return directory if os.access(directory, os.W_OK) else None


def _build_environment(level: Level, store: Path) -> dict[str, str]:
    """Return the environment in which a process compiles for a level, with the code in a store."""
    directory = store / level.name
    directory.mkdir(parents=True, exist_ok=True)
    return level.environment | {MAKES_CODE_IN: str(directory)}


def _forget_unused(directory: Path, days: int = 30) -> None:
    """Delete stored kernels that were not used for some days: after a change the old code is useless."""
    for file in directory.iterdir():
        if file.stat().st_mtime < time.time() - days * 24 * 3600:
            file.unlink(missing_ok=True)


def is_made(directory: Path, names: Collection[str] = ()) -> bool:
    """Whether a directory holds all that `ship` would put there, made from the present sources."""
    own = all((directory / level.name).is_dir() for level in _levels_named(names))
    return own and signed(directory) == _all_sources()


def make_in_place() -> None:
    """Build the package's code for the best level of this machine; without a level, compile as commands would."""
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    here = levels_of_host()
    if here:
        ship(DIRECTORY, [here[0].name])
    else:
        _run({}, "mrfit", "warm-up")


def _levels_named(names: Collection[str]) -> list[Level]:
    return [level for level in LEVELS if not names or level.name in names]


def _all_sources() -> str:
    """Return a hash of the whole package, because any module may decide with which types kernels are called."""
    package = Path(_kernels.__path__[0]).parent
    texts = sha256()
    for file in sorted(package.rglob("*.py")):
        texts.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return texts.hexdigest()


def record_signatures(file: Path) -> None:
    """Write the argument types for which this process has loaded or compiled each kernel."""
    file.write_bytes(dumps({identity(kernel.py_func): list(kernel.overloads) for kernel in kernels()}))


def compile_recorded(file: Path, directory: Path) -> None:
    """Compile all kernels for the recorded argument types, for the level of this process's environment.

    Code in the store is copied from there.
    """
    for module in pkgutil.walk_packages(_kernels.__path__, f"{_kernels.__name__}."):
        importlib.import_module(module.name)
    recorded, made = pickle.loads(file.read_bytes()), Path(os.environ[MAKES_CODE_IN])
    for kernel in kernels():
        for signature in recorded.get(identity(kernel.py_func), ()):
            kernel.compile(signature)
            copy(made, directory, kernel.py_func, signature, kernel.targetctx.codegen())


def _run(environment: dict[str, str], module: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", module, *arguments], env={**os.environ, **environment}, check=True)


if __name__ == "__main__":
    compile_recorded(*map(Path, sys.argv[1:])) if sys.argv[1:] else make_in_place()
