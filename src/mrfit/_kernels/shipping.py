"""Making the machine code of the package: `make` does it once in a checkout, and builds of wheels ship it.

First commands are run, and what Python called is recorded; then that is compiled for every level, without being run,
so that one machine makes code for processors it does not have.

Every kernel that was ever compiled is kept in a store among the user's caches, named by the text it was made from:
another checkout, or this one after a change, compiles what is new to both. Where nothing is new, no command is run
either: the store has lists of all that a package needs, each named by that package's sources.

``python -m mrfit._kernels.shipping`` makes it where the package stands, for the processor at hand.
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
from mrfit._kernels.compiled import kernels
from mrfit._kernels.shipped import (
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
from mrfit.temporary_file import replacing, scratch_folder

_THIS = "mrfit._kernels.shipping"  # by its own name also where it is run as a program
_LIST = ".list"


def ship(directory: Path, names: Collection[str] = ()) -> list[str]:
    """Fill an empty directory with machine code for levels of these names, by default all.

    Returns their names: none where this machine can run no level at all.
    """
    levels, here, sources = _named(names), levels_of_host(), _all_sources()
    if not here:
        return []
    with scratch_folder() as scratch:
        store = _store() or scratch / "store"
        if not all(_take(store / level.name, directory / level.name, sources) for level in levels):
            run = next((level for level in levels if level in here), here[-1])  # what is compiled anyway, if there is
            _make(directory, levels, run, store, scratch / "signatures")
            for level in levels:
                _list(store / level.name, directory / level.name, sources)
                _forget_unused(store / level.name)
    sign(directory, sources=sources)
    return [level.name for level in levels]


def _make(directory: Path, levels: Collection[Level], run: Level, store: Path, signatures: Path) -> None:
    """Fill a directory with what commands call when they are run with code of one level, for each level."""
    warm_up = ("mrfit", "warm-up", "--quiet")
    _run(_making(run, store), *warm_up)
    # All is loaded from the store now. What only other kernels call is part of them and is not loaded.
    _run(_making(run, store), *warm_up, "--jobs", "1", "--record", str(signatures))
    for level in levels:
        shutil.rmtree(directory / level.name, ignore_errors=True)
        (directory / level.name).mkdir(parents=True)
        _run(_making(level, store), _THIS, str(signatures), str(directory / level.name))


def _list(stored: Path, made: Path, sources: str) -> None:
    """Write down in the store which of its files are all of a level's code for these sources."""
    names = "".join(f"{file.name}\n" for file in sorted(made.iterdir()))
    with replacing(stored / f"{sources}{_LIST}") as written:
        written.write(names.encode())


def _take(stored: Path, target: Path, sources: str) -> bool:
    """Copy all of a level's code for these sources from the store; False where some of it is not there."""
    try:
        listed = stored / f"{sources}{_LIST}"
        files = [stored / name for name in listed.read_text(encoding="utf-8").split()]
        target.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copyfile(file, target / file.name)
        for file in (listed, *files):
            os.utime(file)  # it was of use
    except FileNotFoundError:
        return False
    return True


def _store() -> Path | None:
    """Where code for these versions is kept; None where nothing can be written there."""
    directory = Path(pooch.os_cache("mrfit")) / "kernels" / versions_digest()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return directory if os.access(directory, os.W_OK) else None


def _making(level: Level, store: Path) -> dict[str, str]:
    """What makes a process compile for a level and keep the code in a store, or take it from there."""
    directory = store / level.name
    directory.mkdir(parents=True, exist_ok=True)
    return level.environment | {MAKES_CODE_IN: str(directory)}


def _forget_unused(directory: Path, days: int = 30) -> None:
    """Kernels change, and what they were is of no use to anybody."""
    for file in directory.iterdir():
        if file.stat().st_mtime < time.time() - days * 24 * 3600:
            file.unlink(missing_ok=True)


def is_made(directory: Path, names: Collection[str] = ()) -> bool:
    """Whether a directory holds all that `ship` would put there, made from the sources as they are now."""
    own = all((directory / level.name).is_dir() for level in _named(names))
    return own and signed(directory) == _all_sources()


def make_in_place() -> None:
    """Make the package's code for the best level of this machine; where it has none, compile as commands would."""
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    here = levels_of_host()
    if here:
        ship(DIRECTORY, [here[0].name])
    else:
        _run({}, "mrfit", "warm-up")


def _named(names: Collection[str]) -> list[Level]:
    return [level for level in LEVELS if not names or level.name in names]


def _all_sources() -> str:
    """A hash of the whole package: which types kernels are called with is decided anywhere in it."""
    package = Path(_kernels.__path__[0]).parent
    texts = sha256()
    for file in sorted(package.rglob("*.py")):
        texts.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return texts.hexdigest()


def record_signatures(file: Path) -> None:
    """Write down the types of arguments for which this process has loaded or compiled each kernel."""
    file.write_bytes(dumps({identity(kernel.py_func): list(kernel.overloads) for kernel in kernels()}))


def compile_recorded(file: Path, directory: Path) -> None:
    """Compile all kernels for the recorded types of arguments, for the level that this process was started for.

    What the store has of them is taken from there.
    """
    for module in pkgutil.iter_modules(_kernels.__path__):
        importlib.import_module(f"{_kernels.__name__}.{module.name}")
    recorded, made = pickle.loads(file.read_bytes()), Path(os.environ[MAKES_CODE_IN])
    for kernel in kernels():
        for signature in recorded.get(identity(kernel.py_func), ()):
            kernel.compile(signature)
            copy(made, directory, kernel.py_func, signature, kernel.targetctx.codegen())


def _run(environment: dict[str, str], module: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", module, *arguments], env={**os.environ, **environment}, check=True)


if __name__ == "__main__":
    compile_recorded(*map(Path, sys.argv[1:])) if sys.argv[1:] else make_in_place()
