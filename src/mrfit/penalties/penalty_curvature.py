"""The smooth part of a penalty with kinks."""

from __future__ import annotations

from typing import NamedTuple

from scipy.sparse import csr_array

from mrfit._typing import Floats, Indices


class PenaltyCurvature(NamedTuple):
    """Derivatives of a penalty at a point, in the parameters that can move from there without meeting a kink."""

    smooth: Indices  # these parameters, ascending
    gradient: Floats
    diagonal: Floats
    factor: csr_array  # the Hessian is diag(diagonal) - factor factor'
