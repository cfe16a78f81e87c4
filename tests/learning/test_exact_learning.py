"""Exact learning against values found elsewhere, closed forms, dense matrices, and itself in other words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit import MarkovNetworkLearner, ParameterizationOptions
from mrfit.core.errors import InputError, StructureError
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import CandidateFit, Learner
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.penalty_specs import L1
from mrfit.learning.specification import learn, structure_from
from mrfit.model.markov_network import MarkovNetwork
from mrfit.objectives.likelihood import Likelihood
from mrfit.parameterizations.joint import Saturated
from mrfit.parameterizations.spectral import Spectral
from mrfit.penalties.group_l1 import GroupL1
from mrfit.penalties.l1 import WeightedL1
from mrfit.penalties.l2 import Ridge
from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.registry import PARAMETERIZATIONS
from mrfit.solvers import proximal_newton
from mrfit.solvers.fista import Fista
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.quadratics import orthant as faces
from mrfit.structures.structure import Structure
from populations import STRUCTURES, chosen_parameterizations, domain_of, hierarchical, random_rows
from reference.features import DenseLikelihood, feature_matrix, joint_states
from words import learner

Rows = dict[str, UniqueRows]

# Coordinates as Buchman et al. (2012) abbreviate them: C1 fires on the second states, C2 on the first.
COORDINATES: dict[str, dict[str, str]] = {
    "S": {"parameterization": "spectral"},
    "C1": {"parameterization": "canonical", "reference": "first"},
    "C2": {"parameterization": "canonical", "reference": "last"},
    "CR": {"parameterization": "canonical", "reference": "random"},
    "I": {"parameterization": "ising"},
    "GI": {"parameterization": "generalized-ising"},
    "F": {"parameterization": "full"},
}


def _settings(kind: str, penalty: str, strength: float | None, **more: Any) -> Learner:
    strengths = None if strength is None else (strength,)
    return learner(strengths, penalty=penalty, **{"objective": "likelihood"} | COORDINATES[kind] | more)


def _fit(
    rows: UniqueRows,
    kind: str,
    penalty: str,
    strength: float | None,
    *,
    order: int | None = None,
    valid: UniqueRows | None = None,
    **more: Any,
) -> CandidateFit:
    """Fit over all sets of up to ``order`` variables; all of them by default."""
    n = len(rows.domain)
    structure = Structure.up_to_order(n, n if order is None else order)
    return learn(rows, structure, _settings(kind, penalty, strength, **more), valid=valid).best


def _probabilities(model: MarkovNetwork) -> np.ndarray:
    """Probabilities of all joint states, one axis for each variable."""
    shape = model.domain.shape
    states = UniqueRows.from_codes(model.domain, joint_states(shape), np.ones(int(np.prod(shape))))
    dense = DenseLikelihood(feature_matrix(model.parameters), states)
    return np.exp(dense.log_probabilities(model.w)).reshape(shape)


def _nonzero_scopes(model: MarkovNetwork) -> set[tuple[int, ...]]:
    return {model.parameters.scope(int(k)) for k in np.flatnonzero(model.w)}


def _table(counts: np.ndarray) -> UniqueRows:
    """Rows from an array with one axis for each variable."""
    return UniqueRows.from_codes(domain_of(counts.shape), joint_states(counts.shape), counts.ravel().astype(float))


# -- Czech autoworkers -------------------------------------------------------------------------------------------

# Bit k of the place of a count is the state of variable k.
CZECH = """
44 40 112 67 129 145 12 23 35 12 80 33 109 67 7 9 23 32 70 66 50 80 7 13 24 25 73 57 51 63 7 16
5 7 21 9 9 17 1 4 4 3 11 8 14 17 5 2 7 3 14 14 9 16 2 3 4 0 13 11 5 14 4 4
"""


@cache
def _czech() -> UniqueRows:
    counts = np.array(CZECH.split(), float)
    codes = np.arange(64)[:, None] >> np.arange(6) & 1
    return UniqueRows.from_codes(domain_of((2,) * 6), codes.astype(np.uint8), counts)


@cache
def _czech_fit(kind: str, penalty: str, strength: float, **more: Any) -> CandidateFit:
    """Fit to the czech data, cached because many tests use it."""
    return _fit(_czech(), kind, penalty, strength, **more)


@dataclass(frozen=True)
class Value:
    """Value that a prototype and a conic solver agree on to 4e-10: P / N, and the negative log-likelihood per row."""

    kind: str
    penalty: str
    strength: float
    objective: float
    nll: float
    n_sets: int | None = None  # that are not zero, single variables among them

    def __str__(self) -> str:
        return f"{self.kind} {self.penalty}"


CZECH_VALUES = [
    Value("S", "l1", 8, 3.624365492, 3.614782582, 33),
    Value("C1", "l1", 2, 3.626536297, 3.618037362, 26),
    Value("C2", "l1", 2, 3.626336138, 3.618015064, 27),
    Value("I", "l1", 4, 3.628012884, 3.621584418, 21),
    Value("GI", "l1", 2, 3.625661324, 3.616875849),
    Value("F", "l1", 2, 3.624618377, 3.615880451),
    Value("GI", "group", 3, 3.626938470, 3.617627111, 27),
    Value("F", "group", 4, 3.625111204, 3.615440455, 30),
    Value("S", "hierarchical", 8, 3.625692541, 3.616315926, 35),
    Value("C1", "hierarchical", 2, 3.627436288, 3.619616972, 31),
    Value("C2", "hierarchical", 2, 3.627412793, 3.619679913, 30),
    Value("I", "hierarchical", 4, 3.628012884, 3.621584418, 21),
    Value("GI", "hierarchical", 3, 3.627959397, 3.619843679, 33),
    Value("F", "hierarchical", 4, 3.626632959, 3.617779724, 36),
]
every_czech_value = pytest.mark.parametrize("value", CZECH_VALUES, ids=str)


@every_czech_value
def test_czech_autoworkers(value: Value) -> None:
    """All orders of six variables: value, likelihood, zeros, and a certificate."""
    fit = _czech_fit(value.kind, value.penalty, value.strength)
    solution = fit.solution
    assert solution.converged
    assert solution.gap is not None
    assert fit.train is not None
    assert solution.value == pytest.approx(value.objective, abs=3e-7 if str(value) == "F hierarchical" else 1e-7)
    assert -fit.train == pytest.approx(value.nll, abs=2e-6)
    assert solution.gap <= (1e-9 if value.kind in ("S", "C1", "C2") else 1e-7)
    assert fit.model.ll(_czech()) == pytest.approx(fit.train, abs=1e-12)
    if value.n_sets is not None:
        exact = value.penalty == "l1" and value.kind in ("S", "C1", "C2")
        assert abs(fit.n_nonzero_scopes - value.n_sets) <= (0 if exact else 1)
        if value.kind in ("S", "C1", "C2", "I"):
            assert fit.n_nonzero == fit.n_nonzero_scopes


@every_czech_value
def test_the_value_at_the_optimum_is_the_entropy_of_the_model(value: Value) -> None:
    """P(w*) / N = H(p*): the dual is maximum entropy."""
    fit = _czech_fit(value.kind, value.penalty, value.strength)
    p = _probabilities(fit.model)
    assert p.sum() == pytest.approx(1.0, abs=1e-13)
    assert fit.solution.value == pytest.approx(-(p * np.log(p)).sum(), abs=1e-7)


@pytest.mark.parametrize("value", [v for v in CZECH_VALUES if v.kind in ("I", "GI", "F")], ids=str)
def test_two_methods_agree_on_redundant_coordinates(value: Value) -> None:
    """Redundant parameters are not unique, but their value is."""
    newton = _czech_fit(value.kind, value.penalty, value.strength)
    gradients = _fit(
        _czech(), value.kind, value.penalty, value.strength, solver=Fista(), tolerance=1e-4, max_iterations=4000
    )
    assert gradients.solution.converged
    assert gradients.solution.gap <= 1e-7
    assert gradients.solution.value == pytest.approx(newton.solution.value, abs=2e-9)


def test_the_table_is_the_named_data_set_in_another_coding(named_rows: Callable[[str, str], UniqueRows]) -> None:
    """Three variables the other way round; so references by name give the same values."""
    named, rows = named_rows("czech", "data"), _czech()
    assert named.domain.names == ("smoke", "mental", "phys", "systol", "protein", "family")
    codes = named.codes.copy()
    codes[:, :3] = 1 - codes[:, :3]
    recoded = UniqueRows.from_codes(rows.domain, codes, named.sample_weight)
    np.testing.assert_array_equal(recoded.codes, rows.codes)
    np.testing.assert_array_equal(recoded.sample_weight, rows.sample_weight)
    everything = Structure.up_to_order(6, 6)
    for reference, expected in [
        ("smoke=1,mental=1,phys=1", 3.626536297),
        ("systol=1,protein=1,family=1", 3.626336138),
    ]:
        settings = learner((2,), penalty="l1", objective="likelihood", reference=reference)
        fit = learn(named, everything, settings).best
        assert fit.solution.value == pytest.approx(expected, abs=1e-7)
        assert fit.model.parameters.options["reference"] == [
            "1" if f"{name}=1" in reference else "0" for name in named.domain.names
        ]


# -- order 2: everything is one model ----------------------------------------------------------------------------

# By what a strength must be divided to mean the same for pairs.
RESCALED = {
    ("S", "l1"): 1.0,
    ("C1", "l1"): 4.0,
    ("C2", "l1"): 4.0,
    ("CR", "l1"): 4.0,
    ("I", "l1"): 2.0,
    ("GI", "l1"): 4.0,
    ("F", "l1"): 4.0,
    ("F", "group"): 2.0,
    ("GI", "group"): 2.0 * np.sqrt(2.0),
    # Groups of one parameter, and a hierarchy without larger scopes, are nothing new.
    ("S", "group"): 1.0,
    ("C1", "group"): 4.0,
    ("S", "hierarchical"): 1.0,
    ("C2", "hierarchical"): 4.0,
    ("I", "hierarchical"): 2.0,
    ("GI", "hierarchical"): 2.0 * np.sqrt(2.0),
    ("F", "hierarchical"): 2.0,
}


@pytest.mark.parametrize("strength", [0.5, 8.0, 60.0])
def test_pairs_in_all_coordinates_are_one_model(strength: float) -> None:
    """Values and distributions are equal, with strengths that differ by a factor."""
    rows = _czech()
    spectral = _fit(rows, "S", "l1", strength, order=2, tolerance=1e-9)
    p = _probabilities(spectral.model)
    for (kind, penalty), factor in RESCALED.items():
        fit = _fit(rows, kind, penalty, strength / factor, order=2, tolerance=1e-8)
        assert fit.solution.value == pytest.approx(spectral.solution.value, abs=1e-8)
        assert np.abs(_probabilities(fit.model) - p).max() < 1e-6
        assert _nonzero_scopes(fit.model) == _nonzero_scopes(spectral.model)


def test_triples_of_agreements_are_never_chosen() -> None:
    """Pairs say the same for less; sets of four do not."""
    sizes = {len(scope) for scope in _nonzero_scopes(_fit(_czech(), "I", "l1", 0.5).model)}
    assert {1, 2, 4} <= sizes
    assert 3 not in sizes


# -- NLTCS -------------------------------------------------------------------------------------------------------

_PARTS: Rows = {}


@pytest.fixture
def nltcs(named_rows: Callable[[str, str], UniqueRows]) -> Rows:
    """Train, valid and test; read once."""
    if not _PARTS:
        _PARTS.update({part: named_rows("nltcs", part) for part in ("train", "valid", "test")})
    return _PARTS


def test_nltcs_is_the_table_the_values_are_of(nltcs: Rows) -> None:
    """Rows, distinct states, squares of counts, rows of zeros, entropy."""
    facts = [
        (
            rows.n_rows,
            rows.n_distinct,
            int(rows.sample_weight @ rows.sample_weight),
            int(rows.sample_weight[~rows.codes.any(axis=1)].sum()),
        )
        for rows in nltcs.values()
    ]
    assert facts == [(16181, 2671, 9637275, 2859), (2157, 753, 188391, 397), (3236, 1023, 417624, 597)]
    p = nltcs["train"].sample_weight / 16181
    assert -(p @ np.log(p)) == pytest.approx(5.735376879, abs=1e-9)


@dataclass(frozen=True)
class Row:
    """A line of the table of values: order 16 is all."""

    kind: str
    penalty: str
    strength: float | None
    order: int
    objective: float | None
    nll: tuple[float, float, float] | None  # of train, valid and test rows
    n_sets: int | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.penalty} order {self.order}"


_ORDER_2 = (6.025757, 5.976058, 6.029137)
NLTCS_VALUES = [
    Row("S", "none", None, 1, 9.27033051, (9.270331, 9.366724, 9.233605), 16),
    Row("C1", "none", None, 1, 9.27033051, (9.270331, 9.366724, 9.233605), 16),
    Row("S", "none", None, 2, 6.02546813, (6.025468, 5.975017, 6.028409), 136),
    Row("C1", "none", None, 2, 6.02546813, (6.025468, 5.975017, 6.028409), 136),
    *(
        Row(kind, penalty, 16.0 / RESCALED[kind, penalty], 2, 6.04172720, _ORDER_2, 127)
        for kind, penalty in [
            ("S", "l1"), ("C1", "l1"), ("C2", "l1"), ("GI", "l1"), ("F", "l1"), ("I", "l1"), ("F", "group"),
            ("GI", "group"),
        ]
    ),
    Row("S", "l1", 16, 3, 5.99952844, (5.971853, 5.935085, 5.996052), 416),
    Row("S", "l1", 16, 4, 5.98788120, (5.952352, 5.925769, 5.989351), 651),
    Row("S", "l1", 16, 16, 5.98702938, (5.948636, 5.925041, 5.989247), 719),
    Row("C1", "l1", 2, 3, 5.99325139, (5.972090, 5.935191, 5.996280), 415),
    Row("C1", "l1", 2, 16, 5.99095374, (5.966482, 5.932405, 5.993380), 473),
    Row("C2", "l1", 2, 3, 5.99155425, (5.972085, 5.933924, 5.995440), 408),
    Row("C2", "l1", 2, 16, 5.98680874, (5.963484, 5.929450, 5.992207), 483),
    Row("GI", "l1", 2, 3, 5.98694604, None),
    Row("S", "hierarchical", 16, 3, 6.00254971, (5.973733, 5.935161, 5.995141), 448),
    Row("C1", "hierarchical", 4, 3, 6.01545710, (5.982789, 5.938113, 5.995911), 361),
    Row("C2", "hierarchical", 4, 3, 6.01269625, (5.983221, 5.937386, 5.995350), 370),
    Row("S", "flat-l1", 128, 16, 6.11105537, (5.931788, 5.946074, 6.010858), 1452),
    Row("S", "flat-l2", 4096, 16, 6.01589309, (5.831617, 6.157342, 6.267012)),
    Row("S", "pseudo-counts", 1 / 32, 16, None, (5.849450, 6.172105, 6.276930)),
    Row("C2", "pseudo-counts", 1 / 32, 16, None, (5.849450, 6.172105, 6.276930)),
]  # fmt: skip


@pytest.mark.parametrize("row", NLTCS_VALUES, ids=str)
def test_nltcs(row: Row, nltcs: Rows) -> None:
    """Up to all 65,535 sets of sixteen variables: values, likelihoods on all three parts, zeros."""
    fit = _fit(nltcs["train"], row.kind, row.penalty, row.strength, order=row.order, valid=nltcs["valid"])
    assert fit.solution.converged
    if row.objective is not None:
        assert fit.solution.value == pytest.approx(row.objective, abs=1e-7)
        assert fit.solution.gap is not None
        assert fit.solution.gap <= (1e-9 if row.penalty == "l1" and row.kind in ("S", "C1", "C2") else 1e-7)
    if row.nll is not None:
        found = [-fit.train, -fit.held_out, -fit.model.ll(nltcs["test"])]  # type: ignore[operator]
        np.testing.assert_allclose(found, row.nll, rtol=0, atol=2e-6)
    if row.n_sets is not None:
        exact = row.kind in ("S", "C1", "C2") and row.penalty in ("l1", "none")
        assert abs(fit.n_nonzero_scopes - row.n_sets) <= (0 if exact else 1)


@pytest.mark.parametrize(
    ("kind", "penalty", "order", "critical", "digits"),
    [
        ("S", "l1", 16, 9909.905939, 6),
        ("C1", "l1", 2, 2477.476485, 6),
        ("C2", "l1", 16, 2477.476485, 6),
        ("S", "hierarchical", 2, 9909.905939, 6),
        ("S", "flat-l1", 16, 12793, 0),
    ],
)
def test_where_a_path_begins(kind: str, penalty: str, order: int, critical: float, digits: int, nltcs: Rows) -> None:
    """The strength at which the first pair enters, variables 3 and 5."""
    rows, structure = nltcs["train"], Structure.up_to_order(16, order)
    problem = FitProblem(rows, structure, _settings(kind, penalty, 1.0))
    found = problem.learner.penalty.critical_strength(problem)  # type: ignore[attr-defined]
    assert found == pytest.approx(critical, abs=0.6 * 10.0**-digits)
    above, below = (_fit(rows, kind, penalty, factor * found, order=order) for factor in (1 + 1e-6, 1 - 1e-3))
    if penalty == "flat-l1":
        assert above.n_nonzero == 0
        assert below.n_nonzero == 1
    else:
        assert max(map(len, _nonzero_scopes(above.model))) == 1
        assert {scope for scope in _nonzero_scopes(below.model) if len(scope) > 1} == {(3, 5)}


def test_a_path_begins_at_the_critical_strength_and_ends_after_the_best(nltcs: Rows) -> None:
    """Powers of sqrt(2), until validation rows are predicted no better three times; of the first nine variables."""
    train, valid = (
        UniqueRows.from_codes(domain_of((2,) * 9), nltcs[part].codes[:, :9], nltcs[part].sample_weight)
        for part in ("train", "valid")
    )
    everything, settings = Structure.up_to_order(9, 9), _settings("S", "l1", None)
    learned = learn(train, everything, settings, valid=valid)
    critical = settings.penalty.critical_strength(FitProblem(train, everything, settings))  # type: ignore[attr-defined]
    strengths = [fit.strength for fit in learned.fits]
    assert critical <= strengths[0] < np.sqrt(2.0) * critical
    np.testing.assert_allclose(np.diff(np.log2(strengths)), -0.5, atol=1e-12)
    assert learned.best is learned.fits[-4]
    assert learned.best.held_out == max(fit.held_out for fit in learned.fits)  # type: ignore[type-var]
    assert 9 < learned.best.n_nonzero < 511
    assert max(fit.solution.gap for fit in learned.fits) <= 1e-9  # type: ignore[type-var]


def test_thirds_of_the_pooled_rows(data_dir: Path, nltcs: Rows) -> None:
    """The first split of the protocol of the paper."""
    files = [Dataset.from_file(data_dir / "nltcs" / f"{part}.csv.gz") for part in nltcs]
    codes = np.concatenate([dataset.codes for dataset in files])
    order = np.random.default_rng(1000).permutation(len(codes))
    assert len(order) == 21574
    train, valid, test = (
        UniqueRows.from_codes(files[0].domain, codes[part], np.ones(len(part)))
        for part in np.split(order, [7191, 14382])
    )
    fit = _fit(train, "S", "l1", 16, valid=valid)
    assert fit.solution.value == pytest.approx(5.98344847, abs=1e-7)
    assert fit.n_nonzero == 475
    assert -fit.held_out == pytest.approx(6.008724, abs=2e-6)  # type: ignore[operator]
    assert -fit.model.ll(test) == pytest.approx(6.004120, abs=2e-6)


def test_the_growing_search_is_sparser_than_the_optimum(nltcs: Rows) -> None:
    """And worse, but not by much; nothing is left that it may let in and that would enter."""
    rows, strength = nltcs["train"], 16.0
    fit = _fit(rows, "S", "l1", strength, search="hierarchical", valid=nltcs["valid"])
    assert fit.solution.converged
    assert 5.98702938 + 1e-3 < fit.solution.value < 6.04172720  # the optima over all sets, and over pairs
    assert fit.n_nonzero < 450  # of 719
    assert fit.model.ll(nltcs["test"]) == pytest.approx(-5.98840, abs=2e-3)
    assert fit.model.provenance["learner"]["penalty"]["search"] == "hierarchical"
    everything = Saturated(Spectral(rows.domain, Structure.up_to_order(16, 16)))
    w = np.zeros(everything.n_parameters)
    w[fit.model.parameters.joint_entries()[0] - 1] = fit.model.w
    gradient = 16181 * Likelihood(everything, rows).value_and_gradient(w)[1]
    slope = np.where(everything.orders > 1, strength * np.exp2(everything.orders.astype(float) - 2.0), 0.0)
    alive = _nonzero_scopes(fit.model)
    allowed = set(combinations(range(16), 2)) | {scope for scope in alive if len(scope) > 1}
    for scope in sorted(alive):
        for other in range(16):
            larger = tuple(sorted({*scope, other}))
            if len(scope) > 1 and all(part in alive for part in combinations(larger, len(scope))):
                allowed.add(larger)
    at = np.array([sum(1 << (15 - i) for i in scope) - 1 for scope in sorted(allowed)])
    assert (np.abs(gradient[at]) <= slope[at] * (1 + 1e-4)).all()
    assert (np.abs(gradient) > slope * 1.01).any()  # it is not the optimum over all sets


# -- invariances -------------------------------------------------------------------------------------------------


def _flipped(rows: UniqueRows, variables: list[int]) -> UniqueRows:
    codes = rows.codes.copy()
    codes[:, variables] = 1 - codes[:, variables]
    return UniqueRows.from_codes(rows.domain, codes, rows.sample_weight)


def _value(rows: UniqueRows, kind: str, penalty: str, strength: float, **more: Any) -> float:
    return _fit(rows, kind, penalty, strength, **more).solution.value


def _czech_value(kind: str, penalty: str, strength: float) -> float:
    return _czech_fit(kind, penalty, strength).solution.value


@pytest.mark.parametrize("penalty", ["l1", "hierarchical"])
def test_which_value_is_called_first(penalty: str) -> None:
    """Is nothing to spectral parameters; canonical ones see it, and change places when all values do."""
    rows = _czech()
    for flipped in ([2], [0, 3], list(range(6))):
        other = _flipped(rows, flipped)
        assert _value(other, "S", penalty, 8.0) == pytest.approx(_czech_value("S", penalty, 8.0), abs=2e-9)
        assert _value(other, "F", penalty, 3.0) == pytest.approx(_czech_value("F", penalty, 3.0), abs=2e-9)
    everything = _flipped(rows, list(range(6)))
    c1, c2 = (_czech_value(kind, penalty, 2.0) for kind in ("C1", "C2"))
    assert abs(c1 - c2) > 1e-5
    assert _value(everything, "C1", penalty, 2.0) == pytest.approx(c2, abs=2e-9)
    assert _value(everything, "C2", penalty, 2.0) == pytest.approx(c1, abs=2e-9)
    assert abs(_value(_flipped(rows, [2]), "C1", penalty, 2.0) - c1) > 1e-5
    for kind in ("GI", "I"):
        assert _value(everything, kind, penalty, 3.0) == pytest.approx(_czech_value(kind, penalty, 3.0), abs=2e-9)


@pytest.mark.parametrize("penalty", ["l1", "group", "hierarchical"])
@pytest.mark.parametrize("kind", ["S", "C1", "C2", "I", "GI", "F"])
def test_the_order_of_the_variables_is_nothing(kind: str, penalty: str) -> None:
    """No parameterization depends on it."""
    rows = _czech()
    moved = UniqueRows.from_codes(rows.domain, rows.codes[:, [3, 0, 5, 1, 4, 2]], rows.sample_weight)
    assert _value(moved, kind, penalty, 3.0) == pytest.approx(_czech_value(kind, penalty, 3.0), abs=2e-9)


@pytest.mark.parametrize("kind", ["S", "C1", "F"])
@pytest.mark.parametrize("penalty", ["l1", "group", "hierarchical", "l2", "flat-l2"])
def test_a_row_twice_is_a_row_of_weight_two(kind: str, penalty: str) -> None:
    """And both are the rows once at half the strength."""
    rows = _czech()
    every = UniqueRows.from_codes(
        rows.domain, np.concatenate([rows.codes] * 2), np.concatenate([rows.sample_weight] * 2)
    )
    heavy = UniqueRows.from_codes(rows.domain, rows.codes, 2.0 * rows.sample_weight)
    once, twice, weighted = (
        _fit(table, kind, penalty, strength, tolerance=1e-7)
        for table, strength in ((rows, 2.0), (every, 4.0), (heavy, 4.0))
    )
    np.testing.assert_array_equal(twice.model.w, weighted.model.w)
    assert twice.solution.value == pytest.approx(once.solution.value, abs=2e-9)
    assert twice.train == pytest.approx(once.train, abs=1e-6)


def test_relabelled_states_leave_spectral_groups_as_they_are(rng: np.random.Generator) -> None:
    """The group penalty is symmetric in more than two states; l1 is not."""
    counts = rng.integers(1, 30, (3, 4, 3)).astype(float)
    relabelled = counts[np.ix_([2, 0, 1], [1, 3, 0, 2], [1, 0, 2])]
    for penalty in ("group", "hierarchical"):
        values = [_value(_table(table), "S", penalty, 4.0) for table in (counts, relabelled)]
        assert values[0] == pytest.approx(values[1], abs=2e-9)
    values = [_value(_table(table), "S", "l1", 4.0) for table in (counts, relabelled)]
    assert abs(values[0] - values[1]) > 1e-5


# -- models that are known ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["l1", "flat-l1"])
def test_parity_is_one_spectral_parameter(penalty: str) -> None:
    """The product of all signs, and nothing else."""
    n = 5
    parity = joint_states((2,) * n).sum(axis=1) % 2 == n % 2
    fit = _fit(_table(np.where(parity, 30.0, 10.0).reshape((2,) * n)), "S", penalty, 4.0, tolerance=1e-9)
    assert {scope for scope in _nonzero_scopes(fit.model) if len(scope) > 1} == {tuple(range(n))}
    assert np.abs(fit.model.w[fit.model.parameters.order_of_parameter == 1]).max() < 1e-9
    weight = 8.0 if penalty == "l1" else 1.0
    # tanh w is the mean of the product of signs, less what the penalty takes.
    expected = np.arctanh(0.5 - 4.0 * weight / (16 * 40))
    assert fit.model.w[-1] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("kind", ["S", "C1", "C2", "I", "GI", "F"])
@pytest.mark.parametrize("penalty", ["l1", "group", "hierarchical"])
def test_independent_variables_have_no_interactions(kind: str, penalty: str) -> None:
    """No strength brings any in, and the likelihood is that of the margins."""
    margins = [np.array([1.0, 2.0]), np.array([3.0, 1.0]), np.array([2.0, 5.0]), np.array([1.0, 1.0])]
    counts = np.einsum("a,b,c,d->abcd", *margins)
    fit = _fit(_table(counts), kind, penalty, 0.01)
    assert max(map(len, _nonzero_scopes(fit.model))) == 1
    assert fit.model.structure.order == 1
    np.testing.assert_allclose(_probabilities(fit.model), counts / counts.sum(), atol=1e-7)


@pytest.mark.parametrize("kind", ["S", "C1", "GI", "F"])
def test_a_hierarchical_fit_is_hierarchical(kind: str) -> None:
    """A scope is there only if all its parts of two or more variables are; the others are exactly zero."""
    fit = _czech_fit(kind, "hierarchical", 3.0)
    alive = _nonzero_scopes(fit.model)
    for scope in alive:
        assert all(part in alive for r in range(2, len(scope)) for part in combinations(scope, r))
    assert 6 < len(alive) < 63
    assert max(map(len, alive)) >= 3
    assert set(fit.model.structure.scopes) == alive


@pytest.mark.parametrize("shape", [(2,) * 5, (2, 3, 4)])
@pytest.mark.parametrize("strength", [0.05, 3.0, 200.0])
def test_flat_l2_in_closed_form_is_what_solvers_find(
    shape: tuple[int, ...], strength: float, rng: np.random.Generator
) -> None:
    """strength times the sum of squares is l2 with twice the strength."""
    rows = random_rows(rng, shape, 60, fractional=True)
    closed = _fit(rows, "S", "flat-l2", strength)
    assert closed.solution.violation <= 1e-10
    assert closed.passes == 1
    parameters = Spectral(rows.domain, Structure.up_to_order(len(shape), len(shape)))
    objective, _ = Ridge(2.0 * strength).added_to(Likelihood(parameters, rows), total_weight=rows.total_weight)
    for method in (TruncatedNewton(), LBFGS()):
        solution = minimize(objective, method, tolerance=1e-9, max_iterations=5000)
        assert solution.converged
        assert solution.value == pytest.approx(closed.solution.value, abs=1e-12)
        np.testing.assert_allclose(closed.model.w, solution.w, atol=2e-6)
    by_learning = _fit(rows, "S", "l2", 2.0 * strength, tolerance=1e-9, free_orders=())
    assert by_learning.solution.value == pytest.approx(closed.solution.value, abs=1e-12)


def test_steps_by_products_and_by_a_matrix_end_at_one_optimum(nltcs: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many parameters have no Hessian stored as a matrix."""
    by_matrix = _fit(nltcs["train"], "S", "flat-l1", 256.0)
    products = []
    plain = faces.by_products
    monkeypatch.setattr(proximal_newton, "_FEW", 0)
    monkeypatch.setattr(proximal_newton, "_WORTH_PRODUCTS", 0.0)
    monkeypatch.setattr(faces, "by_products", lambda *a, **k: products.append(1) or plain(*a, **k))
    by_products = _fit(nltcs["train"], "S", "flat-l1", 256.0)
    assert products
    assert by_products.solution.gap is not None
    assert by_products.solution.gap <= 1e-9
    assert by_products.solution.value == pytest.approx(by_matrix.solution.value, abs=1e-9)
    assert by_products.n_nonzero == by_matrix.n_nonzero == 683


