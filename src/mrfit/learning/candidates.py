"""Candidates: the model of an optimum, its provenance, and its scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.fit_result import CandidateFit, Optimum
from mrfit.learning.objective_specs import JUDGES
from mrfit.learning.partitioned_rows import PartedRows, Rows
from mrfit.model.markov_network import MarkovNetwork
from mrfit.solvers.solution import Solution


def candidate_of(
    problem: FitProblem,
    optimum: Optimum,
    *,
    chosen_on: str | None,
    held_out: float | None,
    fold_scores: tuple[float, ...] = (),
) -> CandidateFit:
    """Return the candidate of an optimum, with a held-out score that is known.

    ``chosen_on`` goes into the provenance of its model: ``valid`` or ``folds`` where such rows choose among the fits.
    """
    objective, backend = problem.learner.objective, optimum.coordinates or problem.coordinates
    model, solution = _model_of(problem, optimum, chosen_on)
    train = optimum.score if objective.is_score else backend.mean_pll(optimum.solution.w, problem.rows)
    return CandidateFit(
        **(vars(optimum) | {"solution": solution, "coordinates": None}),
        model=model,
        measure=objective.measure,
        judge=problem.learner.judge or objective.measure,
        train=train,
        held_out=held_out,
        train_pll=backend.mean_pll(optimum.solution.w, problem.rows) if objective.is_joint else train,
        fold_scores=fold_scores,
    )


def mean_score(problem: FitProblem, optimum: Optimum, rows: Rows) -> float:
    """Return the mean over held-out rows of the score by which they choose."""
    backend, learner = optimum.coordinates or problem.coordinates, problem.learner
    if isinstance(rows, PartedRows):
        return backend.mean_pll(optimum.solution.w, rows)
    if learner.judge is None or problem.selects_by_objective:
        scores = backend.row_scores(optimum.solution.w, rows)
    else:
        scores = JUDGES[learner.judge].row_scores(_model_of(problem, optimum, None)[0], rows, problem.jobs)
    return float(rows.sample_weight @ scores) / rows.total_weight


def _model_of(problem: FitProblem, optimum: Optimum, chosen_on: str | None) -> tuple[MarkovNetwork, Solution]:
    """Return the model, and its certificate in the parameters of the model."""
    solution, backend = optimum.solution, optimum.coordinates or problem.coordinates
    kept, numbers = backend.to_model(solution.w)
    at_bound = np.flatnonzero(np.isin(numbers, solution.at_bound))
    parameters, w = kept, solution.w[numbers]
    if type(kept) is not type(problem.parameters):
        parameters = problem.parameters.on(kept.structure)
        w = parameters.from_lengths(w)
        held = kept.scope_of_parameter[at_bound]  # scopes of both have the same numbers
        at_bound = np.flatnonzero(np.isin(parameters.scope_of_parameter, held))
    own = replace(solution, w=w, at_bound=at_bound)
    return MarkovNetwork(parameters, w, _provenance(problem, optimum, chosen_on), optimum.groups), own


def _provenance(problem: FitProblem, optimum: Optimum, chosen_on: str | None) -> dict[str, Any]:
    """Return what a reader of the model file wants to know."""
    learner, solution, backend = problem.learner, optimum.solution, optimum.coordinates or problem.coordinates
    alike, engine = problem.provenance, backend.engine
    solver = {"status": solution.status.value, "violation": solution.violation}
    return {
        "objective": learner.objective.word,
        **({} if engine is None else {"engine": engine}),
        # To estimate log Z again may take longer than to learn.
        **({} if backend.log_z is None else {"log_z": dict(backend.log_z)}),
        "penalty": learner.penalty.described(optimum, problem.free_orders),
        "chosen_on": chosen_on,
        **alike,
        "solver": {**alike["solver"], **solver, **({} if engine is None else {"gap": solution.gap})},
    }
