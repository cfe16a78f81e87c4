"""mrfit: learn discrete Markov networks from tables, and ask them questions."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mrfit._version import __version__

if TYPE_CHECKING:
    from mrfit.clusters import cluster
    from mrfit.data.dataset import Dataset
    from mrfit.data.parts import Parts
    from mrfit.data.sparse_rows import SparseRows
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.domain import Domain, Variable
    from mrfit.errors import MrfitError
    from mrfit.estimator import MarkovNetworkLearner
    from mrfit.factors import Factors
    from mrfit.formats.models import read_network, write_network
    from mrfit.inference.enumeration import Enumeration
    from mrfit.learning.comparing import GroupComparison, compare_groups
    from mrfit.learning.drawn_goodness import drawn_goodness
    from mrfit.learning.fitted import Fitted
    from mrfit.learning.incomplete import IncompleteFit, fit_incomplete
    from mrfit.learning.learner import Learner
    from mrfit.learning.node_stability import NodeStability, node_stability
    from mrfit.learning.objective_choice import LikelihoodChoice
    from mrfit.learning.penalized import L1, L2, FlatL1, FlatL2, Group, Hierarchical, NoPenalty
    from mrfit.learning.power import Power, power
    from mrfit.learning.relearning import Stability, stability
    from mrfit.learning.score_curves import plot_scores
    from mrfit.learning.smoothed import PseudoCounts
    from mrfit.learning.spectrum import plot_spectrum, spectrum
    from mrfit.learning.tied import HardTied, LearnTieRelearn, Tied
    from mrfit.model import MarkovNetwork
    from mrfit.network import Network
    from mrfit.plugins import register
    from mrfit.registry import learn
    from mrfit.report.marginals import plot_marginals
    from mrfit.report.network import plot_network
    from mrfit.report.parameters import plot_parameters
    from mrfit.settings import Coordinates, Covariates, Solver
    from mrfit.stochastic.growth import Grown
    from mrfit.structure.learners import Complete, Given, Independent, Learned, Tree, UpToOrder
    from mrfit.structure.structure import Structure
    from mrfit.summaries.comparison import Comparison, compare
    from mrfit.uncertainty.errors import Errors

# Loaded on first use: numba and scikit-learn take longer to import than most commands take to run.
_HOME = {
    "Comparison": "mrfit.summaries.comparison",
    "Complete": "mrfit.structure.learners",
    "Coordinates": "mrfit.settings",
    "Covariates": "mrfit.settings",
    "Dataset": "mrfit.data.dataset",
    "Domain": "mrfit.domain",
    "Enumeration": "mrfit.inference.enumeration",
    "Errors": "mrfit.uncertainty.errors",
    "Factors": "mrfit.factors",
    "Fitted": "mrfit.learning.fitted",
    "FlatL1": "mrfit.learning.penalized",
    "FlatL2": "mrfit.learning.penalized",
    "Given": "mrfit.structure.learners",
    "Group": "mrfit.learning.penalized",
    "GroupComparison": "mrfit.learning.comparing",
    "Grown": "mrfit.stochastic.growth",
    "HardTied": "mrfit.learning.tied",
    "Hierarchical": "mrfit.learning.penalized",
    "IncompleteFit": "mrfit.learning.incomplete",
    "Independent": "mrfit.structure.learners",
    "L1": "mrfit.learning.penalized",
    "L2": "mrfit.learning.penalized",
    "LearnTieRelearn": "mrfit.learning.tied",
    "Learned": "mrfit.structure.learners",
    "Learner": "mrfit.learning.learner",
    "LikelihoodChoice": "mrfit.learning.objective_choice",
    "MarkovNetwork": "mrfit.model",
    "MarkovNetworkLearner": "mrfit.estimator",
    "MrfitError": "mrfit.errors",
    "Network": "mrfit.network",
    "NoPenalty": "mrfit.learning.penalized",
    "NodeStability": "mrfit.learning.node_stability",
    "Parts": "mrfit.data.parts",
    "Power": "mrfit.learning.power",
    "PseudoCounts": "mrfit.learning.smoothed",
    "Solver": "mrfit.settings",
    "SparseRows": "mrfit.data.sparse_rows",
    "Stability": "mrfit.learning.relearning",
    "Structure": "mrfit.structure.structure",
    "Tied": "mrfit.learning.tied",
    "Tree": "mrfit.structure.learners",
    "UniqueRows": "mrfit.data.unique_rows",
    "UpToOrder": "mrfit.structure.learners",
    "Variable": "mrfit.domain",
    "cluster": "mrfit.clusters",
    "compare": "mrfit.summaries.comparison",
    "compare_groups": "mrfit.learning.comparing",
    "drawn_goodness": "mrfit.learning.drawn_goodness",
    "fit_incomplete": "mrfit.learning.incomplete",
    "learn": "mrfit.registry",
    "node_stability": "mrfit.learning.node_stability",
    "plot_marginals": "mrfit.report.marginals",
    "plot_network": "mrfit.report.network",
    "plot_parameters": "mrfit.report.parameters",
    "plot_scores": "mrfit.learning.score_curves",
    "plot_spectrum": "mrfit.learning.spectrum",
    "power": "mrfit.learning.power",
    "read_network": "mrfit.formats.models",
    "register": "mrfit.plugins",
    "spectrum": "mrfit.learning.spectrum",
    "stability": "mrfit.learning.relearning",
    "write_network": "mrfit.formats.models",
}

__all__ = [
    "L1",
    "L2",
    "Comparison",
    "Complete",
    "Coordinates",
    "Covariates",
    "Dataset",
    "Domain",
    "Enumeration",
    "Errors",
    "Factors",
    "Fitted",
    "FlatL1",
    "FlatL2",
    "Given",
    "Group",
    "GroupComparison",
    "Grown",
    "HardTied",
    "Hierarchical",
    "IncompleteFit",
    "Independent",
    "LearnTieRelearn",
    "Learned",
    "Learner",
    "LikelihoodChoice",
    "MarkovNetwork",
    "MarkovNetworkLearner",
    "MrfitError",
    "Network",
    "NoPenalty",
    "NodeStability",
    "Parts",
    "Power",
    "PseudoCounts",
    "Solver",
    "SparseRows",
    "Stability",
    "Structure",
    "Tied",
    "Tree",
    "UniqueRows",
    "UpToOrder",
    "Variable",
    "__version__",
    "cluster",
    "compare",
    "compare_groups",
    "drawn_goodness",
    "fit_incomplete",
    "learn",
    "node_stability",
    "plot_marginals",
    "plot_network",
    "plot_parameters",
    "plot_scores",
    "plot_spectrum",
    "power",
    "read_network",
    "register",
    "spectrum",
    "stability",
    "write_network",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'mrfit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
