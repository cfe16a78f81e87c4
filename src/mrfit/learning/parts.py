"""All parts a learner can be made of, by the word users know them by."""

from __future__ import annotations

from mrfit.learning.json_form import kind_of
from mrfit.learning.objective_choice import LIKELIHOOD, LOG_RISE, PSEUDO_LIKELIHOOD, RISE, ObjectiveChoice
from mrfit.learning.penalized import L1, L2, FlatL1, FlatL2, Group, Hierarchical, NoPenalty
from mrfit.learning.penalty_choice import PenaltyChoice
from mrfit.learning.smoothed import PseudoCounts
from mrfit.learning.solver_words import SOLVERS
from mrfit.learning.tied import HardTied, LearnTieRelearn, Tied
from mrfit.stochastic.growth import Grown
from mrfit.structure.learners import Complete, Given, Independent, Learned, StructureLearner, Tree, UpToOrder
from mrfit.tying.soft import SoftTying
from mrfit.tying.stochastic import Stochastic

STRUCTURES: dict[str, type[StructureLearner]] = {
    kind.word: kind for kind in (Complete, Independent, Tree, Learned, Grown, UpToOrder, Given)
}
PENALTIES: dict[str, type[PenaltyChoice]] = {
    kind.word: kind
    for kind in (L2, L1, Group, Hierarchical, FlatL1, FlatL2, NoPenalty, PseudoCounts, Tied, HardTied, LearnTieRelearn)
}
OBJECTIVES: dict[str, ObjectiveChoice] = {
    choice.word: choice for choice in (PSEUDO_LIKELIHOOD, LIKELIHOOD, RISE, LOG_RISE)
}

# What may stand in a learner's JSON.
PARTS: dict[str, type] = {
    kind_of(kind): kind
    for kind in (
        *STRUCTURES.values(),
        *PENALTIES.values(),
        *map(type, OBJECTIVES.values()),
        *SOLVERS.values(),
        SoftTying,
        Stochastic,
    )
}
