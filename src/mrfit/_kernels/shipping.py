"""Making the machine code that is shipped; only builds of wheels use it.

First commands are run, and what Python called is recorded; then that is compiled for every level, without being run,
so that one machine makes code for processors it does not have.
"""

from __future__ import annotations

import importlib
import os
import pickle
import pkgutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

from numba.core.serialize import dumps

from mrfit import _kernels
from mrfit._kernels.compiled import kernels
from mrfit._kernels.shipped import LEVELS, identity, levels_of_host, sign


def ship(directory: Path, names: Collection[str] = ()) -> list[str]:
    """Fill an empty directory with machine code for levels of these names, by default all.

    Returns their names: none where this machine cannot run the lowest of them.
    """
    lowest = LEVELS[-1]
    levels = [level for level in LEVELS if not names or level.name in names]
    if lowest not in levels_of_host():
        return []
    with tempfile.TemporaryDirectory() as scratch:
        signatures = Path(scratch, "signatures")
        warm_up = ("mrfit", "warm-up", "--quiet")
        cache = {"NUMBA_CACHE_DIR": scratch}
        _run(cache | lowest.environment, *warm_up)
        # All is loaded from the cache now. What only other kernels call is part of them and is not loaded.
        _run(cache | lowest.environment, *warm_up, "--jobs", "1", "--record", str(signatures))
        for level in levels:
            (directory / level.name).mkdir(parents=True)
            _run(cache | level.environment, __name__, str(signatures), str(directory / level.name))
    sign(directory)
    return [level.name for level in levels]


def record_signatures(file: Path) -> None:
    """Write down the types of arguments for which this process has loaded or compiled each kernel."""
    file.write_bytes(dumps({identity(kernel.py_func): list(kernel.overloads) for kernel in kernels()}))


def compile_recorded(file: Path, directory: Path) -> None:
    """Compile all kernels for the recorded types of arguments, for the level that this process was started for."""
    for module in pkgutil.iter_modules(_kernels.__path__):
        importlib.import_module(f"{_kernels.__name__}.{module.name}")
    recorded = pickle.loads(file.read_bytes())
    for kernel in kernels():
        for signature in recorded.get(identity(kernel.py_func), ()):
            kernel.compile(signature)
            kernel._cache.ship(directory, signature, kernel.targetctx.codegen())


def _run(environment: dict[str, str], module: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", module, *arguments], env={**os.environ, **environment}, check=True)


if __name__ == "__main__":
    compile_recorded(Path(sys.argv[1]), Path(sys.argv[2]))
