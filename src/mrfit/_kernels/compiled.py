"""How kernels are compiled, and where their machine code is kept between runs.

Every kernel takes its decorator from here. Machine code is kept where numba keeps it: in ``NUMBA_CACHE_DIR`` if that is
set, else beside the package, else among the user's caches. In a container that runs as some other user none of these
may be writable; then it is kept among the temporary files, or not at all.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba

_config: Any = numba.config  # its settings are made at run time


def njit(**options: Any) -> Callable[[Callable], Any]:
    """`numba.njit`, also where numba finds no place for its cache."""
    if not options.get("cache") or has_usual_cache():
        return numba.njit(**options)
    directory = temporary_cache()
    return numba.njit(**options | {"cache": False}) if directory is None else partial(_kept_in, directory, options)


@cache
def has_usual_cache() -> bool:
    """Whether numba finds a place by itself."""
    return _is_accepted(numba.njit(cache=True))


@cache
def temporary_cache() -> Path | None:
    """The place among the temporary files where there is no usual one; None if there is none to be trusted either."""
    directory = _private_directory()
    usable = directory is not None and _is_accepted(partial(_kept_in, directory, {"cache": True}))
    return directory if usable else None


def is_compiled(kernel: Any) -> bool:
    """Whether some machine code of a kernel has been kept."""
    place = kernel.stats.cache_path
    return place is not None and any(Path(place).glob(f"*{kernel.py_func.__name__}*.nbi"))


def _private_directory() -> Path | None:
    """``mrfit-UID`` among the temporary files, where only this user can have put anything.

    What is kept there will be loaded and run: a directory or link that somebody else made beforehand is not used.
    """
    user = getattr(os, "getuid", lambda: 0)()  # Windows has none
    try:
        directory = Path(tempfile.gettempdir()) / f"mrfit-{user}"
        directory.mkdir(mode=0o700, exist_ok=True)
        status = directory.lstat()
    except OSError:
        return None
    is_private = status.st_uid == user and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    return directory if stat.S_ISDIR(status.st_mode) and is_private else None


def _kept_in(directory: Path, options: dict[str, Any], function: Callable) -> Any:
    """The kernel, its code kept in a directory; numba reads the setting once, when it decorates."""
    before, _config.CACHE_DIR = _config.CACHE_DIR, str(directory)
    try:
        return numba.njit(**options)(function)
    finally:
        _config.CACHE_DIR = before


def _is_accepted(decorator: Callable[[Callable], Any]) -> bool:
    """Whether numba finds a place for a function: it raises a RuntimeError where it does not."""
    try:
        decorator(_probe)
    except RuntimeError:
        return False
    return True


def _probe() -> None:
    """Never compiled."""
