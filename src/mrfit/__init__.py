"""mrfit: learn discrete Markov networks from tables, and ask them questions."""

from __future__ import annotations

from typing import Any

from mrfit import _renamed
from mrfit._lazy import exports
from mrfit._version import __version__ as __version__

_public, __dir__, __all__ = exports(__name__, __file__)
_renamed.install()


def __getattr__(name: str) -> Any:
    if name in _renamed.NAMES:
        _renamed.warn(f"mrfit.{name}", f"mrfit.{_renamed.NAMES[name]}", level=2)
        name = _renamed.NAMES[name]
    return _public(name)
