"""One value and gradient of the exact likelihood over all joint states, one thread.

The rival is a dense matrix of features in numpy; two transforms and one and a half passes of exponentials in the same
run are what it was to cost. Targets stand in the titles of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import hadamard
from scipy.special import logsumexp

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.table import Column, Record, Table
from benchmarks.timing import Call, take_turns
from mrfit.core import transforms
from mrfit.core.domain import Domain
from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.likelihood import Likelihood
from mrfit.parameterizations.joint import Joint, Listed
from mrfit.parameterizations.joint_choice import joint_of
from mrfit.registry import PARAMETERIZATIONS
from mrfit.structures.structure import Structure

DENSE_AT = (10, 12, 14)  # 2 GB at 14
LISTED_UP_TO = 20
N_ROWS = 20_000


def binary_domain(n: int) -> Domain:
    return Domain.from_states({f"x{i}": ("0", "1") for i in range(n)})


def any_rows(n: int) -> UniqueRows:
    codes = np.random.default_rng(n).integers(0, 2, (N_ROWS, n)).astype(np.uint8)
    return UniqueRows.from_codes(binary_domain(n), codes, np.ones(N_ROWS))


def joints(n: int) -> dict[str, Joint]:
    """Spectral and canonical coordinates of all sets, redundant ones of up to three variables."""
    domain, all_sets = binary_domain(n), Structure.up_to_order(n, n)
    found = {word: joint_of(PARAMETERIZATIONS[word](domain, all_sets)) for word in ("spectral", "canonical")}
    if n <= LISTED_UP_TO:
        few = Structure.up_to_order(n, 3)
        found |= {word: Listed(PARAMETERIZATIONS[word](domain, few)) for word in ("generalized-ising", "full")}
    return found


def some_point(objective: Likelihood) -> np.ndarray:
    # Of this size log-potentials are about 1, whatever n is.
    return np.random.default_rng(0).normal(0.0, objective.n_parameters**-0.5, objective.n_parameters)


def evaluation(objective: Likelihood) -> Call:
    w = some_point(objective)
    return lambda: objective.value_and_gradient(w)


def dense(joint: Joint, rows: UniqueRows) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """Return value and gradient in spectral coordinates by the matrix of all features at all states."""
    features = hadamard(joint.base.size, dtype=np.float64)[:, 1:]
    share = np.bincount(joint.base.positions(rows.codes), rows.sample_weight, joint.base.size) / rows.total_weight
    observed = features.T @ share

    def value_and_gradient(w: np.ndarray) -> tuple[float, np.ndarray]:
        potentials = features @ w
        log_z = float(logsumexp(potentials))
        return log_z - float(observed @ w), features.T @ np.exp(potentials - log_z) - observed

    return value_and_gradient


def checked_dense(objective: Likelihood, rows: UniqueRows) -> Call:
    rival, w = dense(objective.joint, rows), some_point(objective)
    (value, gradient), (own_value, own_gradient) = rival(w), objective.value_and_gradient(w)
    if not (np.isclose(value, own_value, rtol=1e-10) and np.allclose(gradient, own_gradient, atol=1e-10)):
        raise AssertionError(f"The dense matrix differs from ours at {objective.base.size} states")
    return lambda: rival(w)


def run(case: Case) -> Iterator[Record]:
    n = case["n"]
    rows = any_rows(n)
    objectives = {word: Likelihood(joint, rows) for word, joint in joints(n).items()}
    calls = {word: evaluation(objective) for word, objective in objectives.items()}
    if n in DENSE_AT:
        calls["dense"] = checked_dense(objectives["spectral"], rows)
    values = np.random.default_rng(n).normal(size=1 << n)
    a = values.copy()
    calls["exponentiate"] = lambda: transforms.exponentiate(a)
    calls["walsh"] = lambda: transforms.walsh_hadamard(a)
    calls["restore"] = lambda: np.copyto(a, values)  # or they would grow from turn to turn
    best = take_turns(calls, case["seconds"], repeats=3)  # the first finds cold caches
    spectral, floor = best["spectral"], 2.0 * best["walsh"] + 1.5 * best["exponentiate"]
    yield {
        "n": n,
        "spectral_ms": 1e3 * spectral,
        "of_floor": spectral / floor,
        "canonical_ms": 1e3 * best["canonical"],
        **{word: best[word] / spectral if word in best else None for word in ("generalized-ising", "full", "dense")},
    }


def dense_ratio(record: Record) -> str:
    ratio = record["dense"]
    return "-" if ratio is None else f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"


def tables(records: list[Record]) -> list[Table]:
    columns = (
        Column("n", "{n}"),
        Column("spectral, ms", "{spectral_ms:.4f}"),
        Column("/ (2 WHT + 1.5 exp), ≤ 1", "{of_floor:.2f}"),
        Column("canonical, ms", "{canonical_ms:.4f}"),
        Column("GI order 3 / spectral, ≤ 2", "{generalized-ising:.2f}"),
        Column("full order 3 / spectral, ≤ 2 at 16", "{full:.2f}"),
        Column("dense / spectral, ≥ 200 at 12, ≥ 1000 at 14", dense_ratio),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "exact-evaluations",
        "one value and gradient of the exact likelihood of 10 to 24 variables",
        cases(n=range(10, 25, 2), seconds=(2.0,)),
        cases(n=(10,), seconds=(0.05,)),
        run,
        tables,
    ),
)
