"""Loading and saving of the machine code of kernels.

Code shipped with the package comes first (`load`). Other code is compiled and cached where numba caches it: in
``NUMBA_CACHE_DIR`` if that is set, else beside the package, else among the user's caches. In a container under another
user none of these may be writable. Then it is cached among the temporary files, or not at all.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache

from mrfit._kernels.machine_code import load as shipped
from mrfit.core.temporary_file import replacing

_config: Any = numba.config  # set at run time


class KernelCache(NullCache):
    """The cache that numba queries before it compiles a kernel, and to which it passes the result."""

    def __init__(self, function: Callable, say: Callable[[str | None], None]) -> None:
        self._function = function
        self._kept = _cache_of(function)
        self._say = say  # called before a compilation, with the reason why the package's own code was unusable

    @property
    def cache_path(self) -> str | None:
        return self._kept.cache_path

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled kernel for a signature: from the package, from an earlier run, or None."""
        target_context.refresh()
        came, reason = shipped.shipped(), None
        if came.directory is not None:
            try:
                found = shipped.load(came.directory, self._function, signature, target_context)
            except Exception as error:  # any failure of numba or LLVM; compiling never depends on it
                found, reason = None, f"the compiled code of this package cannot be loaded ({error!r})"
            if found is not None:
                return found
        found = self._kept.load_overload(signature, target_context)
        if found is None:
            self._say(reason or came.reason)
        return found

    def save_overload(self, signature: Any, data: Any) -> None:
        """Store a compiled kernel for later runs."""
        self._kept.save_overload(signature, data)

    def flush(self) -> None:
        """Delete stored code; the package's own code stays."""
        self._kept.flush()


class _BuildCache(NullCache):
    """A cache of code that is built for shipping; `build` sets its directory."""

    def __init__(self, function: Callable, directory: Path) -> None:
        self._function, self._directory = function, directory

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        return shipped.load(self._directory, self._function, signature, target_context)

    def save_overload(self, signature: Any, data: Any) -> None:
        shipped.save(self._directory, self._function, signature, data.codegen, data._reduce())


class _UserCache(FunctionCache):
    """Numba's cache, extended to notice changes in other files whose functions are compiled into a kernel."""

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        stamp = (llvmlite.__version__, shipped.source_stamp(function))
        self._cache_file = _Index(self.cache_path, self._impl.filename_base, stamp)


class _Index(IndexDataCacheFile):
    """Numba's index and code files, made safe against killed and concurrent processes.

    Numba numbers the files, and writes the index before the code: a process killed in between leaves an index that
    names a file of older sources, and two processes give one number to two signatures. Here a file is named by its
    content's origin, and it exists before the index names it.
    """

    def save(self, key: Any, data: Any) -> None:
        name = self._data_name_pattern.format(number=int(shipped.digest((self._source_stamp, key))[:15], 16))
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})

    def _open_for_write(self, filepath: str) -> Any:
        return replacing(Path(filepath))

    def _load_index(self) -> Any:
        """Unpickle the index as numba does, before the stamp is checked: an old index may name types that are gone."""
        try:
            return super()._load_index()
        except (AttributeError, ImportError):  # written by another version of the package: ignore it
            return {}


@cache
def has_usual_cache() -> bool:
    """Whether numba finds a cache directory by itself."""
    return _is_accepted(None)


@cache
def temporary_cache() -> Path | None:
    """Return the cache directory among the temporary files if there is no usual one; None if it cannot be trusted."""
    directory = _private_directory()
    return directory if directory is not None and _is_accepted(directory) else None


def _cache_of(function: Callable) -> Any:
    """Return the cache in the first writable directory; a null cache if there is no such directory."""
    if made := os.environ.get(shipped.MAKES_CODE_IN):
        return _BuildCache(function, Path(made))
    if has_usual_cache():
        return _UserCache(function)
    directory = temporary_cache()
    return NullCache() if directory is None else _cache_in(directory, function)


def _private_directory() -> Path | None:
    """Return ``mrfit-UID`` among the temporary files if only this user can have written there.

    Its content will be loaded and run, so a directory or link that another user created beforehand is not used.
    """
    user = getattr(os, "getuid", lambda: 0)()  # Windows has no user ids
    try:
        directory = Path(tempfile.gettempdir()) / f"mrfit-{user}"
        directory.mkdir(mode=0o700, exist_ok=True)
        status = directory.lstat()
    except OSError:
        return None
    is_private = status.st_uid == user and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    return directory if stat.S_ISDIR(status.st_mode) and is_private else None


def _cache_in(directory: Path | None, function: Callable) -> _UserCache:
    """Return a kernel's cache in a directory; numba reads the setting once, when the cache is created."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = before if directory is None else str(directory)
    try:
        return _UserCache(function)
    finally:
        _config.CACHE_DIR = before


def _is_accepted(directory: Path | None) -> bool:
    """Whether numba can cache code there, or in its usual directory; otherwise it raises a RuntimeError."""
    try:
        _cache_in(directory, _is_accepted)
    except RuntimeError:
        return False
    return True
