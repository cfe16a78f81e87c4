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
        "independent": Name("mrfit.structures.simple:NoInteractions", "no interactions"),
        "tree": Name("mrfit.structures.simple:ChowLiuTree", "the tree of most mutual information"),
        "learned": Name(
            "mrfit.structures.nodewise.learners:ForwardSelection", "as `mrfit structure` does, with the same options"
        ),
        "grown": Name("mrfit.learning.chains.likelihood_growth:LikelihoodGrowth", "by likelihood from a tree"),
        "order": Name("mrfit.structures.simple:AllInteractions", "all sets of up to R variables", "order:R"),
        "given": Name("mrfit.structures.simple:FixedStructure", "an edge list, GraphML or JSON", "edges:FILE"),
    },
    "penalty": {
        "l2": Name("mrfit.learning.penalty_specs:L2", "shrinks all parameters"),
        "l1": Name("mrfit.learning.penalty_specs:L1", "makes many of them exactly zero"),
        "group": Name("mrfit.learning.penalty_specs:GroupLasso", "makes all of a scope zero at once"),
        "hierarchical": Name("mrfit.learning.penalty_specs:HierarchicalLasso", "a scope and all that contain it"),
        "flat-l1": Name("mrfit.learning.penalty_specs:UniformL1", "is l1 with all orders alike"),
        "flat-l2": Name("mrfit.learning.penalty_specs:SumOfSquares", "is l2 with all orders alike"),
        "none": Name("mrfit.learning.penalty_specs:NoPenalty", "is maximum likelihood"),
        "pseudo-counts": Name(
            "mrfit.learning.pseudo_counts:PseudoCounts",
            "adds S rows of every joint state, or for a tree of every state of a pair",
        ),
        "tied": Name("mrfit.learning.tying_specs:SoftTied", "draws parameters to a few learned values"),
        "hard": Name("mrfit.learning.tying_specs:HardTied", "makes them equal there"),
        "ltr": Name("mrfit.learning.tying_specs:LearnTieRelearn", "learns with l2, clusters, and relearns as equal"),
    },
    "objective": {
        "pseudo-likelihood": Name(
            "mrfit.learning.objective_specs:PseudoLikelihoodSpec", "each variable given all others"
        ),
        "likelihood": Name(
            "mrfit.learning.objective_specs:LikelihoodSpec",
            "whole rows; exact for some 24 variables or in a sparse structure, by chains elsewhere",
        ),
        "rise": Name(
            "mrfit.learning.objective_specs:RiseSpec",
            "interaction screening; held-out rows are scored by the pseudo-likelihood",
        ),
        "log-rise": Name("mrfit.learning.objective_specs:LogRiseSpec", "its logarithm, scored in the same way"),
    },
    "solver": {
        "newton": Name("mrfit.solvers.newton:TruncatedNewton"),
        "lbfgs": Name("mrfit.solvers.lbfgs:LBFGS"),
        "owlqn": Name("mrfit.solvers.owlqn:OWLQN"),
        "proximal-newton": Name("mrfit.solvers.proximal_newton:ProximalNewton"),
        "fista": Name("mrfit.solvers.fista:Fista"),
    },
    "parameterization": {
        "canonical": Name("mrfit.parameterizations.canonical:Canonical"),
        "spectral": Name("mrfit.parameterizations.spectral:Spectral"),
        "full": Name("mrfit.parameterizations.full:Full"),
        "ising": Name("mrfit.parameterizations.ising:Ising"),
        "generalized-ising": Name("mrfit.parameterizations.generalized_ising:GeneralizedIsing"),
        "ordered": Name("mrfit.parameterizations.ordered:Ordered"),
    },
    "engine": {
        "enumeration": Name("mrfit.inference.exact.enumeration:Enumeration"),
        "tree": Name("mrfit.inference.exact.junction_tree:JunctionTree"),
        "bp": Name("mrfit.inference.messages.belief_propagation:BeliefPropagation"),
        "max-product": Name("mrfit.inference.messages.max_product:MaxProduct"),
        "trw": Name("mrfit.inference.messages.tree_reweighted:TreeReweighted"),
        "mean-field": Name("mrfit.inference.messages.mean_field:MeanField"),
        "gibbs": Name("mrfit.inference.sampling.gibbs:Gibbs"),
        "ais": Name("mrfit.inference.sampling.annealed:Annealed"),
        "tempering": Name("mrfit.inference.sampling.tempering:Tempering"),
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
