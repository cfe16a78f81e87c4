"""Input files and streams read as a whole, unpacked if they are gzipped."""

from __future__ import annotations

import zlib
from pathlib import Path

from mrfit.core.errors import InputError
from mrfit.data.sources import opened
from mrfit.data.storage import here


def read_input(path: str | Path) -> bytes:
    """Return the bytes of a file, a pipe or standard input (``-``), unpacked if they are gzipped."""
    source = here(path)
    try:
        with opened(source) as file:
            return file.read()
    except FileNotFoundError:
        raise InputError(f"There is no file {str(path)!r}; check the path.") from None
    except (OSError, EOFError, zlib.error) as error:  # the last two, and a subclass of the first, are gzip's
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{source.name!r} is damaged, cut short or not readable: {reason}. Get the file again."
        ) from None
