"""mrfit: learn discrete Markov networks from tables, and ask them questions."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mrfit._version import __version__

if TYPE_CHECKING:
    from mrfit.analysis.goodness.bootstrap_goodness import drawn_goodness
    from mrfit.analysis.groups.compare_groups import GroupComparison, compare_groups
    from mrfit.analysis.model_comparison import Comparison, compare
    from mrfit.analysis.nodes.node_stability import NodeStability, node_stability
    from mrfit.analysis.sample_size.power import Power, power
    from mrfit.analysis.score_curves import plot_scores
    from mrfit.analysis.spectrum.interaction_spectrum import plot_spectrum, spectrum
    from mrfit.analysis.stability.stability import Stability, stability
    from mrfit.core.cluster import cluster
    from mrfit.core.domain import Domain, Variable
    from mrfit.core.errors import MrfitError
    from mrfit.core.factors import Factors
    from mrfit.data.dataset import Dataset
    from mrfit.data.partitioned_table import Parts
    from mrfit.data.sparse_rows import SparseRows
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.formats.models import read_network, write_network
    from mrfit.inference.exact.enumeration import Enumeration
    from mrfit.learning.chains.likelihood_growth import Grown
    from mrfit.learning.em import IncompleteFit, fit_incomplete
    from mrfit.learning.fit_result import Fitted
    from mrfit.learning.learner import Learner
    from mrfit.learning.objective_specs import LikelihoodChoice
    from mrfit.learning.penalty_specs import L1, L2, FlatL1, FlatL2, Group, Hierarchical, NoPenalty
    from mrfit.learning.pseudo_counts import PseudoCounts
    from mrfit.learning.settings import Coordinates, Covariates, Solver
    from mrfit.learning.specification import learn
    from mrfit.learning.tying_specs import HardTied, LearnTieRelearn, Tied
    from mrfit.model.factor_network import Network
    from mrfit.model.markov_network import MarkovNetwork
    from mrfit.model.standard_error_estimates import Errors
    from mrfit.plots.marginals_plot import plot_marginals
    from mrfit.plots.network_plot import plot_network
    from mrfit.plots.parameters_plot import plot_parameters
    from mrfit.registry import register
    from mrfit.sklearn import MarkovNetworkLearner
    from mrfit.structures.simple import Complete, Given, Independent, Learned, Tree, UpToOrder
    from mrfit.structures.structure import Structure

# Loaded on first use: numba and scikit-learn take longer to import than most commands take to run.
_HOME = {
    "Comparison": "mrfit.analysis.model_comparison",
    "Complete": "mrfit.structures.simple",
    "Coordinates": "mrfit.learning.settings",
    "Covariates": "mrfit.learning.settings",
    "Dataset": "mrfit.data.dataset",
    "Domain": "mrfit.core.domain",
    "Enumeration": "mrfit.inference.exact.enumeration",
    "Errors": "mrfit.model.standard_error_estimates",
    "Factors": "mrfit.core.factors",
    "Fitted": "mrfit.learning.fit_result",
    "FlatL1": "mrfit.learning.penalty_specs",
    "FlatL2": "mrfit.learning.penalty_specs",
    "Given": "mrfit.structures.simple",
    "Group": "mrfit.learning.penalty_specs",
    "GroupComparison": "mrfit.analysis.groups.compare_groups",
    "Grown": "mrfit.learning.chains.likelihood_growth",
    "HardTied": "mrfit.learning.tying_specs",
    "Hierarchical": "mrfit.learning.penalty_specs",
    "IncompleteFit": "mrfit.learning.em",
    "Independent": "mrfit.structures.simple",
    "L1": "mrfit.learning.penalty_specs",
    "L2": "mrfit.learning.penalty_specs",
    "LearnTieRelearn": "mrfit.learning.tying_specs",
    "Learned": "mrfit.structures.simple",
    "Learner": "mrfit.learning.learner",
    "LikelihoodChoice": "mrfit.learning.objective_specs",
    "MarkovNetwork": "mrfit.model.markov_network",
    "MarkovNetworkLearner": "mrfit.sklearn",
    "MrfitError": "mrfit.core.errors",
    "Network": "mrfit.model.factor_network",
    "NoPenalty": "mrfit.learning.penalty_specs",
    "NodeStability": "mrfit.analysis.nodes.node_stability",
    "Parts": "mrfit.data.partitioned_table",
    "Power": "mrfit.analysis.sample_size.power",
    "PseudoCounts": "mrfit.learning.pseudo_counts",
    "Solver": "mrfit.learning.settings",
    "SparseRows": "mrfit.data.sparse_rows",
    "Stability": "mrfit.analysis.stability.stability",
    "Structure": "mrfit.structures.structure",
    "Tied": "mrfit.learning.tying_specs",
    "Tree": "mrfit.structures.simple",
    "UniqueRows": "mrfit.data.unique_rows",
    "UpToOrder": "mrfit.structures.simple",
    "Variable": "mrfit.core.domain",
    "cluster": "mrfit.core.cluster",
    "compare": "mrfit.analysis.model_comparison",
    "compare_groups": "mrfit.analysis.groups.compare_groups",
    "drawn_goodness": "mrfit.analysis.goodness.bootstrap_goodness",
    "fit_incomplete": "mrfit.learning.em",
    "learn": "mrfit.learning.specification",
    "node_stability": "mrfit.analysis.nodes.node_stability",
    "plot_marginals": "mrfit.plots.marginals_plot",
    "plot_network": "mrfit.plots.network_plot",
    "plot_parameters": "mrfit.plots.parameters_plot",
    "plot_scores": "mrfit.analysis.score_curves",
    "plot_spectrum": "mrfit.analysis.spectrum.interaction_spectrum",
    "power": "mrfit.analysis.sample_size.power",
    "read_network": "mrfit.formats.models",
    "register": "mrfit.registry",
    "spectrum": "mrfit.analysis.spectrum.interaction_spectrum",
    "stability": "mrfit.analysis.stability.stability",
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
