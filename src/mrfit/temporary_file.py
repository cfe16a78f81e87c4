"""Internal: temporary files beside a target, on disk before they replace it, and folders: swept up after a kill."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl

_SUFFIX = ".mrfit-partial"
_SCRATCH = "mrfit-scratch-"
_LONGEST_STEM = 100  # characters of the target's name, so that the whole stays below the limit of 255
_PARTIAL = re.compile(rf"\..*\.[a-z0-9_]{{8}}{re.escape(_SUFFIX)}")  # as `mkstemp` makes them


@contextmanager
def replacing(target: Path, *, mode: int | None = None) -> Iterator[IO[bytes]]:
    """Open a temporary file that takes the target's place at the end of the block, or vanishes after an error.

    Its permissions are ``mode``, by default those that any new file of this process has. The content reaches the disk
    before the rename, so that a power cut leaves the old file or the new one. The file is locked while it is written: a
    lock that is free tells `_sweep` that the writer was killed.
    """
    _sweep(target.parent)
    file, temporary = _locked_file(target)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            temporary.chmod(_new_mode() if mode is None else mode)
            temporary.replace(target)
    except BaseException:  # an interrupt too leaves nothing behind
        temporary.unlink(missing_ok=True)
        raise


def _locked_file(target: Path) -> tuple[IO[bytes], Path]:
    while True:
        handle, name = tempfile.mkstemp(_SUFFIX, f".{target.name[:_LONGEST_STEM]}.", target.parent)
        file = os.fdopen(handle, "wb")
        if sys.platform == "win32":
            return file, Path(name)
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return file, Path(name)
        file.close()  # another process swept it up in the instant before it was locked


@cache  # a process looks into each folder once: a folder of many files takes time to list
def _sweep(folder: Path) -> None:
    """Remove what killed processes of this user left in a folder."""
    if sys.platform == "win32":  # a file that is open cannot be told from one that is not
        return
    with suppress(OSError):  # a folder that cannot be listed can still be written to
        for entry in os.scandir(folder):
            if _PARTIAL.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(partial: Path) -> None:
    with (
        suppress(OSError),
        partial.open("rb") as file,
    ):  # locked by its writer, renamed meanwhile, or not ours to remove
        if os.fstat(file.fileno()).st_uid == os.getuid():
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            partial.unlink()


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a temporary folder for the length of a block, and remove those that killed processes left.

    It is locked while it is in use, as temporary files are.
    """
    parent = Path(tempfile.gettempdir())
    for entry in [] if sys.platform == "win32" else list(parent.glob(f"{_SCRATCH}*")):
        _remove_folder_if_abandoned(entry)
    folder, handle = _locked_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def _locked_folder() -> tuple[Path, int | None]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_SCRATCH))
        if sys.platform == "win32":  # folders cannot be locked
            return folder, None
        with suppress(FileNotFoundError):  # another process swept it up in the instant before it was locked
            handle = os.open(folder, os.O_RDONLY)
            fcntl.flock(handle, fcntl.LOCK_EX)
            if folder.exists():
                return folder, handle
            os.close(handle)


def _remove_folder_if_abandoned(folder: Path) -> None:
    with suppress(OSError):  # locked by its process, gone meanwhile, or not ours to remove
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if os.fstat(handle).st_uid == os.getuid():
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
        finally:
            os.close(handle)


def _new_mode() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
