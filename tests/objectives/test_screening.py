"""Interaction screening against its definition, and against GraphicalModelLearning.jl."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.conditional_loss import ConditionalLoss
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.objectives.reparameterized import Reparameterized
from mrfit.objectives.screening import InteractionScreening, LogInteractionScreening
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.spectral import Spectral
from mrfit.penalties.l1 import WeightedL1
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.proximal_newton import ProximalNewton
from mrfit.structures.structure import Structure
from populations import SHAPES, STRUCTURES, domain_of, full_rows, log_screening, problems, random_rows, screening
from reference import network

# The constants of the theoretical strengths of Lokhov et al. (2018).
LOSSES: dict[str, tuple[type[ConditionalLoss], float]] = {
    "RPLE": (PseudoLikelihood, 0.2),
    "RISE": (InteractionScreening, 0.4),
    "logRISE": (LogInteractionScreening, 0.8),
}


def sums(parameters: Canonical, w: np.ndarray, rows: UniqueRows) -> np.ndarray:
    """Mean over rows of exp(mean over states of log p - log p of its own), for every variable."""
    table = network.rows_of(rows)
    found = np.zeros(len(rows.domain))
    for x, weight in table:
        for i in range(len(x)):
            states = range(parameters.domain.shape[i])
            log_p = np.array([network.features(parameters, (*x[:i], s, *x[i + 1 :])) @ w for s in states])
            found[i] += weight * np.exp(log_p.mean() - log_p[x[i]])
    return found / sum(weight for _, weight in table)


@given(problems())
@settings(max_examples=40)
def test_values_are_those_of_the_definition(problem: tuple[UniqueRows, Canonical, np.ndarray]) -> None:
    rows, parameters, w = problem
    plain = sums(parameters, w, rows)[np.array(rows.domain.shape) > 1]  # one state has nothing to screen
    assert screening(rows, parameters).value_and_gradient(w)[0] == pytest.approx(plain.sum(), rel=1e-12)
    log_value = log_screening(rows, parameters).value_and_gradient(w)[0]
    assert log_value == pytest.approx(np.log(plain).sum(), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("build", [screening, log_screening])
@pytest.mark.parametrize("shape", ["binary", "mixed"])
def test_far_away_all_is_finite(build: type, shape: str, rng: np.random.Generator) -> None:
    """A line search may ask for a place where exponentials overflow, and must see that it is bad."""
    rows = random_rows(rng, SHAPES[shape], 20)
    objective = build(rows, Canonical(rows.domain, STRUCTURES["complete"](len(rows.domain))))
    near, _ = objective.value_and_gradient(np.zeros(objective.n_parameters))
    value, gradient = objective.value_and_gradient(1e4 * rng.standard_normal(objective.n_parameters))
    assert near < value < np.inf
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("build", [screening, log_screening])
@pytest.mark.parametrize("shape", [(2, 2, 2, 2), (2, 3, 2)])
def test_the_minimum_over_the_distribution_itself_is_the_truth(
    build: type, shape: tuple[int, ...], rng: np.random.Generator
) -> None:
    """Rows that are all joint states, weighed by their probability, lead back to the parameters."""
    every = full_rows(rng, shape)
    parameters = Canonical(every.domain, Structure.complete(len(shape)))
    w = 0.7 * rng.standard_normal(parameters.n_parameters)
    log_p = np.array([network.features(parameters, tuple(x)) @ w for x in every.codes.tolist()])
    rows = UniqueRows.from_codes(every.domain, every.codes, np.exp(log_p))
    found = minimize(build(rows, parameters), TruncatedNewton(), np.zeros(len(w)), tolerance=1e-9)
    np.testing.assert_allclose(found.w, w, atol=1e-6)


def spins(case: str, conformance_dir: Path) -> UniqueRows:
    samples = np.loadtxt(conformance_dir / "gml" / f"{case}_samples.csv", delimiter=",")
    codes = ((samples[:, 1:] + 1) / 2).astype(np.uint8)
    return UniqueRows.from_codes(domain_of((2,) * codes.shape[1]), codes, samples[:, 0])


def apart(loss: type[ConditionalLoss], rows: UniqueRows) -> tuple[Reparameterized, np.ndarray]:
    """The loss of fields and couplings of which every variable has its own, and the (variable, other) of each."""
    n = len(rows.domain)
    spectral = Spectral(rows.domain, Structure.complete(n))
    cells = ConditionalCells.count(rows, spectral.canonical)
    n_slots = len(cells.parameter_of_slot)
    owner = np.repeat(np.arange(n), np.diff(cells.arrays.slot_start))
    # A slot reads what its canonical parameter is made of; what stands in the conditional of a variable contains it.
    wide = spectral.canonical_map.tocsr()[cells.parameter_of_slot].tocoo()
    own, column = np.unique(owner[wide.row] * spectral.n_parameters + wide.col, return_inverse=True)
    matrix = sparse.csr_array((wide.data, (wide.row, column)), shape=(n_slots, len(own)))
    scopes = list(spectral.structure.scopes)
    places = []
    for variable, parameter in zip(own // spectral.n_parameters, own % spectral.n_parameters, strict=True):
        others = [j for j in scopes[spectral.scope_of_parameter[parameter]] if j != variable]
        places.append((variable, others[0] if others else variable))
    separate = replace(cells, parameter_of_slot=np.arange(n_slots), n_parameters=n_slots)
    return Reparameterized(loss(separate), matrix), np.array(places)


def learned(method: str, rows: UniqueRows) -> np.ndarray:
    """Fields on the diagonal, couplings of every variable in its row, by the strength of theory."""
    loss, c = LOSSES[method]
    n = len(rows.domain)
    objective, places = apart(loss, rows)
    strength = c * np.sqrt(np.log(n**2 / 0.05) / rows.total_weight)
    penalty = WeightedL1(strength, (places[:, 0] != places[:, 1]).astype(float))
    start = np.zeros(objective.n_parameters)
    solution = minimize(objective, ProximalNewton(), start, penalty=penalty, tolerance=1e-11)
    matrix = np.zeros((n, n))
    matrix[tuple(places.T)] = solution.w
    return matrix


@pytest.mark.parametrize("case", ["a", "b"])
@pytest.mark.parametrize("method", LOSSES)
def test_couplings_learned_by_graphical_model_learning(method: str, case: str, conformance_dir: Path) -> None:
    """Its optimum of each variable to eight digits, and its files, which hold averages, as well as they are solved."""
    found = learned(method, spins(case, conformance_dir))
    optimum = json.loads((conformance_dir / "gml" / "expected.json").read_text())[f"{case}_{method}"]
    np.testing.assert_allclose(found, optimum["optimum_unsymmetrised"], atol=1e-8)
    file = np.loadtxt(conformance_dir / "gml" / f"{case}_{method}_learned.csv", delimiter=",")
    np.testing.assert_allclose((found + found.T) / 2, file, atol=1e-6)


@pytest.mark.parametrize("case", ["a", "b"])
@pytest.mark.parametrize("method", LOSSES)
def test_one_coupling_of_both_ends_is_their_average(method: str, case: str, conformance_dir: Path) -> None:
    """But for second order: strengths as weak as these leave less than 1e-4 between it and the average."""
    rows = spins(case, conformance_dir)
    loss, c = LOSSES[method]
    spectral = Spectral(rows.domain, Structure.complete(len(rows.domain)))
    objective = Reparameterized(loss(ConditionalCells.count(rows, spectral.canonical)), spectral.canonical_map)
    strength = 2 * c * np.sqrt(np.log(len(rows.domain) ** 2 / 0.05) / rows.total_weight)  # of both ends
    penalty = WeightedL1(strength, (spectral.order_of_parameter > 1).astype(float))
    found = minimize(objective, ProximalNewton(), np.zeros(spectral.n_parameters), penalty=penalty, tolerance=1e-9)
    file = np.loadtxt(conformance_dir / "gml" / f"{case}_{method}_learned.csv", delimiter=",")
    scopes = list(spectral.structure.scopes)
    expected = [file[scopes[k][0], scopes[k][-1]] for k in spectral.scope_of_parameter]
    np.testing.assert_allclose(found.w, expected, atol=1e-4)
