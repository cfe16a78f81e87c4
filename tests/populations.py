"""Every component with its awkward cases; `test_populations.py` fails when one is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from mrfit._typing import Scope
from mrfit.core.cluster import held
from mrfit.core.domain import Domain
from mrfit.core.factors import Factors
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.engine import Engine
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.messages.belief_propagation import BeliefPropagation
from mrfit.inference.messages.max_product import MaxProduct
from mrfit.inference.messages.mean_field import MeanField
from mrfit.inference.messages.tree_reweighted import TreeReweighted
from mrfit.inference.sampling.annealed import Annealed
from mrfit.inference.sampling.gibbs import Gibbs
from mrfit.inference.sampling.tempering import Tempering
from mrfit.learning.tying.hard_tying import TiedObjective
from mrfit.model.factor_network import Conjunction, FactorNetwork
from mrfit.objectives.cached import CachedObjective
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.objectives.likelihood import Likelihood
from mrfit.objectives.objective import Objective
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.objectives.reparameterized import Reparameterized
from mrfit.objectives.screening import InteractionScreening, LogInteractionScreening
from mrfit.objectives.sharded import Shard, Sharded
from mrfit.objectives.tree_likelihood import TreeLikelihood
from mrfit.objectives.weighted_mean import WeightedMean
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.centred import Centred
from mrfit.parameterizations.full import Full
from mrfit.parameterizations.generalized_ising import GeneralizedIsing
from mrfit.parameterizations.groups import Groups
from mrfit.parameterizations.ising import Ising
from mrfit.parameterizations.ordered import Ordered
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.parameterizations.spectral import Spectral
from mrfit.penalties.cluster_penalty import ClusterPenalty
from mrfit.penalties.group_l1 import GroupL1
from mrfit.penalties.hierarchical_l1 import HierarchicalL1
from mrfit.penalties.l1 import WeightedL1
from mrfit.penalties.l2 import Ridge
from mrfit.penalties.penalized_objective import PenalizedObjective
from mrfit.penalties.penalty import NonsmoothPenalty, Scaled, SmoothPenalty, ZeroPenalty
from mrfit.registry import PARAMETERIZATIONS as WORDS
from mrfit.solvers.fista import Fista
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.owlqn import OWLQN
from mrfit.solvers.projected_gradient import ProjectedGradient
from mrfit.solvers.proximal_newton import ProximalNewton
from mrfit.structures.structure import Structure

Shape = tuple[int, ...]

# -- tables ------------------------------------------------------------------------------------------------------


def domain_of(shape: Shape) -> Domain:
    """Variables x0, x1, ... with states s0, s1, ..."""
    return Domain.from_states({f"x{i}": [f"s{s}" for s in range(c)] for i, c in enumerate(shape)})


def random_codes(rng: np.random.Generator, shape: Shape, n_rows: int) -> np.ndarray:
    """Codes whose neighbouring columns depend on each other."""
    codes = rng.integers(0, shape, (n_rows, len(shape)))
    for i in range(1, len(shape)):
        follows = rng.random(n_rows) < 0.4
        codes[follows, i] = codes[follows, i - 1] % shape[i]
    return codes.astype(np.uint8)


def random_rows(rng: np.random.Generator, shape: Shape, n_rows: int, *, fractional: bool = False) -> UniqueRows:
    """A random table, with weights of its own if ``fractional``."""
    weight = rng.uniform(0.1, 3.0, n_rows) if fractional else np.ones(n_rows)
    return UniqueRows.from_codes(domain_of(shape), random_codes(rng, shape, n_rows), weight)


def rows_from(factors: Factors, n: int, rng: np.random.Generator) -> UniqueRows:
    """Rows drawn from the distribution itself."""
    tree = JunctionTree()
    codes = tree.draw(tree.plan(factors), factors, n, rng=rng).astype(np.uint8)
    return UniqueRows.from_codes(domain_of(factors.shape), codes, np.ones(n))


def full_rows(rng: np.random.Generator, shape: Shape) -> UniqueRows:
    """Every joint state with a positive weight: all optima are finite without a penalty."""
    codes = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=1).astype(np.uint8)
    return UniqueRows.from_codes(domain_of(shape), codes, rng.integers(1, 20, len(codes)).astype(float))


SHAPES: dict[str, Shape] = {
    "binary": (2, 2, 2, 2, 2),
    "mixed": (2, 3, 5, 2),
    "a variable with one state": (3, 1, 2, 2),
    "one variable": (3,),
    "one variable with one state": (1,),
}

# -- structures --------------------------------------------------------------------------------------------------


def _within(scopes: list[tuple[int, ...]], n: int) -> list[tuple[int, ...]]:
    return [scope for scope in scopes if max(scope) < n]


def _disconnected(n: int) -> Structure:
    return Structure.from_edges(n, _within([(0, 1), (2, 3)], n))


def _permuted_duplicates(n: int) -> Structure:
    return Structure.from_scopes(n, _within([(1, 0), (0, 1), (0, 1, 1), (3, 1, 2), (2, 3, 1), (0,)], n))


STRUCTURES: dict[str, Callable[[int], Structure]] = {
    "independent": Structure.independent,
    "complete": Structure.complete,
    "tree": lambda n: Structure.from_edges(n, [((i - 1) // 2, i) for i in range(1, n)]),
    "chain": lambda n: Structure.from_edges(n, [(i - 1, i) for i in range(1, n)]),
    "order 3": lambda n: Structure.up_to_order(n, 3),
    "saturated": lambda n: Structure.up_to_order(n, n),
    "disconnected": _disconnected,
    "a triple without its parts": lambda n: Structure.from_scopes(n, _within([(0, 1, 2)], n), closed=False),
    "pairs without singles": lambda n: Structure.from_scopes(n, [(i - 1, i) for i in range(1, n)], closed=False),
    "some singles": lambda n: Structure.from_scopes(n, _within([(0,), (2,), (1, 2), (0, 1, 3)], n), closed=False),
    "permuted duplicates": _permuted_duplicates,
    "no scopes": lambda n: Structure.from_scopes(n, [], closed=False),
}

# -- factors and engines -----------------------------------------------------------------------------------------

SCOPES: dict[str, tuple[Shape, list[Scope]]] = {
    "tree": ((2, 2, 2, 2, 2), [(0, 1), (0, 2), (1, 3), (1, 4)]),
    "cycle": ((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3), (3, 0)]),
    "missing variable": ((2, 3, 2, 2), [(0, 1), (3,)]),
    "full joint": ((2, 3, 2), [(0, 1, 2)]),
    "full joint, turned": ((2, 3, 4), [(2, 0, 1)]),
    "singleton": ((3, 2), [(0,), (1,)]),
    "one variable": ((4,), [(0,)]),
    "nested": ((2, 2, 3), [(0, 1, 2), (0, 1), (1, 2), (1,)]),
    "duplicate": ((2, 3), [(0, 1), (0, 1), (1,), (1,)]),
    "duplicate, turned": ((2, 3, 2), [(0, 1), (1, 0), (2, 1, 0), (0, 2, 1)]),
    "disconnected": ((2, 2, 3, 2), [(0, 1), (3, 2)]),
    "no scopes": ((2, 3), []),
    "empty scope": ((2, 3), [(), (0, 1), ()]),
    "no variables": ((), [(), ()]),
    "mixed cardinalities": ((2, 5, 3, 4), [(0, 1), (3, 1), (2, 0), (3, 2, 0)]),
    "one-state variables": ((1, 2, 1, 3, 1), [(0,), (0, 1), (4, 3, 2), (1, 3), (2, 4)]),
    "only one-state variables": ((1, 1), [(0, 1), (1,)]),
    "more variables than an array has axes": ((1,) * 80 + (2, 3) + (1,) * 80, [(80, 81), tuple(range(161, 79, -1))]),
}


def random_factors(rng: np.random.Generator, shape: Shape, scopes: list[Scope], *, zeros: float = 0.0) -> Factors:
    """Tables of which a share of cells is impossible, though one joint state never is."""
    possible = rng.integers(0, shape) if shape else np.empty(0, int)
    tables = []
    for scope in scopes:
        table = 2.0 * rng.standard_normal([shape[i] for i in scope if shape[i] > 1])
        state = tuple(possible[i] for i in scope if shape[i] > 1)
        spared = table[state]
        table = np.where(rng.random(table.shape) < zeros, -np.inf, table)
        table[state] = spared
        tables.append((scope, table.ravel()))
    return Factors.from_tables(shape, tables)


def spin_glass(pairs: list[tuple[int, int]], rng: np.random.Generator) -> Factors:
    """Couplings of both signs and no fields: where there are cycles, some pairs cannot be as they should."""
    table = np.array([[1.0, -1.0], [-1.0, 1.0]])
    n = 1 + max(map(max, pairs))
    return Factors.from_tables((2,) * n, [(pair, rng.standard_normal() * table) for pair in pairs])


ENGINES: dict[type, list[Engine]] = {
    Enumeration: [Enumeration(), Enumeration(jobs=2)],
    JunctionTree: [JunctionTree(), JunctionTree(merge=False)],
}

# Engines that are exact on some graphs only.
MESSAGE_ENGINES: dict[type, list[Engine]] = {
    BeliefPropagation: [
        BeliefPropagation(),
        BeliefPropagation("sequential", damping=0.3),
        BeliefPropagation("flooding"),
        BeliefPropagation("residual"),
        BeliefPropagation("residual", damping=0.3),
        BeliefPropagation(merge=True),
    ],
    MaxProduct: [MaxProduct(), MaxProduct("residual")],
    TreeReweighted: [TreeReweighted(), TreeReweighted(max_trees=0, damping=0.5)],
    MeanField: [MeanField(), MeanField(n_starts=3)],
}

# Whose answers have errors.
SAMPLERS: dict[type, list[Engine]] = {
    Gibbs: [Gibbs()],
    Annealed: [Annealed(), Annealed(bases=("moments", "tree"), jobs=2), Annealed(precision=0.01)],
    Tempering: [Tempering(), Tempering(chains=130, jobs=2, precision=0.01)],
}

# -- parameterizations -------------------------------------------------------------------------------------------


def _last(domain: Domain) -> tuple[int, ...]:
    return tuple(c - 1 for c in domain.shape)


def _mixed(domain: Domain, rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(int(code) for code in rng.integers(0, domain.shape))


def _every_other(domain: Domain) -> tuple[int, ...]:
    return tuple(range(0, len(domain), 2))


PARAMETERIZATIONS: dict[type, Callable[[Domain, Structure, np.random.Generator], list[Parameterization]]] = {
    Canonical: lambda domain, structure, rng: [
        Canonical(domain, structure),
        Canonical(domain, structure, _last(domain)),
        Canonical(domain, structure, _mixed(domain, rng)),
    ],
    Spectral: lambda domain, structure, rng: [Spectral(domain, structure)],
    Full: lambda domain, structure, rng: [Full(domain, structure)],
    Centred: lambda domain, structure, rng: [Centred(domain, structure)],
    Ising: lambda domain, structure, rng: [Ising(domain, structure)],
    GeneralizedIsing: lambda domain, structure, rng: [GeneralizedIsing(domain, structure)],
    Ordered: lambda domain, structure, rng: [
        Ordered(domain, structure, _every_other(domain)),
        Ordered(domain, structure, scores=((0, tuple(np.arange(1.0, 1 + domain.shape[0]) ** 2)),)),
    ],
}


def all_parameterizations(domain: Domain, structure: Structure, rng: np.random.Generator) -> list[Parameterization]:
    return [each for build in PARAMETERIZATIONS.values() for each in build(domain, structure, rng)]


def chosen_parameterizations(domain: Domain, structure: Structure, rng: np.random.Generator) -> list[Parameterization]:
    """Parameterizations that users choose by a word, and that files store."""
    return [each for each in all_parameterizations(domain, structure, rng) if each.word in WORDS]


# -- penalties, objectives, methods ------------------------------------------------------------------------------

SMOOTH_PENALTIES: dict[type, Callable[[np.random.Generator, int], list[SmoothPenalty]]] = {
    Ridge: lambda rng, n: [
        Ridge(1.0),
        Ridge(1e-3),
        Ridge(250.0, np.ones(n, bool)),
        Ridge(2.0, rng.random(n) < 0.5),
        Ridge(2.0, np.zeros(n, bool)),
        Ridge(2.0, rng.random(n) < 0.5, toward=rng.standard_normal(n)),
    ],
    ClusterPenalty: lambda rng, n: [
        ClusterPenalty(1.0, np.zeros(n, int)),
        ClusterPenalty(2.0, np.arange(n)),
        ClusterPenalty(1e-3, rng.integers(0, 3, n)),
        ClusterPenalty(30.0, rng.integers(-1, 3, n)),
        ClusterPenalty(5.0, rng.integers(-1, 2, n), np.array([True, False])),
        ClusterPenalty(5.0, np.full(n, -1)),
        ClusterPenalty(1.0, np.full(n, 1), np.array([False, True])),
    ],
}


def hierarchical(
    strength: float, block: np.ndarray, weight: np.ndarray, above: Mapping[int, Iterable[int]]
) -> HierarchicalL1:
    """Hierarchical penalty from the blocks above each block; a block is above itself."""
    lists = [sorted({a, *above.get(a, ())}) for a in range(len(weight))]
    start = np.append(0, np.cumsum([len(members) for members in lists], dtype=int))
    return HierarchicalL1(strength, block, weight, start, np.array([b for members in lists for b in members], int))


@cache
def subsets(n: int, order: int | None = None) -> tuple[np.ndarray, Mapping[int, list[int]]]:
    """The weights 2^(size - 2) of Buchman et al. (2012) for the sets of 1 .. order of n variables, singles free."""
    masks = [mask for mask in range(1, 2**n) if mask.bit_count() <= (order or n)]
    above = {a: [b for b, other in enumerate(masks) if mask & other == mask] for a, mask in enumerate(masks)}
    weight = np.array([2.0 ** (mask.bit_count() - 2) * (mask.bit_count() > 1) for mask in masks])
    weight.flags.writeable = False
    return weight, above


NONSMOOTH_PENALTIES: dict[type, Callable[[np.random.Generator, int], list[NonsmoothPenalty]]] = {
    ZeroPenalty: lambda rng, n: [ZeroPenalty()],
    WeightedL1: lambda rng, n: [
        WeightedL1(1.0, np.ones(n)),
        WeightedL1(1e-3, rng.uniform(0.5, 2.0, n)),
        WeightedL1(0.7, np.where(rng.random(n) < 0.5, rng.uniform(0.5, 2.0, n), 0.0)),
        WeightedL1(250.0, np.ones(n)),
        WeightedL1(2.0, np.zeros(n)),
    ],
    GroupL1: lambda rng, n: [
        GroupL1(1.0, np.arange(n), np.ones(n)),
        GroupL1(0.7, np.zeros(n, int), np.ones(1)),
        GroupL1(1e-3, rng.integers(0, 3, n), rng.uniform(0.5, 2.0, 3)),
        GroupL1(0.5, np.arange(n) % 4 - 1, np.array([1.0, 0.0, 0.8])),
        GroupL1(250.0, np.arange(n) // 2, np.ones(n)),
        GroupL1(2.0, np.full(n, -1), np.zeros(0)),
        GroupL1(2.0, np.zeros(n, int), np.zeros(2)),
    ],
    HierarchicalL1: lambda rng, n: [
        hierarchical(1.0, np.arange(n), np.ones(n), {}),
        hierarchical(0.3, np.arange(n), rng.uniform(0.5, 2.0, n), {a: range(a, n) for a in range(n)}),
        hierarchical(0.5, np.arange(n) % 3, np.array([1.0, 0.4, 0.7]), {0: (2, 0), 1: (1, 2)}),
        hierarchical(1e-3, rng.integers(0, 4, n), np.array([0.0, 1.0, 1.0, 2.0]), {0: (1,), 1: (3,), 2: (3,)}),
        hierarchical(0.6, np.arange(n) // 2, np.array([1.0, 0.5, *np.zeros(n)]), {0: (2, 3), 1: (3,), 2: (3,)}),
        hierarchical(0.4, np.arange(n), *subsets(3)),
        hierarchical(0.2, rng.permutation(n), *subsets(3)),
        hierarchical(250.0, np.arange(n), *subsets(3)),
        hierarchical(2.0, np.zeros(n, int), np.zeros(1), {}),
    ],
    Scaled: lambda rng, n: [
        Scaled(0.3, WeightedL1(2.0, np.where(rng.random(n) < 0.5, rng.uniform(0.5, 2.0, n), 0.0))),
        Scaled(4.0, GroupL1(0.2, np.arange(n) % 4 - 1, np.array([1.0, 0.0, 0.8]))),
        Scaled(0.5, hierarchical(0.8, np.arange(n), *subsets(3))),
        Scaled(3.0, Scaled(0.1, WeightedL1(1.0, np.ones(n)))),
    ],
}


def pseudo_likelihood(rows: UniqueRows, parameters: Canonical, *, jobs: int = 1) -> PseudoLikelihood:
    return PseudoLikelihood(ConditionalCells.count(rows, parameters, jobs=jobs), jobs=jobs)


def screening(rows: UniqueRows, parameters: Canonical, *, jobs: int = 1) -> InteractionScreening:
    return InteractionScreening(ConditionalCells.count(rows, parameters, jobs=jobs), jobs=jobs)


def log_screening(rows: UniqueRows, parameters: Canonical, *, jobs: int = 1) -> LogInteractionScreening:
    return LogInteractionScreening(ConditionalCells.count(rows, parameters, jobs=jobs), jobs=jobs)


def penalized(rows: UniqueRows, parameters: Canonical, *, jobs: int = 1, strength: float = 1.0) -> PenalizedObjective:
    objective = pseudo_likelihood(rows, parameters, jobs=jobs)
    return PenalizedObjective(objective, Ridge(strength), total_weight=rows.total_weight)


def likelihood(rows: UniqueRows, parameters: Canonical, *, jobs: int = 1) -> Likelihood:
    return Likelihood(parameters, rows)


def tree_likelihood(rows: UniqueRows, parameters: Canonical, *, jobs: int = 1) -> TreeLikelihood:
    return TreeLikelihood(parameters, rows, jobs=jobs)


def previous(rows: UniqueRows, parameters: Canonical, *, jobs: int = 1) -> CachedObjective:
    return CachedObjective(pseudo_likelihood(rows, parameters, jobs=jobs))


def reduced(rows: UniqueRows, parameters: Canonical, *, jobs: int = 1) -> TiedObjective:
    """Every parameter in a group of its own: the same function, by way of the groups."""
    n = parameters.n_parameters
    return TiedObjective(pseudo_likelihood(rows, parameters, jobs=jobs), Groups(np.arange(n), np.zeros(n)))


def reparameterized(rows: UniqueRows, parameters: Canonical, *, jobs: int = 1) -> Reparameterized:
    """Objective in its own coordinates: the same function, by way of a matrix."""
    identity = sparse.csr_array(sparse.eye_array(parameters.n_parameters))
    return Reparameterized(pseudo_likelihood(rows, parameters, jobs=jobs), identity)


def mean(rows: UniqueRows, parameters: Canonical, *, jobs: int = 1) -> WeightedMean:
    """Weighted mean of two halves, every other row in each: the same function."""
    halves = _two_halves(rows)
    shares = [half.total_weight / rows.total_weight for half in halves]
    return WeightedMean([pseudo_likelihood(half, parameters, jobs=jobs) for half in halves], shares)


def _two_halves(rows: UniqueRows) -> list[UniqueRows]:
    return [
        UniqueRows.from_codes(rows.domain, rows.codes[k::2], rows.sample_weight[k::2])
        for k in range(rows.n_distinct)[:2]
    ]


def sharded(rows: UniqueRows, parameters: Canonical, *, jobs: int = 1) -> Sharded:
    """Every other row in a shard of its own: the same function, by way of a mean."""
    halves = _two_halves(rows)
    return Sharded(held(lambda half: Shard(pseudo_likelihood(half, parameters, jobs=jobs), half.total_weight), halves))


OBJECTIVES: dict[type, Callable[..., Objective]] = {
    PseudoLikelihood: pseudo_likelihood,
    InteractionScreening: screening,
    LogInteractionScreening: log_screening,
    PenalizedObjective: penalized,
    Likelihood: likelihood,
    TreeLikelihood: tree_likelihood,
    CachedObjective: previous,
    TiedObjective: reduced,
    Reparameterized: reparameterized,
    WeightedMean: mean,
    Sharded: sharded,
}

METHODS: dict[str, Method[Any]] = {
    "newton": TruncatedNewton(),
    "newton, few products": TruncatedNewton(max_products=3),
    "lbfgs": LBFGS(),
    "lbfgs, one pair": LBFGS(memory=1),
    "owlqn": OWLQN(),
    "owlqn, one pair": OWLQN(memory=1),
    "proximal newton": ProximalNewton(),
    "fista": Fista(),
}

# Methods whose momentum may carry values uphill: they are sure to arrive, not to descend, and rounding does not end
# them.
WITH_MOMENTUM = {"fista"}

# Methods that solve another problem than the driver's: they have tests of their own.
SPECIAL_METHODS = {ProjectedGradient}

# -- strategies --------------------------------------------------------------------------------------------------


@st.composite
def scopes(draw: st.DrawFn, n: int) -> Structure:
    """Any structure over n variables, closed or not, of scopes of up to four variables."""
    scope = st.sets(st.integers(0, n - 1), min_size=1, max_size=min(4, n)).map(sorted)
    return Structure.from_scopes(n, draw(st.lists(scope, max_size=5)), closed=draw(st.booleans()))


@st.composite
def factors(draw: st.DrawFn) -> Factors:
    """Any scopes, in any order, over any small shape; impossible cells in some."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=5)))
    scope = st.permutations(range(len(shape))).flatmap(
        lambda order: st.integers(0, min(3, len(order))).map(lambda size: tuple(order[:size]))
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_factors(rng, shape, draw(st.lists(scope, max_size=6)), zeros=draw(st.sampled_from([0.0, 0.3, 0.9])))


@st.composite
def forests(draw: st.DrawFn, *, order: int = 4) -> Factors:
    """Scopes that make no loop but with what they contain: turned, nested, repeated; impossible cells in some."""
    shape = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parts, scopes = [[i] for i in range(len(shape))], list[Scope]()
    while len(parts) > 1 and draw(st.booleans()):
        joined = [
            parts.pop(int(rng.integers(len(parts)))) for _ in range(min(len(parts), int(rng.integers(2, order + 1))))
        ]
        scopes.append(tuple(int(rng.choice(part)) for part in joined))
        parts.append([i for part in joined for i in part])
    inside = [scope[: int(rng.integers(len(scope) + 1))][::-1] for scope in scopes if rng.random() < 0.5]
    singles = [(i,) for i in range(len(shape)) if rng.random() < 0.5]
    return random_factors(rng, shape, [*inside, *scopes, *singles], zeros=draw(st.sampled_from([0.0, 0.3, 0.9])))


@st.composite
def networks(draw: st.DrawFn) -> FactorNetwork:
    """Any tables, with conjunctions of any of their variables, impossible ones too."""
    tables = draw(factors())
    n = len(tables.shape)
    conjunctions = []
    for _ in range(draw(st.integers(0, 2))):
        chosen = draw(st.lists(st.integers(0, n - 1), unique=True))
        states = [draw(st.sets(st.integers(0, tables.shape[i] - 1), min_size=1)) for i in chosen]
        weight = draw(st.sampled_from([0.5, -2.0, 3.0]))
        conjunctions.append(
            Conjunction(weight, tuple((i, tuple(sorted(s))) for i, s in zip(chosen, states, strict=True)))
        )
    return FactorNetwork(domain_of(tables.shape), tables, tuple(conjunctions))


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, Shape]:
    """Codes of any small shape, columns of one state included."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_codes(rng, shape, draw(st.integers(1, 60))), shape


@st.composite
def problems(draw: st.DrawFn) -> tuple[UniqueRows, Canonical, np.ndarray]:
    """Rows, coordinates and a point: any shape, any structure, weighted rows."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = random_rows(rng, shape, draw(st.integers(1, 12)), fractional=draw(st.booleans()))
    parameters = Canonical(rows.domain, draw(scopes(len(shape))))
    w = draw(st.sampled_from([0.0, 0.3, 1.0, 3.0])) * rng.standard_normal(parameters.n_parameters)
    return rows, parameters, w
