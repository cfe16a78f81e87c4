"""Coverage of approximate answers: how often they lie within their stated errors, over models with known answers.

Every seed is one run of the default approximation. It gives one deviation of log Z, and one of the probability of a
single variable's last state; the variable moves on with the seed, so that deviations are independent. Shares are of
runs without a remark. The former default joined runs of 64 chains from two bases; what it costs is measured by doing
the same runs, with today's kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np
from scipy.stats import binom

from benchmarks.benchmark import Benchmark, Case
from benchmarks.calibration_models import MODELS, Known, known
from benchmarks.table import Column, Record, Table, named
from mrfit.core.factors import Factors
from mrfit.inference.sampling.annealed import BASES, Annealed, annealed_enough
from mrfit.inference.sampling.annealed_posterior import AnnealedPosterior

NOMINAL = (0.683, 0.954, 0.997)  # within 1, 2 and 3 standard errors
_CHANCE = 0.01  # of fewer by luck, at which coverage counts as short
_SEEDS = {  # of models that take seconds; all others have 60
    "Potts 3, 60 variables": 14,
    "Potts 5, 60 variables": 14,
    "Potts 8, 60 variables": 8,
    "Potts 8, 40 variables, cold": 8,
}
_FORMER = {  # seeds for the former default, which takes minutes of the last two
    "Potts 3, 60 variables": 1,
    "Potts 5, 60 variables": 1,
    "Potts 8, 60 variables": 0,
    "Potts 8, 40 variables, cold": 0,
}


def _cases() -> tuple[Case, ...]:
    return tuple({"model": name, "seeds": _SEEDS.get(name, 60), "former": _FORMER.get(name, 3)} for name in MODELS)


@dataclass(frozen=True)
class _Run:
    """One seed's deviations in stated errors, and what it cost."""

    log_z: float
    marginal: float
    error: float
    is_remarked: bool
    is_tempered: bool
    seconds: float


def run(case: Case) -> Iterator[Record]:
    model = known(case["model"])
    _one(model, 1000)  # compiles
    runs = [_one(model, seed) for seed in range(case["seeds"])]
    quiet = [each for each in runs if not each.is_remarked]
    former = [_former_seconds(model.factors, seed) for seed in range(case["former"])]
    yield {
        "model": case["model"],
        "n": model.factors.n_variables,
        "seeds": len(runs),
        "remarked": len(runs) - len(quiet),
        "tempered": sum(each.is_tempered for each in runs),
        "log_z": _within([each.log_z for each in quiet]),
        "low": sum(each.log_z < -2.0 for each in quiet),
        "marginal": _within([each.marginal for each in quiet]),
        "error": float(np.median([each.error for each in runs])),
        "seconds": float(np.median([each.seconds for each in runs])),
        "former": float(np.median(former)) if former else None,
    }


def _one(model: Known, seed: int) -> _Run:
    begin, engine = process_time(), Annealed(seed=seed)
    found = engine.run(engine.plan(model.factors), model.factors)
    i = seed % model.factors.n_variables
    p, error = found.marginal((i,))[-1], found.marginal_error((i,))
    seconds = process_time() - begin
    assert found.error is not None
    assert error is not None
    return _Run(
        log_z=float((found.log_z - model.log_z) / found.error),
        marginal=float((p - model.marginals[i][-1]) / error[-1]),
        error=found.error,
        is_remarked=bool(found.remarks),
        is_tempered=not isinstance(found, AnnealedPosterior),
        seconds=seconds,
    )


def _former_seconds(factors: Factors, seed: int) -> float:
    """CPU of 64 chains from each of two bases, and of their draws."""
    begin, engine = process_time(), Annealed(chains=64, seed=seed)
    found = [
        annealed_enough(
            factors,
            BASES[word](engine, factors),
            chains=64,
            temperatures=engine.temperatures,
            max_temperatures=engine.max_temperatures,
            seed=(seed, number),
        )
        for number, word in enumerate(("uniform", "moments"))
    ]
    AnnealedPosterior(factors, found, seed, 1).marginal((0,))
    return process_time() - begin


def _within(deviations: Sequence[float]) -> list[int]:
    return [int((abs(np.array(deviations)) <= k).sum()) for k in (1, 2, 3)]


def finish(records: list[Record]) -> list[Record]:
    """Add a line for all models, and where coverage is short by more than chance."""
    for record in records:
        n = record["seeds"] - record["remarked"]
        record["short"] = [
            f"{what} {k}"
            for what, key in (("log Z", "log_z"), ("marginal", "marginal"))
            for k, share, within in zip((1, 2, 3), NOMINAL, record[key], strict=True)
            if binom.cdf(within, n, share) < _CHANCE
        ]
    ratios = [record["seconds"] / record["former"] for record in records if record["former"]]
    total = {key: sum(record[key] for record in records) for key in ("seeds", "remarked", "tempered", "low")}
    sums = {
        key: [int(each) for each in np.sum([record[key] for record in records], axis=0)]
        for key in ("log_z", "marginal")
    }
    return [*records, {"model": "all", **total, **sums, "ratio": float(np.median(ratios)) if ratios else None}]


def _shares(key: str) -> Column:
    """Column of shares of the runs without a remark, as three decimals without the leading zero."""
    return Column(
        f"{'log Z' if key == 'log_z' else 'marginal'} within 1 / 2 / 3 (.683 / .954 / .997)",
        lambda r: " / ".join(_decimals(k, r["seeds"] - r["remarked"]) for k in r[key]),
    )


def _decimals(k: int, n: int) -> str:
    return f"{k / n:.3f}".lstrip("0") if n else "-"


def _ratio(record: Record) -> float | None:
    if "ratio" in record:
        return record["ratio"]  # type: ignore[no-any-return]
    return record["seconds"] / record["former"] if record["former"] else None


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("model", "{model}"),
        Column("variables", lambda r: r.get("n", "")),
        Column("seeds", "{seeds}"),
        Column("remarked", "{remarked}"),
        Column("tempered", "{tempered}"),
        _shares("log_z"),
        Column("log Z too low by more than 2", "{low}"),
        _shares("marginal"),
        Column("short (1 %)", lambda r: ", ".join(r["short"]) if r.get("short") else "-"),
        Column("stated error of log Z", lambda r: f"{r['error']:.3f}" if "error" in r else ""),
        Column("CPU s", lambda r: f"{r['seconds']:.2f}" if "seconds" in r else ""),
        Column("times the former default's", lambda r: "-" if _ratio(r) is None else f"{_ratio(r):.2f}"),
    )
    note = (
        "Errors are standard errors as stated. *Short*: fewer within so many errors than a calibrated method has by "
        "chance in 1 % of cases. The line of all models has the median ratio of CPU times."
    )
    return [Table(columns, records, note=note)]


BENCHMARKS = (
    Benchmark(
        "calibration",
        "how often log Z and marginals of the default approximation lie within their stated errors, on 28 models",
        _cases(),
        ({"model": "spin glass 18, beta 1.5", "seeds": 4, "former": 1},),
        run,
        tables,
        finish,
    ),
)
