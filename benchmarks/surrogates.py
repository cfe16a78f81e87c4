"""Distributions fitted by losses that avoid log Z: pseudo-likelihood, RISE and logRISE beside the likelihood.

Structures have up to five neighbours a variable by gain, joined by OR; for the likelihood the same with the Chow-Liu
tree, as it is by itself. L2 at every strength; validation rows choose one of them by pseudo-log-likelihood and one by
log-likelihood. Log-likelihoods are exact where a junction tree fits, else by annealing from two bases, of which
the larger log Z counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.problems import problem, rows_of
from benchmarks.table import Column, Record, Table, named
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.engine_selection import exactly_planned
from mrfit.learning.chains.log_z_estimate import LogZEstimate, evidence
from mrfit.learning.fit_result import CandidateFit
from mrfit.learning.learner import Learner
from mrfit.learning.penalty_specs import L2
from mrfit.model.markov_network import MarkovNetwork
from mrfit.objectives.row_scores import row_pll
from mrfit.registry import OBJECTIVES
from mrfit.structures.simple import Learned

STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


def run(case: Case) -> Iterator[Record]:
    """A record with all strengths, and those that validation rows choose by either score."""
    rows = problem(case["set"]).rows
    valid, test = (rows_of(case["set"], part, rows.domain) for part in ("valid", "test"))
    learner = Learner(Learned(max_degree=5), L2(STRENGTHS), OBJECTIVES[case["objective"]]())
    fitted = learner.fit(rows, valid)
    judged = {f"{fit.strength:g}": _judged(fit, rows, valid, test) for fit in fitted.fits}
    chosen = {by: max(judged, key=lambda strength, by=by: judged[strength][f"valid_{by}"]) for by in ("pll", "ll")}
    yield {**case, "edges": len(fitted.structure.structure.edges), "fits": judged, "chosen": chosen}


def _judged(fit: CandidateFit, rows: UniqueRows, valid: UniqueRows, test: UniqueRows) -> Record:
    """Both scores of both parts, and whether a mode lies where the rows are not."""
    model, found = fit.model, _evidence(fit.model, rows)
    log_z, error = _log_z(model, found)
    record = {"error": error, "phantom": found.has_phantom, "far_sum": found.far_sum}
    for name, part in (("valid", valid), ("test", test)):
        share = part.sample_weight / part.total_weight
        record[f"{name}_pll"] = float(share @ row_pll(model.parameters, model.w, part.codes))
        record[f"{name}_ll"] = float(share @ model.factors.log_potential(part.codes.astype(np.int64))) - log_z
    return record


def _evidence(model: MarkovNetwork, rows: UniqueRows) -> LogZEstimate:
    share = rows.sample_weight / rows.total_weight
    drawn = np.random.default_rng(0).choice(len(share), 20_000, p=share)
    return evidence(model.factors, rows.codes[drawn].astype(np.int64), seed=(77,))


def _log_z(model: MarkovNetwork, found: LogZEstimate) -> tuple[float, float]:
    """Return log Z with its error, which is zero if a junction tree fits."""
    engine, plan = exactly_planned(model.factors)
    if plan.fits and plan.forecast < 1.0:
        return engine.run(plan, model.factors).log_z, 0.0
    return found.log_z, found.error


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        named("learned by", "{objective}"),
        Column("pairs", "{edges:,}"),
        *(Column(f"strength {strength:g}", partial(_cell, f"{strength:g}")) for strength in STRENGTHS),
        Column("test pll at *", lambda record: f"{record['fits'][record['chosen']['pll']]['test_pll']:.3f}"),
    )
    return [Table(columns, records)]


def _cell(strength: str, record: Record) -> str:
    """Test log-likelihood and its error; ! for a phantom, * where validation rows choose by pll, bold by ll."""
    fit, chosen = record["fits"][strength], record["chosen"]
    shown = f"{fit['test_ll']:.3f}" if not fit["error"] else f"{fit['test_ll']:.2f} ({fit['error']:.2f})"
    marks = ("!" if fit["phantom"] else "") + (" *" if strength == chosen["pll"] else "")
    return (f"**{shown}**" if strength == chosen["ll"] else shown) + marks


BENCHMARKS = (
    Benchmark(
        "surrogates",
        "test log-likelihoods and phantom modes of networks learned by pseudo-likelihood, RISE and logRISE",
        cases(set=("kdd", "tmovie"), objective=("pseudo-likelihood", "rise", "log-rise", "likelihood")),
        cases(set=("nltcs",), objective=("rise",)),
        run,
        tables,
    ),
)