def test_flat_l2_in_other_coordinates_is_another_model() -> None:
    """Only spectral parameters have Parseval's identity; the others go by a solver."""
    rows = _czech()
    spectral, canonical = (_fit(rows, kind, "flat-l2", 2.0) for kind in ("S", "C1"))
    assert canonical.solution.violation <= 1e-6
    assert canonical.passes > 1
    assert canonical.solution.value > spectral.solution.value + 1e-4
    pairs = _fit(rows, "S", "flat-l2", 2.0, order=2)
    assert pairs.passes > 1
    w = pairs.model.w
    _, gradient = Likelihood(pairs.model.parameters, rows).value_and_gradient(w)
    np.testing.assert_allclose(rows.total_weight * gradient, -4.0 * w, atol=1e-2)


def test_pseudo_counts_are_counts_and_more(rng: np.random.Generator) -> None:
    """Whatever the coordinates."""
    rows = random_rows(rng, (2, 3, 2), 30)
    counts = np.zeros((2, 3, 2))
    np.add.at(counts, tuple(rows.codes.T), rows.sample_weight)
    for kind in ("S", "C1", "C2"):
        fit = _fit(rows, kind, "pseudo-counts", 0.25)
        np.testing.assert_allclose(_probabilities(fit.model), (counts + 0.25) / (30 + 3), atol=1e-14)


