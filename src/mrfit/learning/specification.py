"""Words to objects: this module alone turns strings of a user into parts of a learner."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError, StructureError, listed
from mrfit.data.unique_rows import UniqueRows
from mrfit.formats.graphs import load_structure
from mrfit.learning.fit_result import FitResult
from mrfit.learning.learner import Learner, Progress
from mrfit.learning.objective_specs import ObjectiveSpec
from mrfit.learning.penalty_spec import Callback, PenaltySpec
from mrfit.registry import OBJECTIVES, PENALTIES, SOLVERS, STRUCTURES, needs_arguments
from mrfit.solvers.method import Method
from mrfit.structures.edges_file import read_edges
from mrfit.structures.simple import AllInteractions, FixedStructure, StructureLearner
from mrfit.structures.structure import Structure


def structure_from(choice: Any, domain: Domain) -> StructureLearner:
    """A word (``complete``, ``learned``, ``order:3``, ``edges:FILE``, ...), a learner of structures, a structure or a
    networkx graph."""
    if isinstance(choice, StructureLearner):
        return choice
    if isinstance(choice, Structure):
        return FixedStructure(choice)
    if isinstance(choice, str):
        return _structure_from_word(choice, domain)
    import networkx

    if isinstance(choice, networkx.Graph):
        return FixedStructure(Structure.from_graph(choice, domain))
    raise StructureError(
        f"A structure is a word, a learner of structures, a Structure or a networkx graph; got {type(choice).__name__}."
    )


def _structure_from_word(text: str, domain: Domain) -> StructureLearner:
    word, _, argument = text.partition(":")
    if word == "order" and argument:
        return AllInteractions(_order(argument))
    if word == "edges" and argument:
        return FixedStructure(_from_file(argument, domain))
    learner = structure_called(text)
    if learner is None:
        raise StructureError(f"There is no structure {text!r}; choose one of {listed(STRUCTURES.forms, limit=24)}.")
    return learner


def structure_called(word: str) -> StructureLearner | None:
    """Learner of a word that needs no argument; None if the word names no such learner."""
    if word not in STRUCTURES or STRUCTURES.form(word) != word or needs_arguments(STRUCTURES[word]):
        return None
    return STRUCTURES[word]()


def _from_file(path: str, domain: Domain) -> Structure:
    """GraphML and JSON by their suffix; everything else is an edge list."""
    is_graph = Path(path).suffix.lower() in (".graphml", ".json")
    return load_structure(path, domain) if is_graph else read_edges(path, domain)


def _order(argument: str) -> int | None:
    if argument == "all":
        return None
    if not argument.isdecimal():
        raise StructureError(
            f"order:{argument} is not a structure; expected a whole number as in order:3, or order:all."
        )
    return int(argument)


def penalty_from(choice: str | PenaltySpec, **settings: Any) -> PenaltySpec:
    """A word such as ``l1``, with settings, or a penalty itself."""
    if isinstance(choice, PenaltySpec):
        return choice
    kind = PENALTIES.called(choice)
    known = [f.name for f in fields(kind)]
    foreign = [name for name in settings if name not in known]
    if foreign:
        raise InputError(f"The penalty {choice!r} has no {foreign[0]!r}; it has {listed(known, limit=20)}.")
    return kind(**settings)


def objective_from(choice: str | ObjectiveSpec) -> ObjectiveSpec:
    return choice if isinstance(choice, ObjectiveSpec) else OBJECTIVES.called(choice)()


def solver_from(choice: str | Method[Any] | None) -> Method[Any] | None:
    """``newton``, ``lbfgs``, ``owlqn``, ``proximal-newton``, ``fista``, or None for the penalty's own."""
    return choice if choice is None or isinstance(choice, Method) else SOLVERS.called(choice)()


def learner_from(
    domain: Domain,
    *,
    structure: Any = "complete",
    penalty: str | PenaltySpec = "l2",
    objective: str | ObjectiveSpec = "pseudo-likelihood",
    solver: str | Method[Any] | None = None,
    **settings: Any,
) -> Learner:
    """A learner whose parts may be words."""
    return Learner(
        structure=structure_from(structure, domain),
        penalty=penalty_from(penalty),
        objective=objective_from(objective),
        solver=solver_from(solver),
        **settings,
    )


def learn(
    data: Any,
    structure: Any = "complete",
    learner: Learner | None = None,
    *,
    valid: Any = None,
    jobs: int = 1,
    errors: str | None = None,
    callback: Callback | None = None,
    progress: Progress | None = None,
    **parts: Any,
) -> FitResult:
    """Learn a network in one call; words or objects say how.

    Parameters
    ----------
    data : table, UniqueRows, Dataset or PartitionedTable
        A pandas or polars frame, Arrow table, array, dict of columns, or rows that were read.
    structure : str, StructureLearner, Structure or networkx.Graph, default="complete"
        ``complete``, ``independent``, ``tree``, ``learned``, ``order:R``, ``edges:FILE`` or another registered word, or
        an object.
    learner : Learner or None, default=None
        A learner with all other settings; replaces ``parts``.
    valid : table, UniqueRows, Dataset or None, default=None
        Validation rows, which choose among several fits.
    jobs : int, default=1
        Number of threads. The result does not depend on it.
    errors : {"sandwich", "model"} or None, default=None
        Estimate standard errors of the best fit.
    callback : callable or None, default=None
        Called with the strength and each record of a solver; it may return True to stop that fit.
    progress : callable or None, default=None
        Called with the number of finished fits and the number of all fits.
    **parts
        Settings of `Learner`. ``penalty``, ``objective`` and ``solver`` may be words such as ``"l1"``.

    Returns
    -------
    FitResult
        All fits and the best one; its model is ``result.model``.

    Raises
    ------
    InputError
        If a word is unknown, settings contradict each other, or data cannot be read.

    See Also
    --------
    mrfit.Learner : All settings as one value.

    Examples
    --------
    >>> from mrfit import learn
    >>> table = {"smokes": ["yes", "yes", "no", "no"] * 25, "coughs": ["yes", "no", "no", "no"] * 25}
    >>> fitted = learn(table, "tree", penalty="l2")
    >>> fitted.model.strongest(1, order=2)
    [('smokes=yes & coughs=yes', 2.72...)]
    """
    if learner is not None and parts:
        raise InputError(f"A learner has its own {next(iter(parts))!r}; give one of them.")
    rows = UniqueRows.of(data)
    if learner is None:
        learner = learner_from(rows.domain, **parts)
    return learner.with_structure(structure_from(structure, rows.domain)).fit(
        rows, valid, jobs=jobs, errors=errors, callback=callback, progress=progress
    )
