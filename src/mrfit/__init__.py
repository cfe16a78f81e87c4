"""mrfit: learn discrete Markov networks from tables, and ask them questions."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mrfit._version import __version__

if TYPE_CHECKING:
    from mrfit.analysis.goodness.bootstrap_goodness import bootstrap_goodness
    from mrfit.analysis.groups.compare_groups import GroupComparison, compare_groups
    from mrfit.analysis.model_comparison import Comparison, compare
    from mrfit.analysis.nodes.node_stability import NodeStability, node_stability
    from mrfit.analysis.sample_size.power import SampleSizeStudy, sample_size
    from mrfit.analysis.score_curves import plot_scores
    from mrfit.analysis.spectrum.interaction_spectrum import interaction_spectrum, plot_spectrum
    from mrfit.analysis.stability.stability import Stability, stability
    from mrfit.core.cluster import cluster
    from mrfit.core.domain import Domain, Variable
    from mrfit.core.errors import MrfitError
    from mrfit.core.factors import Factors
    from mrfit.data.dataset import Dataset
    from mrfit.data.partitioned_table import PartitionedTable
    from mrfit.data.sparse_rows import SparseRows
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.formats.models import read_network, write_network
    from mrfit.inference.exact.enumeration import Enumeration
    from mrfit.learning.chains.likelihood_growth import LikelihoodGrowth
    from mrfit.learning.em import IncompleteFit, fit_incomplete
    from mrfit.learning.fit_result import FitResult
    from mrfit.learning.learner import Learner
    from mrfit.learning.objective_specs import LikelihoodSpec
    from mrfit.learning.penalty_specs import L1, L2, GroupLasso, HierarchicalLasso, NoPenalty, SumOfSquares, UniformL1
    from mrfit.learning.pseudo_counts import PseudoCounts
    from mrfit.learning.settings import Covariates, ParameterizationOptions, SolverOptions
    from mrfit.learning.specification import learn
    from mrfit.learning.tying_specs import HardTied, LearnTieRelearn, SoftTied
    from mrfit.model.factor_network import FactorNetwork
    from mrfit.model.markov_network import MarkovNetwork
    from mrfit.model.standard_error_estimates import StandardErrors
    from mrfit.plots.marginals_plot import plot_marginals
    from mrfit.plots.network_plot import plot_network
    from mrfit.plots.parameters_plot import plot_parameters
    from mrfit.registry import register
    from mrfit.sklearn import MarkovNetworkLearner
    from mrfit.structures.simple import (
        AllInteractions,
        ChowLiuTree,
        CompleteGraph,
        FixedStructure,
        Learned,
        NoInteractions,
    )
    from mrfit.structures.structure import Structure

# Loaded on first use: numba and scikit-learn take longer to import than most commands take to run.
_HOME = {
    "Comparison": "mrfit.analysis.model_comparison",
    "CompleteGraph": "mrfit.structures.simple",
    "ParameterizationOptions": "mrfit.learning.settings",
    "Covariates": "mrfit.learning.settings",
    "Dataset": "mrfit.data.dataset",
    "Domain": "mrfit.core.domain",
    "Enumeration": "mrfit.inference.exact.enumeration",
    "StandardErrors": "mrfit.model.standard_error_estimates",
    "Factors": "mrfit.core.factors",
    "FitResult": "mrfit.learning.fit_result",
    "UniformL1": "mrfit.learning.penalty_specs",
    "SumOfSquares": "mrfit.learning.penalty_specs",
    "FixedStructure": "mrfit.structures.simple",
    "GroupLasso": "mrfit.learning.penalty_specs",
    "GroupComparison": "mrfit.analysis.groups.compare_groups",
    "LikelihoodGrowth": "mrfit.learning.chains.likelihood_growth",
    "HardTied": "mrfit.learning.tying_specs",
    "HierarchicalLasso": "mrfit.learning.penalty_specs",
    "IncompleteFit": "mrfit.learning.em",
    "NoInteractions": "mrfit.structures.simple",
    "L1": "mrfit.learning.penalty_specs",
    "L2": "mrfit.learning.penalty_specs",
    "LearnTieRelearn": "mrfit.learning.tying_specs",
    "Learned": "mrfit.structures.simple",
    "Learner": "mrfit.learning.learner",
    "LikelihoodSpec": "mrfit.learning.objective_specs",
    "MarkovNetwork": "mrfit.model.markov_network",
    "MarkovNetworkLearner": "mrfit.sklearn",
    "MrfitError": "mrfit.core.errors",
    "FactorNetwork": "mrfit.model.factor_network",
    "NoPenalty": "mrfit.learning.penalty_specs",
    "NodeStability": "mrfit.analysis.nodes.node_stability",
    "PartitionedTable": "mrfit.data.partitioned_table",
    "SampleSizeStudy": "mrfit.analysis.sample_size.power",
    "PseudoCounts": "mrfit.learning.pseudo_counts",
    "SolverOptions": "mrfit.learning.settings",
    "SparseRows": "mrfit.data.sparse_rows",
    "Stability": "mrfit.analysis.stability.stability",
    "Structure": "mrfit.structures.structure",
    "SoftTied": "mrfit.learning.tying_specs",
    "ChowLiuTree": "mrfit.structures.simple",
    "UniqueRows": "mrfit.data.unique_rows",
    "AllInteractions": "mrfit.structures.simple",
    "Variable": "mrfit.core.domain",
    "cluster": "mrfit.core.cluster",
    "compare": "mrfit.analysis.model_comparison",
    "compare_groups": "mrfit.analysis.groups.compare_groups",
    "bootstrap_goodness": "mrfit.analysis.goodness.bootstrap_goodness",
    "fit_incomplete": "mrfit.learning.em",
    "learn": "mrfit.learning.specification",
    "node_stability": "mrfit.analysis.nodes.node_stability",
    "plot_marginals": "mrfit.plots.marginals_plot",
    "plot_network": "mrfit.plots.network_plot",
    "plot_parameters": "mrfit.plots.parameters_plot",
    "plot_scores": "mrfit.analysis.score_curves",
    "plot_spectrum": "mrfit.analysis.spectrum.interaction_spectrum",
    "sample_size": "mrfit.analysis.sample_size.power",
    "read_network": "mrfit.formats.models",
    "register": "mrfit.registry",
    "interaction_spectrum": "mrfit.analysis.spectrum.interaction_spectrum",
    "stability": "mrfit.analysis.stability.stability",
    "write_network": "mrfit.formats.models",
}

__all__ = [
    "L1",
    "L2",
    "AllInteractions",
    "ChowLiuTree",
    "Comparison",
    "CompleteGraph",
    "Covariates",
    "Dataset",
    "Domain",
    "Enumeration",
    "FactorNetwork",
    "Factors",
    "FitResult",
    "FixedStructure",
    "GroupComparison",
    "GroupLasso",
    "HardTied",
    "HierarchicalLasso",
    "IncompleteFit",
    "LearnTieRelearn",
    "Learned",
    "Learner",
    "LikelihoodGrowth",
    "LikelihoodSpec",
    "MarkovNetwork",
    "MarkovNetworkLearner",
    "MrfitError",
    "NoInteractions",
    "NoPenalty",
    "NodeStability",
    "ParameterizationOptions",
    "PartitionedTable",
    "PseudoCounts",
    "SampleSizeStudy",
    "SoftTied",
    "SolverOptions",
    "SparseRows",
    "Stability",
    "StandardErrors",
    "Structure",
    "SumOfSquares",
    "UniformL1",
    "UniqueRows",
    "Variable",
    "__version__",
    "bootstrap_goodness",
    "cluster",
    "compare",
    "compare_groups",
    "fit_incomplete",
    "interaction_spectrum",
    "learn",
    "node_stability",
    "plot_marginals",
    "plot_network",
    "plot_parameters",
    "plot_scores",
    "plot_spectrum",
    "read_network",
    "register",
    "sample_size",
    "stability",
    "write_network",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'mrfit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