# -- more than two states ----------------------------------------------------------------------------------------


def _penalty(parameters: Any, penalty: str, strength: float) -> NonsmoothPenalty:
    """Penalty from its definition: 2^(r - 2) for a scope of r variables, single variables free."""
    order = parameters.order_of_parameter
    scopes = list(parameters.structure.scopes)
    of_scope = np.array([2.0 ** (len(scope) - 2) * (len(scope) > 1) for scope in scopes])
    if penalty == "l1":
        return WeightedL1(strength, np.where(order > 1, 2.0 ** (order - 2.0), 0.0))
    if penalty == "group":
        return GroupL1(strength, parameters.scope_of_parameter, of_scope)
    above = {a: [b for b, t in enumerate(scopes) if set(s) <= set(t)] for a, s in enumerate(scopes)}
    return hierarchical(strength, parameters.scope_of_parameter, of_scope, above)


@pytest.mark.parametrize("penalty", ["l1", "group", "hierarchical"])
def test_mixed_numbers_of_states_against_a_dense_matrix(penalty: str, rng: np.random.Generator) -> None:
    """Accelerated gradients on all features as one matrix find the same value."""
    rows = random_rows(rng, (2, 3, 5), 300, fractional=True)
    structure = Structure.up_to_order(3, 3)
    for parameters in chosen_parameterizations(rows.domain, structure, rng):
        dense = DenseLikelihood(feature_matrix(parameters), rows)
        plain = _penalty(parameters, penalty, 1.5).scaled(1.0 / rows.total_weight)
        expected = minimize(dense, Fista(), penalty=plain, tolerance=3e-7, max_iterations=20_000)
        assert expected.converged
        reference = parameters.options.get("reference", "first")
        if isinstance(reference, list):
            reference = ",".join(f"x{i}={state}" for i, state in enumerate(reference))
        settings = learner(
            (1.5,), penalty=penalty, objective="likelihood", parameterization=parameters.word, reference=reference,
            ordered=tuple(parameters.options.get("ordered", ())) or "all", scores=parameters.options.get("scores", {}),
        )  # fmt: skip
        fit = learn(rows, structure, settings).best
        assert fit.solution.converged
        assert fit.solution.gap <= 1e-9  # type: ignore[operator]
        assert fit.solution.value == pytest.approx(expected.value, abs=1e-9)
        assert 3 < fit.n_nonzero_scopes <= 7


