"""Where machine code of kernels is found, and kept between runs.

What came with the package is used first (`shipped`). What is not there is compiled and kept where numba keeps it: in
``NUMBA_CACHE_DIR`` if that is set, else beside the package, else among the user's caches. In a container that runs as
some other user none of these may be writable; then it is kept among the temporary files, or not at all.
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

_config: Any = numba.config  # its settings are made at run time


class KernelCache(NullCache):
    """What numba asks for machine code before it compiles a kernel, and hands it to afterwards."""

    def __init__(self, function: Callable, say: Callable[[str | None], None]) -> None:
        self._function = function
        self._kept = _kept_code(function)
        self._say = say  # called before a kernel is compiled, with the reason why the package's own code did not do

    @property
    def cache_path(self) -> str | None:
        return self._kept.cache_path

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled form of the kernel for a signature: from the package, from an earlier run, or None."""
        target_context.refresh()
        came, reason = shipped.shipped(), None
        if came.directory is not None:
            try:
                found = shipped.load(came.directory, self._function, signature, target_context)
            except Exception as error:  # whatever numba or LLVM have against it; compiling never depends on it
                found, reason = None, f"the compiled code of this package cannot be loaded ({error!r})"
            if found is not None:
                return found
        found = self._kept.load_overload(signature, target_context)
        if found is None:
            self._say(reason or came.reason)
        return found

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep a compiled form for later runs."""
        self._kept.save_overload(signature, data)

    def flush(self) -> None:
        """Forget what was kept; the package's own code stays."""
        self._kept.flush()


class _MadeCode(NullCache):
    """Code that is being made to be shipped: `shipping` says where."""

    def __init__(self, function: Callable, directory: Path) -> None:
        self._function, self._directory = function, directory

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        return shipped.load(self._directory, self._function, signature, target_context)

    def save_overload(self, signature: Any, data: Any) -> None:
        shipped.save(self._directory, self._function, signature, data.codegen, data._reduce())


class _KeptCode(FunctionCache):
    """Numba's cache, which would not notice a change in another file whose functions are compiled into this one."""

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        stamp = (llvmlite.__version__, shipped.source_stamp(function))
        self._cache_file = _Index(self.cache_path, self._impl.filename_base, stamp)


class _Index(IndexDataCacheFile):
    """Numba's index and files of code, safe for processes that are killed or that compile at the same time.

    Numba numbers the files, and writes the index before the code: a process killed in between leaves an index that
    names a file of older sources, and two processes give one number to two signatures. Here a file is named by what it
    is made from and is there before the index names it.
    """

    def save(self, key: Any, data: Any) -> None:
        name = self._data_name_pattern.format(number=int(shipped.digest((self._source_stamp, key))[:15], 16))
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})

    def _open_for_write(self, filepath: str) -> Any:
        return replacing(Path(filepath))

    def _load_index(self) -> Any:
        """Unpickle the index, as numba does before it looks at the stamp: an older one may name types that are gone."""
        try:
            return super()._load_index()
        except (AttributeError, ImportError):  # of another version of the package: as if it were not there
            return {}


@cache
def has_usual_cache() -> bool:
    """Whether numba finds a place by itself."""
    return _is_accepted(None)


@cache
def temporary_cache() -> Path | None:
    """The place among the temporary files where there is no usual one; None if there is none to be trusted either."""
    directory = _private_directory()
    return directory if directory is not None and _is_accepted(directory) else None


def _kept_code(function: Callable) -> Any:
    """The cache in the first place that can be written; one that keeps nothing if there is none."""
    if made := os.environ.get(shipped.MAKES_CODE_IN):
        return _MadeCode(function, Path(made))
    if has_usual_cache():
        return _KeptCode(function)
    directory = temporary_cache()
    return NullCache() if directory is None else _kept_in(directory, function)


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


def _kept_in(directory: Path | None, function: Callable) -> _KeptCode:
    """A kernel's cache in a directory; numba reads the setting once, when the cache is made."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = before if directory is None else str(directory)
    try:
        return _KeptCode(function)
    finally:
        _config.CACHE_DIR = before


def _is_accepted(directory: Path | None) -> bool:
    """Whether numba can keep code there, or in its usual place: it raises a RuntimeError where it cannot."""
    try:
        _kept_in(directory, _is_accepted)
    except RuntimeError:
        return False
    return True
