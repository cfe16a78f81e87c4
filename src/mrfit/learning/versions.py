"""Versions of the programs that a model was learned with."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version

from mrfit._version import __version__

_LIBRARIES = ("numpy", "scipy", "numba")  # which numbers come from


@cache
def versions() -> dict[str, str]:
    """Versions of mrfit, Python and the libraries that compute; those that read tables or draw are left out."""
    return {"mrfit": __version__, "python": platform.python_version()} | {name: version(name) for name in _LIBRARIES}
