"""Formats of model files, and the two functions that read and write them.

A format of your own is a `ModelFormat`: a word, a suffix, and functions from bytes to a `mrfit.FactorNetwork` and back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrfit._lazy import exports

if TYPE_CHECKING:
    from mrfit.formats.libdai import FG
    from mrfit.formats.libra_mn import MN
    from mrfit.formats.model_format import ModelFormat
    from mrfit.formats.models import read_network, write_network
    from mrfit.formats.mrf_network import MRF
    from mrfit.formats.uai import LG, UAI

__all__ = [
    "FG",
    "LG",
    "MN",
    "MRF",
    "UAI",
    "ModelFormat",
    "read_network",
    "write_network",
]

# Loaded on first use, also because some of these build on this package.
__getattr__, __dir__ = exports(
    __name__,
    {
        "mrfit.formats.mrf_network": ("MRF",),
        "mrfit.formats.libdai": ("FG",),
        "mrfit.formats.libra_mn": ("MN",),
        "mrfit.formats.model_format": ("ModelFormat",),
        "mrfit.formats.models": (
            "read_network",
            "write_network",
        ),
        "mrfit.formats.uai": (
            "LG",
            "UAI",
        ),
    },
)
