"""Solvers by the word users know them by."""

from __future__ import annotations

from typing import Any

from mrfit.solvers.fista import Fista
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.owlqn import OWLQN
from mrfit.solvers.proximal_newton import ProximalNewton

SOLVERS: dict[str, type[Method[Any]]] = {
    "newton": TruncatedNewton,
    "lbfgs": LBFGS,
    "owlqn": OWLQN,
    "proximal-newton": ProximalNewton,
    "fista": Fista,
}

_WORDS: dict[type, str] = {kind: word for word, kind in SOLVERS.items()}


def solver_word(kind: type) -> str | None:
    """Of a class; None for what is no solver a user can name."""
    return _WORDS.get(kind)
