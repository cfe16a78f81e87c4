"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from mrfit.errors import InputError


def check_writable(path: str | Path) -> None:
    """Complain about a target before the work is done, not after."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"Cannot write {path}: it is a directory; name a file.")
    if not path.parent.is_dir():
        reason = "is not a folder" if path.parent.exists() else "does not exist; make it first"
        raise InputError(f"Cannot write {path}: {path.parent} {reason}.")


def write_whole(path: str | Path, content: bytes) -> None:
    """Write beside the target and rename: a reader sees the old file or the new one, never a part."""
    check_writable(path)
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}.") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise InputError(f"Cannot write {path}: {error.strerror}.") from error
