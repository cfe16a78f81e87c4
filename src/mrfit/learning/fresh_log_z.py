"""log Z of models that chains learned, estimated again before a score is reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from mrfit.learning.chains.chain_fit import ChainProblem
from mrfit.learning.chains.log_z_estimate import LogZEstimate
from mrfit.learning.fit_result import CandidateFit
from mrfit.solvers.solution import Solution, Status


def with_fresh_log_z(
    chains: ChainProblem,
    fits: Sequence[CandidateFit],
    choose: Callable[[Sequence[CandidateFit]], int],
    *,
    is_validated: bool,
) -> tuple[CandidateFit, ...]:
    """Return the fits, the one to be chosen with a fresh log Z.

    A fit may score worse than another by its fresh estimate. Then the other one is estimated again too, so that the fit
    that is chosen in the end was never flattered. ``is_validated`` says that held-out scores are those of validation
    rows; the models of folds have a log Z of their own.
    """
    fits, fresh = tuple(fits), set[int]()
    while (best := choose(fits)) not in fresh and "log_z" in fits[best].model.provenance:
        found = chains.weighed_again(fits[best].model.factors)
        fits = (*fits[:best], _reweighed(fits[best], found, is_validated=is_validated), *fits[best + 1 :])
        fresh.add(best)
    return fits


def _reweighed(fit: CandidateFit, found: LogZEstimate, *, is_validated: bool) -> CandidateFit:
    """Return the fit with another log Z and all that depends on it; no score is known where chains do not mix.

    A phantom mode is in log Z whether it is new or not; naming it is left to learning and to `mrfit check`, which
    look at more than one run.
    """
    known, solver = fit.model.provenance["log_z"], fit.model.provenance["solver"]
    status = Status.NOT_MIXING if found.is_unmixed else fit.solution.status
    rise = np.nan if status is Status.NOT_MIXING else found.log_z - float(known["value"])
    provenance = {**fit.model.provenance, "solver": {**solver, "status": status.value}}
    if status is Status.NOT_MIXING:
        del provenance["log_z"]
    else:
        provenance["log_z"] = {**known, "value": found.log_z, "error": found.error}
    is_judge = is_validated and fit.held_out is not None and fit.judge == "ll"
    return replace(
        fit,
        model=replace(fit.model, provenance=provenance),
        solution=_raised(fit.solution, rise, status),
        score=fit.score - rise,
        train=fit.train - rise,
        held_out=fit.held_out - rise if is_judge and fit.held_out is not None else fit.held_out,
    )


def _raised(solution: Solution, rise: float, status: Status) -> Solution:
    """Return the solution with another value of the objective, which is log Z less what the rows say."""
    value = solution.value + rise
    trace = (*solution.trace[:-1], replace(solution.trace[-1], value=value))
    return replace(solution, value=value, status=status, trace=trace)
