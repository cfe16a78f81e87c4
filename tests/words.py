"""Learners from words and numbers, for tests that are about something else than their parts."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from mrfit.learning import Learner
from mrfit.learning.specification import objective_from, penalty_from, solver_from


def learner(
    strengths: Any = None, penalty: str = "l2", objective: str = "pseudo-likelihood", solver: Any = None, **more: Any
) -> Learner:
    """``learner((1.0, 10.0), "tied", groups=3, folds=5)``: what is no setting of learners is one of the penalty's."""
    known = {f.name for f in fields(Learner)}
    own = {name: more.pop(name) for name in list(more) if name not in known}
    if strengths is not None:
        own["strength"] = strengths
    return Learner(
        penalty=penalty_from(penalty, **own),
        objective=objective_from(objective),
        solver=solver_from(solver),
        **more,
    )
