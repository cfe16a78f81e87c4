"""All parameterizations by the word users choose them with."""

from __future__ import annotations

from mrfit.errors import InputError, listed
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.full import Full
from mrfit.parameterizations.generalized_ising import GeneralizedIsing
from mrfit.parameterizations.ising import Ising
from mrfit.parameterizations.ordered import Ordered
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.parameterizations.spectral import Spectral

PARAMETERIZATIONS: dict[str, type[Parameterization]] = {
    kind.word: kind for kind in (Canonical, Spectral, Full, Ising, GeneralizedIsing, Ordered)
}


def parameterization_called(word: str) -> type[Parameterization]:
    """The class; a word that names none is refused."""
    if word not in PARAMETERIZATIONS:
        raise InputError(f"There is no parameterization {word!r}; choose one of {listed(PARAMETERIZATIONS)}.")
    return PARAMETERIZATIONS[word]
