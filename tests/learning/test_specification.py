"""Words to objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from mrfit._names import NAMES
from mrfit.cli.fit import command
from mrfit.core.errors import InputError, StructureError
from mrfit.formats.graphs import save_structure
from mrfit.learning import specification as registry
from mrfit.learning.chains.likelihood_growth import LikelihoodGrowth
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.objective_specs import LikelihoodSpec
from mrfit.registry import OBJECTIVES, PARAMETERIZATIONS, PENALTIES, SOLVERS, STRUCTURES, Registry
from mrfit.solvers.fista import Fista
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.owlqn import OWLQN
from mrfit.solvers.proximal_newton import ProximalNewton
from mrfit.structures.mutual_information import maximum_information_tree
from mrfit.structures.simple import Learned
from mrfit.structures.structure import Structure
from populations import METHODS, random_rows
from words import learner


def test_every_word_gives_its_structure(tmp_path: Path, rng: np.random.Generator) -> None:
    """And structures and graphs pass."""
    rows = random_rows(rng, (2, 3, 2, 2), 30)
    (tmp_path / "edges.csv").write_text("x0,x3\n")
    chain = Structure.from_edges(4, [(0, 1), (1, 2)])
    expected: list[tuple[Any, Structure]] = [
        ("complete", Structure.complete(4)),
        ("independent", Structure.independent(4)),
        ("tree", maximum_information_tree(rows)),
        ("learned", Learned().learn(rows).structure),
        ("grown", LikelihoodGrowth().learn(rows).structure),
        ("order:3", Structure.up_to_order(4, 3)),
        (f"edges:{tmp_path / 'edges.csv'}", Structure.from_edges(4, [(0, 3)])),
        (chain, chain),
        (nx.Graph([("x0", "x1")]), Structure.from_edges(4, [(0, 1)])),
    ]
    for choice, structure in expected:
        assert registry.structure_from(choice, rows.domain).learn(rows).structure == structure
    words = {str(word).partition(":")[0] for word, _ in expected if isinstance(word, str)}
    assert words == {form.partition(":")[0] for form in STRUCTURES.forms}


@pytest.mark.parametrize("name", ["edges.csv", "graph.graphml", "structure.JSON"])
def test_edges_of_every_form_that_is_written(tmp_path: Path, rng: np.random.Generator, name: str) -> None:
    rows = random_rows(rng, (2, 2, 2, 2), 10)
    structure = Structure.from_edges(4, [(0, 3), (1, 2)])
    save_structure(tmp_path / name, structure, rows.domain)
    found = registry.structure_from(f"edges:{tmp_path / name}", rows.domain).learn(rows)
    assert found.structure == structure


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("cycle", "no structure 'cycle'; choose one of 'complete', .*'order:R', 'edges:FILE'"),
        ("order", "no structure 'order'"),
        ("order:", "no structure 'order:'"),
        ("tree:3", "no structure 'tree:3'"),
        ("order:two", "order:two is not a structure"),
        ("order:-1", "order:-1 is not a structure"),
        ("order:0", "at least 1; got 0"),
        ("edges:/no/such/file", "no edge file '/no/such/file'"),
        (Structure.complete(5), "over 5 variables; the data have 3"),
        (None, "got NoneType"),
        (3, "got int"),
    ],
)
def test_wrong_choices_are_named(choice: Any, message: str, rng: np.random.Generator) -> None:
    """The error lists the choices."""
    rows = random_rows(rng, (2, 2, 2), 10)
    with pytest.raises(StructureError, match=message):
        registry.structure_from(choice, rows.domain).learn(rows)


def test_every_method_has_a_word() -> None:
    """And no word is without a method."""
    methods = {type(registry.solver_from(word)) for word in SOLVERS}
    assert methods == {type(method) for method in METHODS.values()}
    with pytest.raises(InputError, match="no solver 'sgd'; choose one of 'newton', 'lbfgs', 'owlqn'"):
        registry.solver_from("sgd")


def test_no_word_leaves_the_choice_to_penalty_and_engine(rng: np.random.Generator) -> None:
    """Penalties and engines have methods of their own."""
    assert registry.solver_from(None) is None
    rows, structure = random_rows(rng, (2, 3, 2), 30), Structure.complete(3)
    sparse = {"l1": OWLQN, "flat-l1": OWLQN, "group": Fista, "hierarchical": Fista}
    shrinking = ("l2", "flat-l2")
    for word in (*sparse, *shrinking, "none", "pseudo-counts", "tied", "hard", "ltr"):

        def solver(objective: Any, word: str = word) -> Method[Any]:
            return FitProblem(rows, structure, learner(penalty=word, objective=objective)).solver

        if word != "pseudo-counts":
            assert solver("pseudo-likelihood") == sparse.get(word, TruncatedNewton)()
        exact = ProximalNewton() if word in sparse else TruncatedNewton()
        assert solver(LikelihoodSpec("enumeration")) == exact
        assert solver(LikelihoodSpec("tree")) == (LBFGS(memory=50) if word in shrinking else exact)


def test_an_unknown_penalty_is_named() -> None:
    with pytest.raises(InputError, match="no penalty 'l7'; choose one of 'l2', 'l1'"):
        learner(penalty="l7")


@pytest.mark.parametrize("kind", [kind for kind in NAMES if kind != "setting"])
def test_every_word_of_the_table_is_that_of_its_part(kind: str) -> None:
    """The table is written out so that --help does not wait for numba."""
    parts = Registry[Any](kind)
    assert {word: parts[word].word for word in parts} == {word: word for word in NAMES[kind]}


def test_the_command_line_offers_every_word() -> None:
    offered: dict[Any, Any] = {option.name: option.type for option in command.params}
    assert offered["penalty"].choices == tuple(PENALTIES)
    assert offered["solver"].choices == tuple(SOLVERS)
    assert offered["objective"].choices == tuple(OBJECTIVES)
    assert offered["parameterization"].choices == tuple(PARAMETERIZATIONS)
