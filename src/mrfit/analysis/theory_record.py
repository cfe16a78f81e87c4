"""Record of the theorems on tying, applied to one model."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import prod
from typing import Any

import numpy as np

from mrfit.core.errors import InputError
from mrfit.core.threads import resolve_jobs
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.joint_states import JointStates, plan_joint_states, weighted_states
from mrfit.learning.backend import PseudoLikelihoodBackend
from mrfit.learning.objective_specs import LIKELIHOOD, PSEUDO_LIKELIHOOD
from mrfit.learning.tying.guarantee import Composition
from mrfit.learning.tying.sample_complexity import Theory
from mrfit.model.markov_network import MarkovNetwork
from mrfit.objectives.likelihood import Likelihood
from mrfit.objectives.objective import Objective
from mrfit.parameterizations.groups import classes_of, clustered

MOST_LISTED = 2**20  # joint states that are made rows of: a byte for each variable


@dataclass(frozen=True)
class CurvatureChoice:
    """Choice of the objective whose curvature is computed, and of the rows that its expectation is taken over.

    Parameters
    ----------
    objective
        ``likelihood`` or ``pseudo-likelihood``; by default the first where all joint states fit and no rows are given.
    rows
        For the pseudo-likelihood: rows over which to take the mean, instead of the model's own.
    n_draws
        How many rows to draw from the model for the pseudo-likelihood where its joint states are too many to list.
    seed, jobs
        Random seed of the draws, and processors to use.
    """

    objective: str | None = None
    rows: UniqueRows | None = None
    n_draws: int = 10_000
    seed: int = 0
    jobs: int | None = 1

    def __post_init__(self) -> None:
        words = (LIKELIHOOD.word, PSEUDO_LIKELIHOOD.word)
        if self.objective is not None and self.objective not in words:
            raise InputError(f"There is no objective {self.objective!r} here; choose {' or '.join(words)}.")
        if self.objective == LIKELIHOOD.word and self.rows is not None:
            raise InputError(
                "The curvature of the exact likelihood does not depend on rows; leave them out, or choose the "
                "pseudo-likelihood."
            )
        if self.n_draws < 1:
            raise InputError(f"{self.n_draws} draws were asked for; at least one is needed.")


@dataclass(frozen=True)
class CurvatureRecord:
    """The objective whose Hessian was taken, over which rows, and what is to be said of them."""

    objective: str
    over: str  # "all joint states", "rows given", "exact draws", "draws of Gibbs chains"
    n_rows: int
    notes: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether the expectation is the model's own, with no error of sampling."""
        return self.over == _LISTED


_LISTED, _GIVEN, _DRAWN, _CHAINS = "all joint states", "rows given", "exact draws", "draws of Gibbs chains"
_FLAT = "C_min is zero over these rows, in which some feature hardly varies; over more rows it need not be."


@dataclass(frozen=True)
class TheorySummary:
    """Distances between groups, and how many rows find them; see `mrfit.learning.tying.sample_complexity`."""

    theory: Theory
    curvature: CurvatureRecord

    @classmethod
    def of(
        cls,
        model: MarkovNetwork,
        *,
        n_groups: int | None = None,
        tie: str | None = None,
        delta: float = 0.05,
        xi: float = 0.5,
        curvature: CurvatureChoice | None = None,
    ) -> TheorySummary:
        """Taking the model for the truth: its own groups, or its parameters clustered into ``n_groups``.

        ``tie`` says which parameters may share a group; by default as the model was fitted.
        """
        penalty = model.provenance.get("penalty")
        fitted = penalty.get("tie", "all") if isinstance(penalty, dict) else "all"
        classes = classes_of(model.parameters.order_of_parameter, np.ones(len(model.w), bool), tie or fitted)
        groups = model.groups if n_groups is None else clustered(model.w, classes, n_groups)
        if groups is None:
            raise InputError("The model has no groups of parameters; fit a tied one, or give a number of groups.")
        objective, composition, about = _curved(model, curvature or CurvatureChoice())
        how: dict[str, Any] = {"composition": composition, "classes": classes, "delta": delta, "xi": xi}
        theory = Theory.of(objective, model.w, groups, **how)
        if theory.c_min == 0.0 and not about.is_exact:
            about = replace(about, notes=(*about.notes, _FLAT))
        return cls(theory, about)

    def to_dict(self) -> dict[str, Any]:
        theory, about = self.theory, self.curvature
        return {
            "n_groups": theory.n_groups,
            "is_separated": theory.is_separated,
            **asdict(theory),
            "objective": about.objective,
            "curvature": {"over": about.over, "rows": about.n_rows, "exact": about.is_exact},
            "notes": list(about.notes),
        }


def _curved(model: MarkovNetwork, choice: CurvatureChoice) -> tuple[Objective, Composition, CurvatureRecord]:
    """The objective to take the Hessian of, what it is a sum of, and what is to be said of it."""
    fits = plan_joint_states(model.domain.shape).fits
    if choice.objective == LIKELIHOOD.word or (choice.objective is None and choice.rows is None and fits):
        # The curvature of the likelihood does not depend on the data; any row will do.
        row = np.zeros((1, len(model.domain)), np.uint8)
        objective = Likelihood(model.parameters, UniqueRows.from_codes(model.domain, row, np.ones(1)))
        about = CurvatureRecord(LIKELIHOOD.word, _LISTED, prod(model.domain.shape))
        return objective, Composition.of_likelihood(model.parameters), about
    rows, over, notes = _expected_rows(model, choice)
    if choice.objective is None and choice.rows is None:
        states = f"{len(model.domain):,} variables have too many joint states for the exact likelihood"
        notes = (f"{states}; the numbers are for the pseudo-likelihood.", *notes)
    coordinates = PseudoLikelihoodBackend(model.parameters, jobs=resolve_jobs(choice.jobs))
    about = CurvatureRecord(PSEUDO_LIKELIHOOD.word, over, rows.n_rows, notes)
    return coordinates.objective(rows), Composition.of_pseudo_likelihood(model.parameters), about


def _expected_rows(model: MarkovNetwork, choice: CurvatureChoice) -> tuple[UniqueRows, str, tuple[str, ...]]:
    """Rows whose weighted mean is the expectation under the model or near it, where they are from, and notes."""
    if choice.rows is not None:
        choice.rows.check_complete("theory")
        return choice.rows.recoded(model.domain), _GIVEN, ()
    if prod(model.domain.shape) <= MOST_LISTED:
        return listed_states(model), _LISTED, ()
    drawn = model.sample(choice.n_draws, seed=choice.seed, jobs=choice.jobs)
    return UniqueRows.from_dataset(drawn), _CHAINS if drawn.notes else _DRAWN, drawn.notes


def listed_states(model: MarkovNetwork) -> UniqueRows:
    """All joint states as rows, weighted by their probability."""
    states = JointStates(model.parameters)
    return weighted_states(model.domain, states.base.by_state(np.exp(states.log_probabilities(model.w))))
