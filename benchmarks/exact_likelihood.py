"""The exact likelihood: one evaluation, fits of the l1 penalty on NLTCS, and all sets of up to 24 variables.

    python benchmarks/exact_likelihood.py [--evaluations] [--solvers] [--large] [--seconds 2]

One thread. Rivals: a dense matrix of features in numpy, and our own FISTA as the null solver. Methods of a row take
turns and the best time of each counts, the lesser of wall and processor time; ratios are within one run. Targets stand
in the headers. Memory is that of a fresh process for each number of variables, from where everything is imported and
compiled, in vectors of 2**n doubles.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy.linalg import hadamard
from scipy.special import logsumexp

from mrfit import transforms
from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.learning import Learner
from mrfit.learning.grid import Found
from mrfit.learning.objective_choice import LIKELIHOOD
from mrfit.learning.penalized import L1
from mrfit.learning.problem import Problem
from mrfit.objectives.likelihood import Likelihood
from mrfit.parameterizations.bases import Walsh
from mrfit.parameterizations.joint import Joint, Listed
from mrfit.parameterizations.kinds import KINDS
from mrfit.parameterizations.lean import joint_of
from mrfit.solvers.fista import Fista
from mrfit.solvers.method import Method
from mrfit.structure.structure import Structure
from problems import Problem as Data
from problems import pin_threads

DENSE_AT = (10, 12, 14)  # 2 GB at 14
LISTED_UP_TO = 20
N_ROWS, N_SETS = 20_000, 100
ENOUGH = 150  # penalised parameters that are not zero: there a path of the large problems ends
ACCURACY = 1e-6  # of the objective, relative, to which solvers race
SQRT2 = float(np.sqrt(2.0))

Call = Callable[[], object]


def table(*header: str) -> None:
    print(f"\n| {' | '.join(header)} |\n{'|---:' * len(header)}|", flush=True)


def line(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def seconds_of(call: Call) -> float:
    """The lesser of wall and processor time: where others share the machine a long call never has it to itself."""
    processors, wall = time.process_time(), time.perf_counter()
    call()
    return min(time.perf_counter() - wall, time.process_time() - processors)


def take_turns(calls: dict[str, Call], seconds: float, *, least: int = 5) -> dict[str, float]:
    """The best time of each, after a call that does not count."""
    for call in calls.values():
        call()
    best = dict.fromkeys(calls, np.inf)
    begun, n_rounds = time.perf_counter(), 0
    while n_rounds < least or (time.perf_counter() - begun < seconds and n_rounds < 2000):
        for name, call in calls.items():
            best[name] = min(best[name], *(seconds_of(call) for _ in range(3)))  # the first finds cold caches
        n_rounds += 1
    return best


# -- one evaluation ----------------------------------------------------------------------------------------------


def binary_domain(n: int) -> Domain:
    return Domain.from_states({f"x{i}": ("0", "1") for i in range(n)})


def any_rows(n: int) -> UniqueRows:
    codes = np.random.default_rng(n).integers(0, 2, (N_ROWS, n)).astype(np.uint8)
    return UniqueRows.from_codes(binary_domain(n), codes, np.ones(N_ROWS))


def joints(n: int) -> dict[str, Joint]:
    """Spectral and canonical coordinates of all sets, redundant ones of up to three variables."""
    domain, all_sets = binary_domain(n), Structure.up_to_order(n, n)
    found = {word: joint_of(KINDS[word](domain, all_sets)) for word in ("spectral", "canonical")}
    if n <= LISTED_UP_TO:
        few = Structure.up_to_order(n, 3)
        found |= {word: Listed(KINDS[word](domain, few)) for word in ("generalized-ising", "full")}
    return found


def evaluation(objective: Likelihood) -> Call:
    # Of this size log-potentials are about 1, whatever n is.
    w = np.random.default_rng(0).normal(0.0, objective.n_parameters**-0.5, objective.n_parameters)
    return lambda: objective.value_and_gradient(w)


def dense(joint: Joint, rows: UniqueRows) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """The same for spectral coordinates with the matrix of all features at all states."""
    features = hadamard(joint.base.size, dtype=np.float64)[:, 1:]
    share = np.bincount(joint.base.positions(rows.codes), rows.sample_weight, joint.base.size) / rows.total_weight
    observed = features.T @ share

    def value_and_gradient(w: np.ndarray) -> tuple[float, np.ndarray]:
        potentials = features @ w
        log_z = float(logsumexp(potentials))
        return log_z - float(observed @ w), features.T @ np.exp(potentials - log_z) - observed

    return value_and_gradient


def checked_dense(objective: Likelihood, rows: UniqueRows) -> Call:
    rival = dense(objective.joint, rows)
    w = np.random.default_rng(0).normal(0.0, objective.n_parameters**-0.5, objective.n_parameters)
    (value, gradient), (own_value, own_gradient) = rival(w), objective.value_and_gradient(w)
    if not (np.isclose(value, own_value, rtol=1e-10) and np.allclose(gradient, own_gradient, atol=1e-10)):
        raise SystemExit(f"The dense matrix differs from ours at {objective.base.size} states")
    return lambda: rival(w)


def print_evaluations(variables: list[int], seconds: float) -> None:
    print("\n### One value and gradient")
    table(
        "n", "spectral, ms", "/ (2 WHT + 1.5 exp), ≤ 1", "canonical, ms", "GI order 3 / spectral, ≤ 2",
        "full order 3 / spectral, ≤ 2 at 16", "dense / spectral, ≥ 200 at 12, ≥ 1000 at 14",
    )  # fmt: skip
    for n in variables:
        rows, own = any_rows(n), joints(n)
        objectives = {word: Likelihood(joint, rows) for word, joint in own.items()}
        calls = {word: evaluation(objective) for word, objective in objectives.items()}
        if n in DENSE_AT:
            calls["dense"] = checked_dense(objectives["spectral"], rows)
        values = np.random.default_rng(n).normal(size=1 << n)
        a = values.copy()
        calls["exponentiate"] = lambda a=a: transforms.exponentiate(a)
        calls["walsh"] = lambda a=a: transforms.walsh_hadamard(a)
        calls["restore"] = lambda a=a, values=values: np.copyto(a, values)  # or they would grow from turn to turn
        best = take_turns(calls, seconds)
        spectral, floor = best["spectral"], 2.0 * best["walsh"] + 1.5 * best["exponentiate"]
        ratios = [best[word] / spectral if word in best else None for word in ("generalized-ising", "full", "dense")]
        line(
            n, f"{1e3 * spectral:.4f}", f"{spectral / floor:.2f}", f"{1e3 * best['canonical']:.4f}",
            *("-" if ratio is None else f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}" for ratio in ratios),
        )  # fmt: skip


# -- solvers on NLTCS --------------------------------------------------------------------------------------------


def task_of(rows: UniqueRows, parameterization: str) -> Problem:
    """l1 over all sets of variables, single ones free, from the independent model."""
    learner = Learner(penalty=L1(), objective=LIKELIHOOD, parameterization=parameterization, max_iterations=20_000)
    return Problem(rows, Structure.up_to_order(len(rows.domain), len(rows.domain)), learner)


def race(task: Problem, strength: float, goal: float, solver: Method | None = None) -> Found:
    """A cold fit that ends when its value is at most ``goal``."""
    return L1().fit(task, strength, task.start, solver=solver, callback=lambda _, record: record.value <= goal)


def print_races(rows: UniqueRows, seconds: float) -> None:
    print(f"\n### l1 over all 65,535 sets of NLTCS, cold; seconds to {ACCURACY:.0e} of the objective against FISTA's")
    table(
        "coordinates", "strength", "nonzero", "evaluations, ≤ 30", "seconds", "gap/N", "violation/N",
        f"seconds to {ACCURACY:.0e}", "evaluations", "FISTA seconds", "FISTA evaluations", "FISTA / ours", "target",
    )  # fmt: skip
    for word, strength, target in (("spectral", 16.0, 8), ("canonical", 2.0, 15)):
        task = task_of(rows, word)
        whole = L1().fit(task, strength, task.start)
        goal = (1.0 + ACCURACY) * whole.solution.value
        ours, his = race(task, strength, goal), race(task, strength, goal, Fista())
        calls: dict[str, Call] = {
            "whole": lambda task=task, strength=strength: L1().fit(task, strength, task.start),
            "ours": lambda task=task, strength=strength, goal=goal: race(task, strength, goal),
        }
        best = take_turns(calls, seconds, least=3)
        fista = seconds_of(lambda task=task, strength=strength, goal=goal: race(task, strength, goal, Fista()))
        line(
            word, f"{strength:g}", np.count_nonzero(whole.solution.w), whole.passes, f"{best['whole']:.3f}",
            f"{whole.solution.gap:.0e}", f"{whole.solution.violation:.0e}", f"{best['ours']:.3f}", ours.passes,
            f"{fista:.2f}", his.passes, f"{fista / best['ours']:.1f}", f"≥ {target}",
        )  # fmt: skip


def walked(task: Problem, strengths: list[float]) -> Iterator[Found]:
    w = task.start
    for strength in strengths:
        found = L1().fit(task, strength, w)
        w = found.solution.w
        yield found


def print_path(rows: UniqueRows) -> None:
    print("\n### Warm path over all 65,535 sets of NLTCS, strengths 512 to 8")
    table("coordinates", "strengths", "evaluations, ≤ 80", "seconds", "nonzero at the end", "largest gap/N")
    strengths = [2.0 ** (9 - k / 2) for k in range(13)]
    for word in ("spectral", "canonical"):
        task, path = task_of(rows, word), []
        spent = seconds_of(lambda task=task, path=path: path.extend(walked(task, strengths)))
        line(
            word, len(path), sum(found.passes for found in path), f"{spent:.2f}",
            np.count_nonzero(path[-1].solution.w), f"{max(found.solution.gap for found in path):.0e}",
        )  # fmt: skip


# -- many variables ----------------------------------------------------------------------------------------------


def sparse_model(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Positions and values of about `N_SETS` spectral parameters: all single variables, else sets of 2 to 4."""
    strides = Walsh((2,) * n).strides
    sets = {tuple(sorted(rng.choice(n, rng.integers(2, 5), replace=False).tolist())) for _ in range(N_SETS - n)}
    positions = np.array([*strides, *(strides[list(scope)].sum() for scope in sorted(sets))])
    values = rng.choice([-1.0, 1.0], len(positions)) * rng.uniform(0.15, 0.3, len(positions))
    return positions, values


def drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes of rows drawn from a sparse model, by going through all states; and its sets of several variables."""
    rng = np.random.default_rng(n)
    positions, values = sparse_model(n, rng)
    w = np.zeros(1 << n)
    w[positions] = values
    base = Walsh((2,) * n)
    p = base.potentials(w)
    transforms.exponentiate(p)
    np.cumsum(p, out=p)
    states = np.searchsorted(p, np.sort(rng.uniform(0.0, p[-1], N_ROWS)))
    digits = np.stack(np.unravel_index(states, base.shape), axis=1)
    codes = np.stack([np.argsort(base.digits[i])[digits[:, i]] for i in range(n)], axis=1)
    return codes.astype(np.uint8), positions[n:]


def memory(entry: str) -> int:
    """Bytes that this process holds (VmRSS) or ever held (VmHWM).

    `ru_maxrss` would begin with what the process that started this one ever held.
    """
    status = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(told.split()[1]) for told in status if told.startswith(entry))


def warm_up() -> None:
    """Load or compile all that a large problem needs."""
    transforms.walsh_hadamard(np.zeros(1 << 19))
    codes, _ = drawn(10)
    task = task_of(UniqueRows.from_codes(binary_domain(10), codes, np.ones(len(codes))), "spectral")
    for found in walked(task, [L1().critical_strength(task) / 2.0]):
        assert found.solution.converged


def timed_path(task: Problem, critical: float) -> Iterator[tuple[Found, float]]:
    """From below the critical strength down until `ENOUGH` are not zero, each from the last; with seconds."""
    w, n_free = task.start, int(np.count_nonzero(~task.layout.penalized))
    for k in range(1, 40):
        fits: list[Found] = []
        spent = seconds_of(lambda k=k, w=w, fits=fits: fits.append(L1().fit(task, critical / SQRT2**k, w)))
        w = fits[0].solution.w
        yield fits[0], spent
        if np.count_nonzero(w) >= ENOUGH + n_free:
            return


def print_large(file: str, seconds: float) -> None:
    """In a process of its own. Walks the path again while there is time, and takes the best of every strength."""
    warm_up()
    before = memory("VmRSS")
    with np.load(file) as stored:
        codes, truth = stored["codes"], stored["truth"]
    n = codes.shape[1]
    task = task_of(UniqueRows.from_codes(binary_domain(n), codes, np.ones(len(codes))), "spectral")
    critical = L1().critical_strength(task)
    best: dict[float, float] = {}
    cells: dict[float, list[object]] = {}
    for found, spent in timed_path(task, critical):
        best[found.strength] = spent
        sets = np.setdiff1d(np.flatnonzero(found.solution.w != 0) + 1, Walsh((2,) * n).strides)
        right = len(np.intersect1d(sets, truth))
        cells[found.strength] = [len(sets), right, len(sets) - right, found.passes, f"{found.solution.gap:.0e}"]
    vectors = (memory("VmHWM") - before) / (8 << n)
    evaluate = partial(task.objective.objective.value_and_gradient, task.start)
    unit, begun = np.inf, time.perf_counter()
    while unit == np.inf or time.perf_counter() - begun < seconds:
        unit = min(unit, *(seconds_of(evaluate) for _ in range(5)))
        for found, spent in timed_path(task, critical):
            best[found.strength] = min(best[found.strength], spent)
    print(
        f"\n### All {2**n - 1:,} sets of {n} variables, {len(truth)} true ones; an evaluation takes {1e3 * unit:.1f} ms"
    )
    target = ", ≤ 25" if n == 20 else ""
    table("strength", "nonzero", "true", "false", "evaluations", "gap/N", "seconds", f"in evaluations{target}")
    for strength, spent in best.items():
        line(f"{strength:.1f}", *cells[strength], f"{spent:.3f}", f"{spent / unit:.1f}")
    print(
        f"\nAt most {max(best.values()) / unit:.1f} evaluations a strength, in the median "
        f"{np.median([*best.values()]) / unit:.1f}; peak memory {vectors:.1f} vectors (target at 24: ≤ 12)",
        flush=True,
    )


def run_large(variables: list[int], seconds: float) -> None:
    with tempfile.TemporaryDirectory() as directory:
        for n in variables:
            file = Path(directory) / f"{n}.npz"
            codes, truth = drawn(n)
            np.savez(file, codes=codes, truth=truth)
            subprocess.run([sys.executable, __file__, "--rows", str(file), "--seconds", str(5.0 * seconds)], check=True)


def main() -> None:
    def integers(text: str) -> list[int]:
        return [int(n) for n in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ("evaluations", "solvers", "large")
    for part in parts:
        parser.add_argument(f"--{part}", action="store_true")
    parser.add_argument(
        "--variables", type=integers, help="of the evaluations (10,12,...,24) or large problems (20,22,24)"
    )
    parser.add_argument("--seconds", type=float, default=2.0, help="per row")
    parser.add_argument("--rows", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    pin_threads()
    if arguments.rows:
        print_large(arguments.rows, arguments.seconds)
        return
    wanted = [part for part in parts if getattr(arguments, part)] or parts
    if "evaluations" in wanted:
        print_evaluations(arguments.variables or list(range(10, 25, 2)), arguments.seconds)
    if "solvers" in wanted:
        rows = Data("nltcs").rows
        print_races(rows, arguments.seconds)
        print_path(rows)
    if "large" in wanted:
        run_large(arguments.variables or [20, 22, 24], arguments.seconds)


if __name__ == "__main__":
    main()
