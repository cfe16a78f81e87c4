"""Exact inference against the libraries one could take instead, one thread.

Models are those of the UAI-2014 competition, with their evidence taken out (MRFIT_CONFORMANCE has them), and networks
learned with up to five neighbours a variable. Every method gets the same tables and gives the marginals of all
variables. pyAgrum's and pgmpy's times include their planning, as they do not separate it; none includes building the
model. A rival that takes longer than 40 s, or more than 10 GB, has no result. pgmpy is asked about learned networks
only: on the competition's models its triangulation ends nowhere.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.problems import problem, rows_of
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import best_seconds, in_own_process, memory, take_turns, timed
from mrfit.core.domain import Domain
from mrfit.core.factors import Factors
from mrfit.formats.models import read_network
from mrfit.formats.uai_evidence import read_evidence
from mrfit.inference.exact.junction_tree import JunctionTree, TreePosterior
from mrfit.inference.exact.row_runs import RowRuns
from mrfit.inference.map.toulbar2 import Toulbar2
from mrfit.learning.penalty_specs import L2
from mrfit.learning.specification import learn
from mrfit.model.factor_network import FactorNetwork
from mrfit.structures.simple import ChowLiuTree, CompleteGraph, Learned

UAI = (
    "Promedus_24", "Grids_12", "Promedus_15", "CSP_12", "Segmentation_11", "Segmentation_14", "Pedigree_11",
    "Pedigree_12", "Grids_11", "DBN_11", "linkage_24", "ObjectDetection_34", "Grids_15",
)  # fmt: skip
LEARNED = ("nltcs-complete", "nltcs-or", "plants-or", "dna-tree", "kdd-or")
STRUCTURES = {"complete": CompleteGraph(), "or": Learned(max_degree=5, bound="gain", rule="or"), "tree": ChowLiuTree()}
STRUCTURES["and"] = Learned(max_degree=5, bound="gain", rule="and")
PATIENCE = 40  # seconds for a rival
ROOM = 10 * 2**30  # bytes for a rival
ROWS = (1, 64, 512)


@lru_cache(maxsize=1)
def tables(name: str) -> Factors:
    """Return the factors over variables with several states only; other libraries do not know variables with one."""
    if "-" in name:
        data, structure = name.split("-")
        rows = problem(data).rows
        valid = rows_of(data, "valid", rows.domain)
        return learn(rows, STRUCTURES[structure], penalty=L2((0.1, 1.0, 10.0)), valid=valid).model.factors
    folder = Path(os.environ["MRFIT_CONFORMANCE"]) / "uai2014"
    network = read_network(folder / f"{name}.uai.gz")
    (known,) = read_evidence(folder / f"{name}.uai.evid", network.domain.shape)
    return without_known(network.factors.given(known))


def without_known(factors: Factors) -> Factors:
    """Return the same tables over the variables that have several states, renumbered."""
    live = [i for i, c in enumerate(factors.shape) if c > 1]
    number = {i: k for k, i in enumerate(live)}
    scopes = tuple(tuple(number[i] for i in scope if i in number) for scope in factors.scopes)
    return Factors(tuple(factors.shape[i] for i in live), scopes, factors.values)


def with_names(factors: Factors) -> FactorNetwork:
    return FactorNetwork(
        Domain.from_states({f"v{i}": map(str, range(c)) for i, c in enumerate(factors.shape)}), factors
    )


# -- rivals -----------------------------------------------------------------------------------------------------------


def pyagrum(factors: Factors) -> float:
    """Seconds for all marginals by Shafer-Shenoy."""
    import pyagrum as gum

    from mrfit.formats.pyagrum import to_pyagrum

    model = to_pyagrum(with_names(factors))
    gum.setNumberOfThreads(1)

    def infer() -> None:
        engine = gum.ShaferShenoyMRFInference(model)
        engine.makeInference()
        for node in model.nodes():
            engine.posterior(node)

    return best_seconds(infer, at_least=0.5, most=20) if timed(infer)[1] < 5 else timed(infer)[1]


def pgmpy(factors: Factors) -> float:
    """Seconds for all marginals by belief propagation on its junction tree."""
    from pgmpy.inference import BeliefPropagation

    from mrfit.formats.pgmpy import to_pgmpy

    model = to_pgmpy(with_names(factors))

    def infer() -> None:
        engine = BeliefPropagation(model)
        engine.calibrate()
        for node in model.nodes():
            engine.query([node], show_progress=False)

    return timed(infer)[1]


def toulbar2(factors: Factors) -> float:
    """Seconds for a most probable state that is proven to be one."""
    found, seconds = timed(lambda: Toulbar2(seconds=20).best(factors))
    if not found.proven:
        raise TimeoutError
    return seconds


RIVALS: dict[str, tuple[Callable[[Factors], float], str]] = {
    "pyagrum": (pyagrum, "pyagrum"), "pgmpy": (pgmpy, "pgmpy"), "toulbar2": (toulbar2, "pytoulbar2")
}  # fmt: skip


def rival_seconds(rival: str, name: str) -> float | str:
    """Run a rival in a process of its own, within limits; return its seconds, or the reason why there are none."""
    import resource

    call, _ = RIVALS[rival]
    factors = tables(name)
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(PATIENCE)
    try:
        return call(factors)
    except TimeoutError:
        return "too long"
    except MemoryError:
        return "memory"
    except Exception as error:  # whatever a rival raises is its result
        return "memory" if "alloc" in str(error) else type(error).__name__


def _too_long(*_: Any) -> None:
    raise TimeoutError


def asked(rival: str, name: str, case: Case) -> float | str | None:
    if rival not in case["rivals"].split() or find_spec(RIVALS[rival][1]) is None:
        return None
    try:
        return in_own_process(rival_seconds, rival, name)
    except Exception:  # the process was ended: by the kernel for its memory, or by itself
        return "ended"


# -- ours -------------------------------------------------------------------------------------------------------------


def peak(name: str) -> int:
    """Bytes that planning and all marginals ever held, beside what was there before."""
    factors, engine = tables(name), JunctionTree()
    before = memory("VmHWM")
    posterior = engine.run(engine.plan(factors), factors)
    assert isinstance(posterior, TreePosterior)
    _ = posterior.leaves
    return memory("VmHWM") - before


def run_models(case: Case) -> Iterator[Record]:
    factors, engine = tables(case["model"]), JunctionTree()
    plan = engine.plan(factors)

    def backward() -> None:
        _ = calibrated().leaves

    def calibrated() -> TreePosterior:
        posterior = engine.run(plan, factors)
        assert isinstance(posterior, TreePosterior)
        return posterior

    calls = {"plan": lambda: engine.plan(factors), "log_z": calibrated, "marginals": backward,
             "best": lambda: engine.best(plan, factors)}  # fmt: skip
    seconds = take_turns(calls, case["seconds"], least=3)
    yield {
        "model": case["model"],
        "n": factors.n_variables,
        "width": plan.width,
        "cells": plan.n_cells,
        "orders": plan.n_orders,
        "log_z": calibrated().log_z,
        "megabytes": in_own_process(peak, case["model"]) / 1e6,
        "ms": {key: 1e3 * value for key, value in seconds.items()},
        **{rival: asked(rival, case["model"], case) for rival in RIVALS},
    }


def run_rows(case: Case) -> Iterator[Record]:
    """Half of the variables observed; log Z and the marginals of all others, for each row."""
    factors = tables(case["model"])
    rng = np.random.default_rng(0)
    observed = np.sort(rng.permutation(factors.n_variables)[: factors.n_variables // 2]).tolist()
    asked = [i for i in range(factors.n_variables) if i not in observed]
    codes = rng.integers(0, factors.shape, (max(ROWS), factors.n_variables))
    runs = RowRuns(factors, observed, asked)
    engine, row = JunctionTree(), factors.given({i: int(codes[0, i]) for i in observed})
    plan = engine.plan(row)

    def alone() -> None:
        posterior = engine.run(plan, row)
        assert isinstance(posterior, TreePosterior)
        _ = posterior.leaves

    calls: dict[str, Callable[[], object]] = {"alone": alone}
    calls |= {str(n): (lambda n=n: runs.answers(codes[:n])) for n in ROWS}
    best = take_turns(calls, case["seconds"])
    micros = {key: 1e6 * value / (1 if key == "alone" else int(key)) for key, value in best.items()}
    yield {"model": case["model"], "n": factors.n_variables, "us": micros, "ratio": micros["1"] / micros["512"]}


# -- tables -----------------------------------------------------------------------------------------------------------


def _milliseconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def _rival(name: str) -> Callable[[Record], str]:
    def cell(record: Record) -> str:
        value = record[name]
        if value is None:
            return ""
        return value if isinstance(value, str) else _milliseconds(1e3 * value)

    return cell


def _whole(record: Record) -> float:
    return float(record["ms"]["plan"] + record["ms"]["marginals"])


def _ratio(name: str) -> Callable[[Record], str]:
    def cell(record: Record) -> str:
        return f"{1e3 * record[name] / _whole(record):,.0f}" if isinstance(record[name], float) else ""

    return cell


def model_tables(records: list[Record]) -> list[Table]:
    columns = (
        named("model", "{model}"),
        Column("variables", "{n}"),
        Column("width", "{width}"),
        Column("cells", "{cells:.1e}"),
        Column("plan, ms", lambda r: _milliseconds(r["ms"]["plan"])),
        Column("ln Z, ms", lambda r: _milliseconds(r["ms"]["log_z"])),
        Column("and marginals, ms", lambda r: _milliseconds(r["ms"]["marginals"])),
        Column("MB", "{megabytes:,.0f}"),
        Column("pyAgrum, ms", _rival("pyagrum")),
        Column("/ plan and marginals", _ratio("pyagrum")),
        Column("pgmpy, ms", _rival("pgmpy")),
        Column("/ plan and marginals", _ratio("pgmpy")),
        Column("best state, ms", lambda r: _milliseconds(r["ms"]["best"])),
        Column("toulbar2, ms", _rival("toulbar2")),
    )
    return [Table(columns, records)]


def row_tables(records: list[Record]) -> list[Table]:
    columns = (
        named("model", "{model}"),
        Column("variables", "{n}"),
        Column("one planned run, µs", lambda r: f"{r['us']['alone']:.0f}"),
        *(
            Column(f"{n} row{'s' if n > 1 else ''} at once, µs a row", lambda r, n=n: f"{r['us'][str(n)]:.2f}")
            for n in ROWS
        ),
        Column("1 row / 512 rows (target >= 25)", "{ratio:.0f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "junction-tree",
        "log Z, all marginals and most probable states of 18 models, against pyAgrum, pgmpy and toulbar2",
        cases(model=UAI, seconds=(3.0,), rivals=("pyagrum toulbar2",))
        + cases(model=LEARNED, seconds=(3.0,), rivals=("pyagrum pgmpy toulbar2",)),
        cases(model=("Promedus_24", "nltcs-tree"), seconds=(0.0,), rivals=("",)),
        run_models,
        model_tables,
    ),
    Benchmark(
        "inference-rows",
        "log Z and marginals of rows with half of the variables observed, one by one and many at once",
        cases(model=("nltcs-or", "plants-or", "dna-tree", "jester-and"), seconds=(3.0,)),
        cases(model=("nltcs-tree",), seconds=(0.0,)),
        run_rows,
        row_tables,
    ),
)
