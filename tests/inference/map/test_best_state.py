"""Most probable states by a tree, by toulbar2 and by messages; which is taken, and what it says of itself."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

from mrfit.core.errors import ImpossibleError, InputError
from mrfit.core.factors import Factors
from mrfit.inference.exact import planned_tree
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.map import best_state as room
from mrfit.inference.map.best_state import best_state
from mrfit.inference.map.state_search import StateSearch
from mrfit.inference.map.toulbar2 import Toulbar2, WCSPSolution
from populations import SCOPES, random_factors, spin_glass
from reference import factors as reference

CONTRADICTION = Factors.from_tables((2, 2), [((0,), [0.0, -np.inf]), ((1, 0), [[-np.inf, 0.0]] * 2)])


class _TooSmall(JunctionTree):
    def __init__(self, seed: int = 0) -> None:
        super().__init__(max_cells=1, seed=seed)


@pytest.fixture
def no_tree_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planned_tree, "JunctionTree", _TooSmall)


@pytest.mark.parametrize("zeros", [0.0, 0.3], ids=["finite", "zeros"])
@pytest.mark.parametrize("engine", ["tree", "toulbar2"])
@pytest.mark.parametrize("name", SCOPES)
def test_equals_the_definition(name: str, engine: str, zeros: float, rng: np.random.Generator) -> None:
    product = random_factors(rng, *SCOPES[name], zeros=zeros)
    log_z, p = reference.probabilities(product)
    found = best_state(product, engine=engine)
    assert found.exact
    assert found.log_potential == pytest.approx(np.log(max(p.values())) + log_z, abs=1e-6)
    assert product.log_potential(found.codes[None])[0] == pytest.approx(found.log_potential, abs=1e-9)


def test_max_product_is_exact_on_a_tree_and_says_so(rng: np.random.Generator) -> None:
    product = random_factors(rng, *SCOPES["tree"])
    found, exact = (best_state(product, engine=engine) for engine in ("max-product", "tree"))
    assert found.exact
    assert found.log_potential == pytest.approx(exact.log_potential, abs=1e-9)


def test_auto_takes_the_first_that_can(
    no_tree_fits: None, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = random_factors(rng, *SCOPES["cycle"])
    found = best_state(product)
    assert (found.engine, found.exact) == ("toulbar2", True)
    assert "no tree fits" in found.why
    monkeypatch.setattr(room, "find_spec", lambda name: None)
    assert best_state(product).engine == "search"


def test_a_search_says_how_far_it_may_be_off(
    no_tree_fits: None, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what would prove it."""
    monkeypatch.setattr(room, "find_spec", lambda name: None)
    product = spin_glass([(i, j) for i in range(8) for j in range(i)], rng)
    log_z, p = reference.probabilities(product)
    found, truth = best_state(product), np.log(max(p.values())) + log_z
    assert not found.exact
    assert found.log_potential == pytest.approx(truth, abs=1e-9)
    assert found.bound > truth
    assert "pip install 'mrfit[map]'" in found.remarks[-1]
    certain = random_factors(rng, *SCOPES["tree"])
    found = best_state(certain)
    assert (found.engine, found.exact, found.remarks) == ("search", True, ())
    assert found.bound == found.log_potential


def test_what_toulbar2_does_not_finish_is_searched(
    no_tree_fits: None, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search starts at the state that toulbar2 had reached."""
    product = spin_glass([(i, j) for i in range(8) for j in range(i)], rng)
    poor = np.zeros(8, np.int64)
    score = float(product.log_potential(poor[None])[0])
    alone = StateSearch().best(product)
    bound = 0.5 * (alone.log_potential + alone.bound)
    monkeypatch.setattr(Toulbar2, "best", lambda self, factors: WCSPSolution(poor, score, bound, remarks=("stopped",)))
    assert best_state(product, engine="toulbar2").log_potential == score
    found = best_state(product)
    assert found.engine == "search"
    assert found.log_potential > score
    assert found.bound == bound
    assert f"more than {bound:.6g}" in found.remarks[0]


def test_a_state_of_a_stopped_toulbar2_is_not_exact(rng: np.random.Generator) -> None:
    """The upper bound holds against the tables, and no tree or search finds a better state than it allows."""
    n = 60
    product = spin_glass([(i, j) for i in range(n) for j in range(i)], rng)
    product = Factors.from_tables(product.shape, [*zip(product.scopes, product.tables, strict=True), ((), [3.0])])
    solved = Toulbar2(seconds=1).best(product)
    assert solved is not None
    assert not solved.proven
    assert "stopped after 1 s" in solved.remarks[0]
    assert solved.log_potential == pytest.approx(product.log_potential(solved.codes[None])[0])
    assert solved.bound > StateSearch().best(product).log_potential - 1e-9


def test_toulbar2_that_finds_nothing_in_time_leaves_it_to_the_search(
    no_tree_fits: None, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = random_factors(rng, *SCOPES["cycle"])
    monkeypatch.setattr(Toulbar2, "best", lambda self, factors: None)
    assert best_state(product).engine == "search"
    with pytest.raises(InputError, match="found no joint state in 60 s; use search"):
        best_state(product, engine="toulbar2")


def test_other_threads_run_while_toulbar2_searches(rng: np.random.Generator) -> None:
    """Such as the one that shows progress."""
    ended, turns = threading.Event(), []

    def count() -> None:
        while not ended.wait(0.05):
            turns.append(None)

    counter = threading.Thread(target=count)
    counter.start()
    before = len(turns)
    Toulbar2(seconds=1).best(spin_glass([(i, j) for i in range(60) for j in range(i)], rng))
    seen = len(turns)
    ended.set()
    counter.join()
    assert seen > before + 1


def test_toulbar2_that_is_stopped_proves_nothing(rng: np.random.Generator) -> None:
    """Toulbar2 claimed an optimum for the best state so far."""
    place = np.arange(400).reshape(20, 20)
    across, down = (place[:, :-1], place[:, 1:]), (place[:-1], place[1:])
    pairs = [pair for i, j in (across, down) for pair in zip(i.ravel().tolist(), j.ravel().tolist(), strict=True)]
    found = Toulbar2(seconds=1).best(spin_glass(pairs, rng))
    assert not found.proven
    assert found.remarks == ("toulbar2 was stopped after 1 s: there may be a better state.",)
    small = Toulbar2(seconds=60).best(spin_glass([(0, 1), (1, 2), (0, 2)], rng))
    assert small.proven
    assert small.remarks == ()


def test_what_is_missing_is_said(no_tree_fits: None, monkeypatch: pytest.MonkeyPatch) -> None:
    product = Factors.from_tables((2, 2), [((0, 1), np.zeros(4))])
    with pytest.raises(InputError, match=r"cliques of .* cells"):
        best_state(product, engine="tree")
    with pytest.raises(InputError, match="choose auto, tree, toulbar2, search, max-product"):
        best_state(product, engine="magic")
    monkeypatch.setitem(sys.modules, "pytoulbar2", None)
    with pytest.raises(InputError, match=r"pip install 'mrfit\[map\]'"):
        Toulbar2().best(product)


@pytest.mark.parametrize("engine", ["tree", "toulbar2"])
def test_no_possible_state_is_told(engine: str) -> None:
    with pytest.raises(ImpossibleError, match="no joint state possible"):
        best_state(CONTRADICTION, engine=engine)
