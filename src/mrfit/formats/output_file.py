"""Output files: written atomically, through links, and directly into streams."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from mrfit.core.errors import InputError
from mrfit.core.temporary_file import replacing

# Names of streams that are already open: a rename would replace the name and miss the stream.
_OPEN_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")


def check_writable(path: str | Path, *, clobber: bool = True) -> None:
    """Refuse a target that cannot be written, before the work begins; without ``clobber`` refuse any existing file."""
    path = Path(path)
    status = _status(path)
    if status is None:
        _check_folder(path, _final(path).parent)
    elif stat.S_ISDIR(status.st_mode):
        raise InputError(f"Cannot write {path}: it is a directory; name a file.")
    # Permissions do not bind the administrator, but a read-only file is meant to stay.
    elif not (status.st_mode & 0o222 and os.access(path, os.W_OK)):
        raise InputError(f"Cannot write {path}: it is read-only; name another file or change its permissions.")
    elif not _is_stream(path, status):
        if not clobber:
            raise InputError(f"Cannot write {path}: it exists and is not to be overwritten; name another file.")
        _check_folder(path, _final(path).parent)


def write_output(path: str | Path, content: bytes) -> None:
    """Write beside the target and rename: a reader sees the old file or the new one, never a part.

    A link stays a link: the file it points to is replaced. The new file has the permissions of the replaced one. Pipes,
    terminals and devices are written into and stay as they are.
    """
    check_writable(path)
    path = Path(path)
    try:
        status = _status(path)
        if status is not None and _is_stream(path, status):
            path.write_bytes(content)
        else:
            mode = None if status is None else stat.S_IMODE(status.st_mode)
            with replacing(_final(path), mode=mode) as file:
                file.write(content)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or error}.") from error


def _status(path: Path) -> os.stat_result | None:
    """Return the status of the file that the name resolves to; None if there is no file yet."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:  # a circle of links, a name too long, or a zero byte in it
        raise InputError(f"Cannot write {str(path)!r}: {getattr(error, 'strerror', None) or error}.") from None


def _is_stream(path: Path, status: os.stat_result) -> bool:
    return not stat.S_ISREG(status.st_mode) or str(path.absolute()).startswith(_OPEN_STREAMS)


def _final(path: Path) -> Path:
    """Return the file at the end of all links."""
    return Path(os.path.realpath(path))


def _check_folder(path: Path, folder: Path) -> None:
    if not folder.is_dir():
        reason = "is not a folder" if folder.exists() else "does not exist; make it first"
        raise InputError(f"Cannot write {path}: {folder if path.is_symlink() else path.parent} {reason}.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"Cannot write {path}: its folder is read-only; name another.")
