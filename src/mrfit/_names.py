"""Internal: names by which users select parts, each with its module and a line of help. Importing this file is cheap.

The library, the command line, JSON and saved models share this list. `mrfit.registry` reads it and adds registered
plug-ins.
"""

from __future__ import annotations

from typing import NamedTuple


class Name(NamedTuple):
    """The location of a part, ``module:object``, and its line in ``--help``."""

    home: str
    help: str = ""
    form: str = ""  # its spelling, if the name needs an argument


NAMES: dict[str, dict[str, Name]] = {
    "structure": {
        "complete": Name("mrfit.structures.simple:CompleteGraph", "all pairs"),
        "independent": Name("mrfit.structures.simple:NoInteractions", "no edges"),
        "tree": Name("mrfit.structures.simple:ChowLiuTree", "the Chow-Liu tree"),
        "learned": Name("mrfit.structures.nodewise.learners:ForwardSelection", "as mrfit structure learns it"),
        "grown": Name(
            "mrfit.learning.chains.likelihood_growth:LikelihoodGrowth", "from the tree, by gains in likelihood"
        ),
        "order": Name("mrfit.structures.simple:AllInteractions", "all interactions of up to R variables", "order:R"),
        "given": Name("mrfit.structures.simple:FixedStructure", "an edge list, GraphML or JSON file", "edges:FILE"),
    },
    "penalty": {
        "l2": Name("mrfit.learning.penalty_specs:L2", "shrinks all parameters"),
        "l1": Name("mrfit.learning.penalty_specs:L1", "makes many exactly zero"),
        "group": Name("mrfit.learning.penalty_specs:GroupLasso", "makes all of an interaction zero at once"),
        "hierarchical": Name(
            "mrfit.learning.penalty_specs:HierarchicalLasso", "an interaction with all that contain it"
        ),
        "flat-l1": Name("mrfit.learning.penalty_specs:UniformL1", "l1, equal for all orders"),
        "flat-l2": Name("mrfit.learning.penalty_specs:SumOfSquares", "sum of squares, equal for all orders"),
        "none": Name("mrfit.learning.penalty_specs:NoPenalty", "maximum likelihood"),
        "pseudo-counts": Name(
            "mrfit.learning.pseudo_counts:PseudoCounts",
            "adds S rows of every joint state; for a tree, of every state of a pair",
        ),
        "tied": Name("mrfit.learning.tying_specs:SoftTied", "draws parameters to a few shared values"),
        "hard": Name("mrfit.learning.tying_specs:HardTied", "tied, then refitted as equal"),
        "ltr": Name("mrfit.learning.tying_specs:LearnTieRelearn", "l2, clustered, then refitted as equal"),
    },
    "objective": {
        "pseudo-likelihood": Name(
            "mrfit.learning.objective_specs:PseudoLikelihoodSpec", "each variable given all others"
        ),
        "likelihood": Name(
            "mrfit.learning.objective_specs:LikelihoodSpec",
            "whole rows: exact for few variables or sparse structures, otherwise by chains",
        ),
        "rise": Name(
            "mrfit.learning.objective_specs:RiseSpec",
            "interaction screening; its held-out score is the pseudo-likelihood",
        ),
        "log-rise": Name("mrfit.learning.objective_specs:LogRiseSpec", "its logarithm"),
    },
    "solver": {
        "newton": Name("mrfit.solvers.newton:TruncatedNewton"),
        "lbfgs": Name("mrfit.solvers.lbfgs:LBFGS"),
        "owlqn": Name("mrfit.solvers.owlqn:OWLQN"),
        "proximal-newton": Name("mrfit.solvers.proximal_newton:ProximalNewton"),
        "fista": Name("mrfit.solvers.fista:Fista"),
    },
    "parameterization": {
        "canonical": Name(
            "mrfit.parameterizations.canonical:Canonical", "log odds ratios relative to reference categories"
        ),
        "spectral": Name(
            "mrfit.parameterizations.spectral:Spectral", "contrasts, for binary variables products of signs"
        ),
        "full": Name("mrfit.parameterizations.full:Full", "every combination of states"),
        "ising": Name("mrfit.parameterizations.ising:Ising", "whether all variables of an interaction agree"),
        "generalized-ising": Name(
            "mrfit.parameterizations.generalized_ising:GeneralizedIsing", "the state that they all share"
        ),
        "ordered": Name("mrfit.parameterizations.ordered:Ordered", "scores of ordered states"),
    },
    "engine": {
        "enumeration": Name("mrfit.inference.exact.enumeration:Enumeration", "exact, over all joint states"),
        "tree": Name("mrfit.inference.exact.junction_tree:JunctionTree", "exact, on a junction tree"),
        "bp": Name("mrfit.inference.messages.belief_propagation:BeliefPropagation", "belief propagation"),
        "max-product": Name("mrfit.inference.messages.max_product:MaxProduct", "most probable states only"),
        "trw": Name(
            "mrfit.inference.messages.tree_reweighted:TreeReweighted",
            "tree-reweighted messages, an upper bound of log Z",
        ),
        "mean-field": Name("mrfit.inference.messages.mean_field:MeanField", "a lower bound of log Z"),
        "gibbs": Name("mrfit.inference.sampling.gibbs:Gibbs", "Gibbs chains"),
        "ais": Name("mrfit.inference.sampling.annealed:Annealed", "annealed importance sampling"),
        "tempering": Name("mrfit.inference.sampling.tempering:Tempering", "parallel tempering"),
    },
    "format of models": {
        "mrf": Name("mrfit.formats.mrf_network:MRF"),
        "uai": Name("mrfit.formats.uai:UAI"),
        "lg": Name("mrfit.formats.uai:LG"),
        "mn": Name("mrfit.formats.libra_mn:MN"),
        "fg": Name("mrfit.formats.libdai:FG"),
    },
    # Settings of parts, which have no name of their own.
    "setting": {
        "SoftTying": Name("mrfit.learning.tying.soft_tying:AlternationSettings"),
        "Stochastic": Name("mrfit.learning.tying.stochastic_tying:Stochastic"),
    },
}

# The base class of each kind of part.
BASES = {
    "mrfit.structures.base:StructureLearner": "structure",
    "mrfit.learning.penalty_spec:PenaltySpec": "penalty",
    "mrfit.learning.objective_specs:ObjectiveSpec": "objective",
    "mrfit.solvers.method:Method": "solver",
    "mrfit.parameterizations.parameterization:Parameterization": "parameterization",
    "mrfit.inference.engine:Engine": "engine",
    "mrfit.formats.model_format:ModelFormat": "format of models",
}

# Kinds that a description of a learner may contain; names of different kinds must differ there.
IN_LEARNERS = ("structure", "penalty", "objective", "solver", "setting")
