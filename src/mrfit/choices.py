"""Words to objects: the only place where strings given by a user become structures and solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.errors import InputError, StructureError, listed
from mrfit.formats.graphs import load_structure
from mrfit.learning import PENALTIES as PENALTIES
from mrfit.solvers.fista import Fista
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.owlqn import OWLQN
from mrfit.solvers.proximal_newton import ProximalNewton
from mrfit.structure.edges_file import read_edges
from mrfit.structure.mutual_information import maximum_information_tree
from mrfit.structure.nodewise import StructureSettings, learn_structure
from mrfit.structure.structure import Structure


@dataclass(frozen=True)
class Source:
    """What a structure is made from: the rows, and for a learned one how, and held-out rows."""

    rows: UniqueRows
    learning: StructureSettings = field(default_factory=StructureSettings)
    valid: UniqueRows | None = None

    @property
    def n_variables(self) -> int:
        return len(self.rows.domain)


STRUCTURES: dict[str, Callable[[str, Source], Structure]] = {
    "complete": lambda _, source: Structure.complete(source.n_variables),
    "independent": lambda _, source: Structure.independent(source.n_variables),
    "tree": lambda _, source: maximum_information_tree(source.rows),
    "l1": lambda _, source: learn_structure(source.rows, source.learning, valid=source.valid).structure,
    "order": lambda argument, source: _up_to_order(argument, source.n_variables),
    "edges": lambda argument, source: _from_file(argument, source.rows.domain),
}

METHODS: dict[str, type[Method[Any]]] = {
    "newton": TruncatedNewton,
    "lbfgs": LBFGS,
    "owlqn": OWLQN,
    "proximal-newton": ProximalNewton,
    "fista": Fista,
}

_WITH_ARGUMENT = {"order": "order:3", "edges": "edges:FILE"}


def structure_from(choice: Any, source: Source) -> Structure:
    """A word (``complete``, ``tree``, ``l1``, ``order:3``, ``edges:FILE``, ...), a `Structure` or a networkx graph."""
    if isinstance(choice, Structure):
        if choice.n_variables != source.n_variables:
            raise StructureError(
                f"The structure is over {choice.n_variables} variables; the data have {source.n_variables}."
            )
        return choice
    if not isinstance(choice, str):
        import networkx

        if isinstance(choice, networkx.Graph):
            return Structure.from_graph(choice, source.rows.domain)
        raise StructureError(f"A structure is a word, a Structure or a networkx graph; got {type(choice).__name__}.")
    word, colon, argument = choice.partition(":")
    if word not in STRUCTURES or (word in _WITH_ARGUMENT) != bool(colon and argument) or bool(colon) != bool(argument):
        known = [_WITH_ARGUMENT.get(name, name) for name in STRUCTURES]
        raise StructureError(f"There is no structure {choice!r}; choose one of {listed(known)}.")
    return STRUCTURES[word](argument, source)


def method_from(word: str | None) -> Method[Any] | None:
    """``newton``, ``lbfgs``, ``owlqn``, ``proximal-newton``, ``fista``, or None for the penalty's own."""
    if word is None:
        return None
    if word not in METHODS:
        raise InputError(f"There is no solver {word!r}; choose one of {listed(METHODS)}.")
    return METHODS[word]()


def _from_file(path: str, domain: Domain) -> Structure:
    """GraphML and JSON by their suffix; everything else is an edge list."""
    is_graph = Path(path).suffix.lower() in (".graphml", ".json")
    return load_structure(path, domain) if is_graph else read_edges(path, domain)


def _up_to_order(argument: str, n_variables: int) -> Structure:
    if argument == "all":
        return Structure.up_to_order(n_variables, n_variables)
    if not argument.isdecimal():
        raise StructureError(
            f"order:{argument} is not a structure; expected a whole number as in order:3, or order:all."
        )
    return Structure.up_to_order(n_variables, int(argument))
