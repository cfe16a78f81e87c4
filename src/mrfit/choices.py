"""Words to objects: the only place where strings given by a user become structures and solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError, StructureError, listed
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.minimize import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.structure.edges_file import read_edges
from mrfit.structure.mutual_information import maximum_information_tree
from mrfit.structure.structure import Structure

STRUCTURES: dict[str, Callable[[str, UniqueRows], Structure]] = {
    "complete": lambda _, rows: Structure.complete(len(rows.domain)),
    "independent": lambda _, rows: Structure.independent(len(rows.domain)),
    "tree": lambda _, rows: maximum_information_tree(rows),
    "order": lambda argument, rows: Structure.up_to_order(len(rows.domain), _order(argument)),
    "edges": lambda argument, rows: read_edges(argument, rows.domain),
}

METHODS: dict[str, Callable[[], Method[Any]]] = {"newton": TruncatedNewton, "lbfgs": LBFGS}

PENALTIES = ("l2",)

_WITH_ARGUMENT = {"order": "order:3", "edges": "edges:FILE"}


def structure_from(choice: Any, rows: UniqueRows) -> Structure:
    """``complete``, ``independent``, ``tree``, ``order:R``, ``edges:FILE``, a `Structure` or a networkx graph."""
    if isinstance(choice, Structure):
        if choice.n_variables != len(rows.domain):
            raise StructureError(
                f"The structure is over {choice.n_variables} variables; the data have {len(rows.domain)}."
            )
        return choice
    if not isinstance(choice, str):
        import networkx

        if isinstance(choice, networkx.Graph):
            return Structure.from_graph(choice, rows.domain)
        raise StructureError(f"A structure is a word, a Structure or a networkx graph; got {type(choice).__name__}.")
    word, _, argument = choice.partition(":")
    if word not in STRUCTURES or (word in _WITH_ARGUMENT) != bool(argument):
        known = [_WITH_ARGUMENT.get(name, name) for name in STRUCTURES]
        raise StructureError(f"There is no structure {choice!r}; choose one of {listed(known)}.")
    return STRUCTURES[word](argument, rows)


def method_from(word: str) -> Method[Any]:
    """``newton`` or ``lbfgs``."""
    if word not in METHODS:
        raise InputError(f"There is no solver {word!r}; choose one of {listed(METHODS)}.")
    return METHODS[word]()


def check_penalty(word: str) -> None:
    if word not in PENALTIES:
        raise InputError(f"There is no penalty {word!r}; choose one of {listed(PENALTIES)}.")


def _order(argument: str) -> int:
    if not argument.isdecimal():
        raise StructureError(f"order:{argument} is not a structure; expected a whole number, as in order:3.")
    return int(argument)
