"""Machine code as it is shipped, for a level of processors, against code compiled for this very processor.

One process for each, because the compiler is told once what to compile for; they take turns, and each has its best
time. What is timed are calls of kernels and whole fits, warm and on one thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from multiprocessing import get_context

import llvmlite.binding
import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.exact_likelihood import any_rows, evaluation, joints
from benchmarks.problems import problem
from benchmarks.pseudo_likelihood import ours
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import Call, best_seconds
from mrfit import HierarchicalLasso, SoftTied, learn
from mrfit._kernels.machine_code.load import levels_of_host
from mrfit.core import transforms
from mrfit.data.kmeans1d import kmeans1d
from mrfit.objectives.likelihood import Likelihood
from mrfit.structures.nodewise.learned import Learned

NATIVE = "native"


def pseudo_likelihood(name: str, degree: int) -> Call:
    given = problem(name)
    parameters = given.parameters(given.neighbour_graph(degree))
    objective = ours(given, parameters)
    w = 0.2 * np.random.default_rng(0).normal(size=parameters.n_parameters)
    return lambda: objective.value_and_gradient(w)


def structure(name: str, **settings: object) -> Call:
    rows = problem(name).rows
    return lambda: Learned(**settings).learn(rows)


def fit(name: str, **parts: object) -> Call:
    rows = problem(name).rows
    return lambda: learn(rows, **parts)


def transform(name: str, n: int) -> Call:
    values = np.random.default_rng(n).normal(size=1 << n)
    a = values.copy()

    def call() -> None:
        np.copyto(a, values)  # or they would grow from call to call
        getattr(transforms, name)(a)

    return call


def clusters(n: int, k: int) -> Call:
    values = np.random.default_rng(0).normal(size=n)
    return lambda: kmeans1d(values, k)


CALLS: dict[str, Callable[[], Call]] = {
    "Walsh-Hadamard transform, n = 18": lambda: transform("walsh_hadamard", 18),
    "exponentials, n = 18": lambda: transform("exponentiate", 18),
    "pseudo-likelihood, dna, d = 15": lambda: pseudo_likelihood("dna", 15),
    "pseudo-likelihood, audio, d = 15": lambda: pseudo_likelihood("audio", 15),
    "pseudo-likelihood, jester, d = 50": lambda: pseudo_likelihood("jester", 50),
    "likelihood, spectral, n = 16": lambda: evaluation(Likelihood(joints(16)["spectral"], any_rows(16))),
    "structure by gain, dna, d = 5": lambda: structure("dna", max_degree=5),
    "structure by EBIC, nltcs": lambda: structure("nltcs", select="ebic"),
    "tied fit, nltcs": lambda: fit("nltcs", penalty=SoftTied(groups=5, strength=10.0)),
    "hierarchical fit of order 3, likelihood, nltcs": lambda: fit(
        "nltcs", structure="order:3", penalty=HierarchicalLasso(strength=100.0), objective="likelihood"
    ),
    "k-means of 100,000 values, k = 30": lambda: clusters(100_000, 30),
}


@cache
def prepared(call: str) -> Call:
    return CALLS[call]()


def seconds(call: str, at_least: float) -> float:
    return best_seconds(prepared(call), at_least=at_least)


def environments() -> dict[str, dict[str, str]]:
    """Settings of numba for each kind of code; a processor asked for by name never gets code from a wheel."""
    native = {"NUMBA_CPU_NAME": llvmlite.binding.get_host_cpu_name()}
    return {NATIVE: native} | {level.name: level.environment for level in levels_of_host()}


@contextmanager
def process_with(environment: Mapping[str, str]) -> Iterator[ProcessPoolExecutor]:
    """A process that is started with these variables, which numba reads when it is imported."""
    before = os.environ.copy()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        os.environ.update(environment)
        try:
            pool.submit(os.getpid).result()  # it has started
        finally:
            os.environ.clear()
            os.environ.update(before)
        yield pool


def run(case: Case) -> Iterator[Record]:
    """All calls in one case: the processes have all they need loaded, or compiled, once."""
    with ExitStack() as stack:
        processes = {name: stack.enter_context(process_with(own)) for name, own in environments().items()}
        for call in case["calls"]:
            best = dict.fromkeys(processes, np.inf)
            for _ in range(case["rounds"]):
                for name, process in processes.items():
                    best[name] = min(best[name], process.submit(seconds, call, case["seconds"]).result())
            native = best.pop(NATIVE)
            yield {
                "call": call,
                "processor": llvmlite.binding.get_host_cpu_name(),
                "native_ms": 1e3 * native,
                **{name: native / own for name, own in best.items()},
            }


def tables(records: list[Record]) -> list[Table]:
    levels = [name for name in records[0] if name.startswith("x86")]
    columns = (
        named("call", "{call}"),
        Column("native ({processor}), ms".format(**records[0]), "{native_ms:.3g}"),
        *(Column(f"speed of {name}, ≥ 0.95", lambda r, name=name: f"{r[name]:.2f}") for name in levels),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "code-levels",
        "speed of shipped machine code, as a share of that of code compiled for this processor",
        cases(calls=([*CALLS],), rounds=(4,), seconds=(0.2,)),
        cases(calls=([*CALLS][:1],), rounds=(2,), seconds=(0.01,)),
        run,
        tables,
    ),
)
