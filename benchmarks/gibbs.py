"""Gibbs sampling and annealed importance sampling on learned networks, one thread.

Networks have up to five neighbours a variable by gain, joined by OR, and an L2 fit by pseudo-likelihood, its strength
chosen on validation rows. The rival of many chains side by side is what one writes first: a compiled loop over one
chain that adds up the log-odds of a variable and calls ``np.random.random`` and ``exp``. Errors of log Z are against
enumeration where that fits, else against 1,024 chains and 20,000 temperatures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numba
import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.problems import problem, rows_of
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import take_turns, timed
from mrfit._kernels.sampling.gibbs_sweeps import Couplings
from mrfit.core.factors import Factors
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.inference.sampling.annealed import Annealed
from mrfit.inference.sampling.annealed_posterior import AnnealedPosterior
from mrfit.inference.sampling.annealing_path import AnnealingPath
from mrfit.inference.sampling.base_distribution import uniform
from mrfit.inference.sampling.gibbs_chains import Chains
from mrfit.learning.penalty_specs import L2
from mrfit.learning.specification import learn
from mrfit.structures.simple import Learned

CHAINS = (1, 16, 64, 256)
N_UPDATES = 500_000  # in a call that is timed


@lru_cache(maxsize=1)
def network(name: str) -> Factors:
    """Learned anew, of a set of two states."""
    rows = problem(name).rows
    structure = Learned(max_degree=5, bound="gain", rule="or")
    valid = rows_of(name, "valid", rows.domain)
    return learn(rows, structure, penalty=L2((0.1, 1.0, 10.0)), valid=valid).model.factors


@numba.njit(error_model="numpy")
def plain_sweeps(n_sweeps, starts, neighbours, fields, couplings, x):
    """One chain, one variable after another."""
    for _ in range(n_sweeps):
        for i in range(len(x)):
            z = fields[i]
            for at in range(starts[i], starts[i + 1]):
                z += couplings[at] * x[neighbours[at]]
            x[i] = 1.0 if np.random.random() < 1.0 / (1.0 + math.exp(-z)) else 0.0  # noqa: NPY002


def run_gibbs(case: Case) -> Iterator[Record]:
    factors = network(case["set"])
    base = uniform(factors.shape)
    path, n = AnnealingPath.between(base.factors, factors), factors.n_variables
    model = path.model
    assert isinstance(model, Couplings)
    one = np.zeros(n)
    single = [max(N_UPDATES // n, 1)]
    calls = {"plain": lambda: plain_sweeps(single[0], *model[1:3], model.fields[1], model.couplings[1], one)}
    updates = {"plain": single[0] * n}
    for chains in CHAINS:
        running = Chains(path, base.draw(chains, np.random.default_rng(0)), (0,))
        betas = np.ones(max(N_UPDATES // (n * max(chains, 64)), 1))
        calls[str(chains)] = lambda running=running, betas=betas: running.sweep(betas)
        updates[str(chains)] = len(betas) * n * chains
    best = take_turns(calls, case["seconds"])
    ns = {name: 1e9 * seconds / updates[name] for name, seconds in best.items()}
    yield {"set": case["set"], "n": n, "degree": len(model.neighbours) / n, "ns": ns, "ratio": ns["plain"] / ns["64"]}


def reference(factors: Factors) -> tuple[float, float]:
    """log Z, and its error."""
    exact = Enumeration()
    if exact.plan(factors).n_cells <= 2**20:
        return exact.run(exact.plan(factors), factors).log_z, 0.0
    found = posterior(Annealed(chains=1024, temperatures=20_000, seed=1000), factors)
    assert found.error is not None
    return found.log_z, found.error


def posterior(engine: Annealed, factors: Factors) -> AnnealedPosterior:
    found = engine.run(engine.plan(factors), factors)
    assert isinstance(found, AnnealedPosterior)
    return found


def run_ais(case: Case) -> Iterator[Record]:
    """Each seed is one repeat; all that is timed begins with the factors."""
    factors = network(case["set"])
    log_z, log_z_error = reference(factors) if case["reference"] else (posterior(Annealed(), factors).log_z, None)
    posterior(Annealed(), factors)  # compiles
    found, seconds = zip(
        *(timed(lambda seed=seed: posterior(Annealed(seed=seed), factors)) for seed in range(case["repeats"])),
        strict=True,
    )
    off = np.array([each.log_z - log_z for each in found])
    errors = np.array([each.error for each in found])
    yield {
        "set": case["set"],
        "n": factors.n_variables,
        "log_z": log_z,
        "log_z_error": log_z_error,
        "ms": 1e3 * float(np.median(seconds)),
        "rmse": float(np.sqrt(np.mean(off**2))),
        "largest": float(abs(off).max()),
        "error": float(np.sqrt(np.mean(errors**2))),
        "covered": int((abs(off) < 1.96 * errors).sum()),
        "repeats": case["repeats"],
        "remarked": sum(bool(each.remarks) for each in found),
        "temperatures": [int(np.median([each.estimates[0].temperatures for each in found]))],
    }


def gibbs_tables(records: list[Record]) -> list[Table]:
    columns = (
        named("network", "{set}"),
        Column("variables", "{n}"),
        Column("mean degree", "{degree:.1f}"),
        Column("plain loop", lambda record: f"{record['ns']['plain']:.1f}"),
        *(Column(heading(n), lambda record, n=n: f"{record['ns'][str(n)]:.2f}") for n in CHAINS),
        Column("plain loop / 64 chains (target >= 8)", "{ratio:.1f}"),
    )
    return [Table(columns, records, note="ns for an update of one variable of one chain.")]


def heading(n_chains: int) -> str:
    target = " (target <= 2.5)" if n_chains == 64 else ""
    return f"{n_chains} chain{'s' if n_chains > 1 else ''}{target}"


def log_z_of(record: Record) -> str:
    error = record["log_z_error"]
    return f"{record['log_z']:.4f}" + (f" ({error:.4f})" if error else "")


def ais_tables(records: list[Record]) -> list[Table]:
    columns = (
        named("network", "{set}"),
        Column("variables", "{n}"),
        Column("ln Z (error)", log_z_of),
        Column("ms", "{ms:.0f}"),
        Column("temperatures", lambda r: " / ".join(f"{t:,}" for t in r["temperatures"])),
        Column("off by, rms", "{rmse:.3f}"),
        Column("off by, most", "{largest:.3f}"),
        Column("error it gives", "{error:.3f}"),
        Column("within 1.96 errors", "{covered} of {repeats}"),
        Column("remarked", "{remarked}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "gibbs",
        "an update of one variable of learned networks, 1 to 256 chains side by side, against a plain loop",
        cases(set=("nltcs", "plants", "jester", "dna"), seconds=(4.0,)),
        cases(set=("nltcs",), seconds=(0.0,)),
        run_gibbs,
        gibbs_tables,
    ),
    Benchmark(
        "ais",
        "log Z of learned networks by annealed importance sampling: time, error, and whether it says so",
        cases(set=("nltcs", "kdd", "plants", "jester", "dna"), repeats=(40,), reference=(True,)),
        cases(set=("nltcs",), repeats=(3,), reference=(False,)),
        run_ais,
        ais_tables,
    ),
)
