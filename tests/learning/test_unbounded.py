"""Parameters without a finite estimate: found by certificates, and only where there are some."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.learning.objective_specs import LIKELIHOOD, PSEUDO_LIKELIHOOD, ObjectiveSpec
from mrfit.learning.penalty_specs import L1, L2, NoPenalty
from mrfit.model.markov_network import MarkovNetwork
from mrfit.structures.simple import AllInteractions, ChowLiuTree
from populations import domain_of

Codes = NDArray[np.int64]

both_objectives = pytest.mark.parametrize("objective", [PSEUDO_LIKELIHOOD, LIKELIHOOD], ids=["pll", "ll"])


def _rows(codes: Codes, shape: tuple[int, ...]) -> UniqueRows:
    return UniqueRows.from_codes(domain_of(shape), codes.astype(np.uint8), np.ones(len(codes)))


def _unpenalised(codes: Codes, shape: tuple[int, ...], objective: ObjectiveSpec, **more: str) -> MarkovNetwork:
    return Learner(penalty=NoPenalty(), objective=objective, **more).fit(_rows(codes, shape)).model  # type: ignore[arg-type]


def _limits(codes: Codes, shape: tuple[int, ...], objective: ObjectiveSpec) -> list[str | None]:
    model = _unpenalised(codes, shape, objective)
    return [model.unbounded.get(name) for name in model.parameters.names()]


def _singles_then_pairs(codes: Codes, objective: ObjectiveSpec) -> tuple[list[str | None], list[str | None]]:
    """Limits of the parameters of three binary variables."""
    limits = _limits(codes, (2, 2, 2), objective)
    return limits[:3], limits[3:]


@both_objectives
def test_equal_columns(objective: ObjectiveSpec, rng: np.random.Generator) -> None:
    a, c = rng.integers(0, 2, (2, 300))
    singles, (ab, ac, bc) = _singles_then_pairs(np.column_stack([a, a, c]), objective)
    assert singles == ["-inf", "-inf", None]
    assert ab == "+inf"
    assert (ac, bc) == ("undetermined", "undetermined")  # only their sum is known


@both_objectives
def test_opposite_columns(objective: ObjectiveSpec, rng: np.random.Generator) -> None:
    a, c = rng.integers(0, 2, (2, 300))
    singles, (ab, ac, bc) = _singles_then_pairs(np.column_stack([a, 1 - a, c]), objective)
    assert singles == ["+inf", "+inf", "undetermined"]
    assert ab == "-inf"
    assert (ac, bc) == ("undetermined", "undetermined")


@both_objectives
def test_a_pair_that_never_occurs_together(objective: ObjectiveSpec, rng: np.random.Generator) -> None:
    a, b, c = rng.integers(0, 2, (3, 300))
    singles, pairs = _singles_then_pairs(np.column_stack([a, b & (1 - a), c]), objective)
    assert singles == [None, None, None]
    assert pairs == ["-inf", None, None]


@both_objectives
def test_triples_separate_where_every_pair_has_all_its_states(
    objective: ObjectiveSpec, rng: np.random.Generator
) -> None:
    """Neither 000 nor 111 occurs (Haberman 1974): no table of a pair shows it. One more row of either ends it."""
    codes = rng.integers(0, 2, (400, 3))
    mixed = codes[(codes.sum(axis=1) % 3) > 0]
    assert all(len(np.unique(mixed[:, pair], axis=0)) == 4 for pair in ([0, 1], [0, 2], [1, 2]))
    assert _singles_then_pairs(mixed, objective) == (["+inf"] * 3, ["-inf"] * 3)
    assert _singles_then_pairs(np.vstack([mixed, [[1, 1, 1]]]), objective) == ([None] * 3, [None] * 3)


@both_objectives
def test_near_separation_is_finite(objective: ObjectiveSpec, rng: np.random.Generator) -> None:
    """One row of each kind against 3,000: large parameters, all with an estimate."""
    a, c = rng.integers(0, 2, (2, 3000))
    against = [[1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 1]]
    codes = np.vstack([np.column_stack([a, a, c]), against])
    model = _unpenalised(codes, (2, 2, 2), objective)
    assert model.unbounded == {}
    assert np.abs(model.w).max() > 10.0


@both_objectives
def test_categories(objective: ObjectiveSpec, rng: np.random.Generator) -> None:
    """Variables have three states; the last of one never occurs with the second of the other."""
    a, b, c = (rng.integers(0, n, 500) for n in (3, 3, 2))
    codes = np.column_stack([a, np.where((a == 2) & (b == 1), 0, b), c])
    model = _unpenalised(codes, (3, 3, 2), objective)
    assert model.unbounded == {_pair(model, 2, 1): "-inf"}


def _pair(model: MarkovNetwork, first: int, second: int) -> str:
    wanted = ((0, first), (1, second))
    return next(model.parameters.name(k) for k in range(len(model.w)) if model.parameters.states(k) == wanted)


@both_objectives
@pytest.mark.parametrize("word", ["spectral", "ising", "ordered"])
def test_other_coordinates(word: str, objective: ObjectiveSpec, rng: np.random.Generator) -> None:
    a, c = rng.integers(0, 2, (2, 200))
    model = _unpenalised(np.column_stack([a, a, c]), (2, 2, 2), objective, parameterization=word)
    names = list(model.parameters.names())
    assert model.unbounded[names[3]] == "+inf"
    assert names[2] not in model.unbounded


@both_objectives
def test_parameters_that_can_stand_for_each_other_are_not_unbounded(
    objective: ObjectiveSpec, rng: np.random.Generator
) -> None:
    codes = rng.integers(0, 2, (300, 3))
    assert _unpenalised(codes, (2, 2, 2), objective, parameterization="full").unbounded == {}


@both_objectives
@pytest.mark.parametrize("seed", range(12))
def test_they_are_what_grows_as_a_penalty_vanishes(objective: ObjectiveSpec, seed: int) -> None:
    """Few rows of four variables, against ever weaker L2 penalties: what has a limit grows to it, the rest settles."""
    rng = np.random.default_rng(seed)
    shape = (2, 3, 2, 2)
    rows = _rows(np.column_stack([rng.integers(0, n, 14 + 4 * seed) for n in shape]), shape)
    model = Learner(penalty=NoPenalty(), objective=objective).fit(rows).model
    strong, weak = (
        Learner(penalty=L2(strength, free_orders=()), objective=objective, tolerance=1e-12, max_iterations=5000)
        .fit(rows)
        .model.w
        for strength in (1e-5, 1e-8)
    )
    for k, name in enumerate(model.parameters.names()):
        limit, growth = model.unbounded.get(name), weak[k] - strong[k]
        if limit is None:
            assert abs(growth) < 0.1, name
        elif limit != "undetermined":
            assert np.copysign(growth, float(limit)) == growth, name
            assert abs(growth) > 0.5, name


def test_wide_networks_are_certified_by_a_junction_tree(rng: np.random.Generator) -> None:
    """Forty variables in a chain have too many joint states to look at all of them."""
    codes = rng.integers(0, 2, (300, 40))
    codes[:, 7] = codes[:, 6]
    codes[:, 21] &= 1 - codes[:, 20]
    codes[:, 30:] = rng.integers(0, 2, (300, 10))
    learner = Learner(structure=ChowLiuTree(), penalty=NoPenalty(), objective=LIKELIHOOD)
    by_likelihood = learner.fit(_rows(codes, (2,) * 40)).model
    by_conditionals = Learner(structure=ChowLiuTree(), penalty=NoPenalty()).fit(_rows(codes, (2,) * 40)).model
    assert set(by_likelihood.unbounded.values()) >= {"+inf", "-inf"}
    assert by_likelihood.unbounded == by_conditionals.unbounded


@both_objectives
@pytest.mark.parametrize("penalty", [L2(1e-3, free_orders=()), L1(0.5)], ids=["l2", "l1"])
def test_a_penalty_is_silent(penalty: L2 | L1, objective: ObjectiveSpec, rng: np.random.Generator) -> None:
    a, c = rng.integers(0, 2, (2, 100))
    rows = _rows(np.column_stack([a, a, c]), (2, 2, 2))
    assert Learner(penalty=penalty, objective=objective).fit(rows).model.unbounded == {}


@both_objectives
def test_single_variables_that_a_penalty_leaves_free(objective: ObjectiveSpec, rng: np.random.Generator) -> None:
    """The l1 penalty leaves them free, and a state that never occurs has a parameter of minus infinity."""
    codes = np.column_stack([rng.integers(0, 2, 100), rng.integers(0, 2, 100), rng.integers(0, 2, 100)])
    model = Learner(penalty=L1(1.0), objective=objective).fit(_rows(codes, (2, 2, 3))).model
    unseen = next(model.parameters.name(k) for k in range(len(model.w)) if model.parameters.states(k) == ((2, 2),))
    assert model.unbounded == {unseen: "-inf"}


@both_objectives
def test_larger_scopes(objective: ObjectiveSpec, rng: np.random.Generator) -> None:
    """One joint state that never occurs is enough for triples."""
    states = np.array([state for state in product((0, 1), repeat=3) if state != (1, 1, 1)])
    codes = np.column_stack([states[rng.integers(0, len(states), 400)], rng.integers(0, 2, 400)])
    rows = _rows(codes, (2,) * 4)
    model = Learner(structure=AllInteractions(3), penalty=NoPenalty(), objective=objective).fit(rows).model
    assert list(model.unbounded.values()) == ["-inf"]
    assert next(iter(model.unbounded)).count("&") == 2


def test_files_keep_them_and_other_coordinates_do_not(tmp_path: Path, rng: np.random.Generator) -> None:
    a, c = rng.integers(0, 2, (2, 100))
    model = _unpenalised(np.column_stack([a, a, c]), (2, 2, 2), PSEUDO_LIKELIHOOD)
    assert model.unbounded
    model.save(tmp_path / "m.mrf")
    assert MarkovNetwork.load(tmp_path / "m.mrf").unbounded == model.unbounded
    assert model.to_parameterization("spectral").unbounded == {}


def test_errors_know_them(rng: np.random.Generator) -> None:
    """Also where the solver stopped short of a bound."""
    codes = rng.integers(0, 2, (400, 3))
    rows = _rows(codes[(codes.sum(axis=1) % 3) > 0], (2, 2, 2))
    model = Learner(penalty=NoPenalty()).fit(rows, errors="sandwich").model
    assert model.errors is not None
    assert np.isnan(model.errors.standard_errors).all()
    assert len(model.unbounded) == 6