# -- pseudo-likelihood in other coordinates ----------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["l1", "group", "hierarchical"])
@pytest.mark.parametrize("kind", ["S", "C1", "C2", "I", "GI", "F"])
def test_pseudo_likelihood_in_all_coordinates(kind: str, penalty: str) -> None:
    """Certified by its violation; accelerated gradients find the same value."""
    rows = _czech()
    fit = _fit(rows, kind, penalty, 6.0, order=3, objective="pseudo-likelihood", tolerance=1e-7)
    assert fit.solution.converged
    assert fit.solution.violation <= 1e-7
    other = _fit(
        rows, kind, penalty, 6.0, order=3, objective="pseudo-likelihood", solver=Fista(), tolerance=1e-6,
        max_iterations=5000,
    )  # fmt: skip
    assert other.solution.converged
    assert other.solution.value == pytest.approx(fit.solution.value, abs=1e-9)
    assert fit.train_pll == pytest.approx(fit.model.pll(rows), abs=1e-12)
    assert fit.measure == "pll"
    assert fit.train == fit.train_pll
    assert 6 < fit.n_nonzero_scopes < 41


@pytest.mark.parametrize("kind", ["S", "C2", "I", "GI", "F"])
def test_l2_of_pseudo_likelihood_in_all_coordinates(kind: str) -> None:
    """The gradient in these coordinates, by differences, is what the penalty takes."""
    rows = _czech()
    fit = _fit(rows, kind, "l2", 3.0, order=2, objective="pseudo-likelihood", tolerance=1e-9)
    model, step = fit.model, 1e-4
    for k in range(0, len(model.w), 5):
        move = np.zeros(len(model.w))
        move[k] = step
        ahead, behind = (replace(model, w=model.w + sign * move).pll(rows) for sign in (1, -1))
        assert rows.total_weight * (ahead - behind) / (2 * step) == pytest.approx(3.0 * model.w[k], abs=1e-4)


