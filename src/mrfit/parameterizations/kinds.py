"""All parameterizations by the word users choose them with."""

from __future__ import annotations

from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.full import Full
from mrfit.parameterizations.generalized_ising import GeneralizedIsing
from mrfit.parameterizations.ising import Ising
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.parameterizations.spectral import Spectral

KINDS: dict[str, type[Parameterization]] = {
    kind.word: kind for kind in (Canonical, Spectral, Full, Ising, GeneralizedIsing)
}