@pytest.mark.parametrize("kind", ["S", "C1", "C2", "I", "GI", "F"])
@pytest.mark.parametrize("shape", [(2,), (4,)])
def test_of_a_single_variable_both_likelihoods_are_one(
    kind: str, shape: tuple[int, ...], rng: np.random.Generator
) -> None:
    """There is nothing to condition on."""
    rows = random_rows(rng, shape, 50)
    objectives = ("likelihood", "pseudo-likelihood")
    values = [_value(rows, kind, "l2", 2.0, objective=objective, free_orders=()) for objective in objectives]
    assert values[0] == pytest.approx(values[1], abs=1e-12)


# -- models ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["S", "C1", "C2", "GI", "F"])
def test_a_model_in_other_coordinates_says_the_same(kind: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """Every joint state has the same probability, also after saving and loading."""
    rows = _czech()
    states = Dataset(rows.domain, joint_states((2,) * 6))
    model = _czech_fit(kind, "l1", 3.0).model
    ll, pll = model.ll_rows(states), model.pll_rows(states)
    assert np.exp(ll).sum() == pytest.approx(1.0, abs=1e-12)
    for target in COORDINATES:
        if target == "I":
            continue
        options = {"word": COORDINATES[target]["parameterization"], **COORDINATES[target]}
        options.pop("parameterization")
        other = model.to_parameterization(**options)
        assert other.parameters.word == options["word"]
        np.testing.assert_allclose(other.ll_rows(states), ll, atol=1e-11)
        np.testing.assert_allclose(other.pll_rows(states), pll, atol=1e-11)
        other.save(tmp_path / "model.mrf")
        loaded = MarkovNetwork.load(tmp_path / "model.mrf")
        assert loaded.parameters.word == options["word"]
        assert loaded.parameters.options == other.parameters.options
        np.testing.assert_array_equal(loaded.w, other.w)
        np.testing.assert_array_equal(loaded.ll_rows(states), other.ll_rows(states))
        np.testing.assert_array_equal(loaded.pll_rows(states), other.pll_rows(states))


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 3, 4), (3, 1, 2)])
@pytest.mark.parametrize("structure", ["complete", "saturated", "some singles"])
def test_models_of_every_kind_are_saved_whole(
    shape: tuple[int, ...], structure: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    """Reference states and provenance are saved, too."""
    states = Dataset(domain_of(shape), joint_states(shape))
    for parameters in chosen_parameterizations(states.domain, STRUCTURES[structure](3), rng):
        model = MarkovNetwork(parameters, rng.standard_normal(parameters.n_parameters), {"by": "hand"})
        model.save(tmp_path / "model.mrf")
        loaded = MarkovNetwork.load(tmp_path / "model.mrf")
        assert loaded.parameters == parameters
        assert loaded.provenance == {"by": "hand"}
        np.testing.assert_array_equal(loaded.ll_rows(states), model.ll_rows(states))
        np.testing.assert_array_equal(loaded.pll_rows(states), model.pll_rows(states))
        expected = np.log(_probabilities(model)).ravel()
        np.testing.assert_allclose(model.ll_rows(states), expected, atol=1e-12)


def test_ising_refuses_what_it_cannot_say() -> None:
    """A model of triples; pairs are no trouble."""
    triples, pairs = (_fit(_czech(), "S", "l1", 3.0, order=order).model for order in (3, 2))
    with pytest.raises(InputError, match="ising parameterization of this structure cannot express"):
        triples.to_parameterization("ising")
    states = Dataset(pairs.domain, joint_states((2,) * 6))
    np.testing.assert_allclose(pairs.to_parameterization("ising").ll_rows(states), pairs.ll_rows(states), atol=1e-11)
    with pytest.raises(InputError, match="There is no parameterization 'fourier'; choose one of 'canonical'"):
        pairs.to_parameterization("fourier")


def test_the_estimator_learns_exactly() -> None:
    """Scores are then log-likelihoods."""
    rows = _czech()
    codes = np.repeat(rows.codes, rows.sample_weight.astype(int), axis=0)
    learner = MarkovNetworkLearner(
        objective="likelihood", parameterization="spectral", penalty=L1(8), structure="order:all"
    ).fit(codes)
    assert learner.solution_.value == pytest.approx(3.624365492, abs=1e-7)
    assert learner.score(codes) == pytest.approx(-3.614782582, abs=2e-6)
    assert np.count_nonzero(learner.model_.w) == 33
    assert learner.score(codes) == pytest.approx(learner.score_samples(codes).mean(), abs=1e-12)
    canonical = MarkovNetworkLearner(
        objective="likelihood",
        parameterization=ParameterizationOptions(reference="last"),
        penalty=L1(2),
        structure="order:all",
    ).fit(codes)
    assert canonical.solution_.value == pytest.approx(3.626336138, abs=1e-7)


# -- what cannot be --------------------------------------------------------------------------------------------


def test_too_many_joint_states_are_refused(rng: np.random.Generator) -> None:
    """The check comes before any allocation. Chains are left if cliques are as large, but only canonical parameters."""
    rows = random_rows(rng, (2,) * 60, 30)
    with pytest.raises(InputError, match=r"all 1\.2e\+18 joint states of 60 variables.*Use the pseudo-likelihood"):
        _fit(rows, "S", "l1", 1.0)
    with pytest.raises(InputError, match=r"Chains learn canonical parameters .*; no exact engine fits this structure"):
        _fit(rows, "S", "l1", 1.0, order=2)


def test_order_zero_is_refused() -> None:
    """The check is at the call."""
    with pytest.raises(StructureError, match="must be at least 1; got 0"):
        structure_from("order:0", _czech().domain).learn(_czech())


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("x0=maybe", "Variable 'x0' has no state 'maybe' to be its reference; its states are 's0', 's1'"),
        ("sex=s1", "There is no variable 'sex'"),
        ("x0=s1,lowest", "'lowest' is not a reference state; write first, last, random, or NAME=STATE"),
    ],
)
def test_an_unknown_reference_is_refused(reference: str, message: str) -> None:
    """The error lists the states."""
    settings = learner((1.0,), penalty="l1", objective="likelihood", reference=reference)
    with pytest.raises(InputError, match=message):
        learn(_czech(), Structure.complete(6), settings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strengths": (-1.0,), "penalty": "l1"}, "must be positive and finite; got -1"),
        ({"penalty": "l2", "search": "hierarchical"}, "The penalty 'l2' has no 'search'"),
        ({"penalty": "pseudo-counts", "parameterization": "full"}, "canonical or spectral; got 'full'"),
        ({"penalty": "pseudo-counts", "objective": "pseudo-likelihood"}, "it needs the likelihood"),
        ({"parameterization": "spectral", "reference": "last"}, "Reference states belong to canonical coordinates"),
        ({"parameterization": "fourier"}, "There is no parameterization 'fourier'"),
        ({"penalty": "none", "strengths": (1.0,)}, "A strength needs a penalty"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(options: dict[str, Any], message: str) -> None:
    """The check needs no data."""
    with pytest.raises(InputError, match=message):
        learner(**{"objective": "likelihood"} | options)


def test_smoothing_needs_tables_over_tables() -> None:
    """Pseudo-counts of joint states are no model of all pairs."""
    with pytest.raises(InputError, match="need a decomposable structure"):
        _fit(_czech(), "S", "pseudo-counts", 1.0, order=2)


def test_a_path_without_any_dependence_is_refused() -> None:
    """There is no strength at which anything enters; at a given one the fit is that of the margins."""
    rows = _table(np.multiply.outer([1.0, 2.0], [3.0, 1.0]))
    with pytest.raises(InputError, match="no variables depend on each other"):
        learn(rows, Structure.complete(2), _settings("S", "l1", None), valid=rows)


@pytest.mark.parametrize("kind", ["S", "C1", "C2", "I", "GI", "F"])
@pytest.mark.parametrize("penalty", ["l1", "group", "hierarchical"])
def test_a_constant_column_is_no_trouble(kind: str, penalty: str, rng: np.random.Generator) -> None:
    """A declared state that never occurs gets next to no probability, and the rest is as without the column."""
    counts = rng.integers(1, 30, (2, 1, 3)).astype(float)
    padded = np.concatenate([counts, np.zeros_like(counts)], axis=1)
    fit = _fit(_table(padded), kind, penalty, 2.0)
    assert fit.solution.converged
    p = _probabilities(fit.model)
    assert p[:, 1].sum() < 1e-6
    alone = _fit(_table(counts[:, 0]), kind, penalty, 2.0)
    np.testing.assert_allclose(
        p[:, 0], _probabilities(alone.model), atol=1e-4 if kind in ("C2", "GI", "F", "I") else 1e-6
    )


def test_rows_that_are_all_the_same(rng: np.random.Generator) -> None:
    """Nothing keeps free parameters finite: refused; with a penalty on all of them they are."""
    rows = UniqueRows.from_codes(domain_of((2, 2, 3)), np.array([[1, 0, 2]], np.uint8), np.full(1, 4.0))
    for penalty in ("l1", "group", "hierarchical", "l2"):
        with pytest.raises(InputError, match="All rows are equal"):
            _fit(rows, "S", penalty, 1.0)
    for penalty in ("l2", "flat-l1", "flat-l2"):
        p = _probabilities(_fit(rows, "S", penalty, 1.0, free_orders=()).model)
        assert p.argmax() == np.ravel_multi_index((1, 0, 2), (2, 2, 3))


def test_kinds_of_this_file_are_all_there_are() -> None:
    """A new parameterization needs values here; of yes/no variables ordered coordinates are C1."""
    assert {options["parameterization"] for options in COORDINATES.values()} == set(PARAMETERIZATIONS) - {"ordered"}
