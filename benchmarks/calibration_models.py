"""Networks whose log Z and marginals of single variables are known, among them those that chains mix badly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import networkx
import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from benchmarks.problems import problem, rows_of
from mrfit.core.factors import Factors
from mrfit.inference.engine_selection import exactly_planned
from mrfit.learning import Learner
from mrfit.learning.penalty_specs import L2
from mrfit.structures.simple import FixedStructure, Learned

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Known:
    """Factors, their log Z, and p(x_i) of every variable."""

    factors: Factors
    log_z: float
    marginals: tuple[Floats, ...]


def curie_weiss(n: int, coupling: float, weight: float | None = None, field: float | None = None) -> Known:
    """Variables of two states, all pairs coupled alike: p depends on the number of ones alone.

    ``weight`` is that of the mode of many ones; the field is what gives it.
    """
    if field is None:
        assert weight is not None
        field = _field_for(n, coupling, weight)
    log_z, share = _by_count(n, coupling, field)
    tables = [((i,), np.array([0.0, field])) for i in range(n)]
    pairs = [((i, j), np.array([0.0, 0.0, 0.0, coupling])) for i, j in combinations(range(n), 2)]
    return Known(Factors.from_tables((2,) * n, [*tables, *pairs]), log_z, (np.array([1 - share, share]),) * n)


def planted(n: int, coupling: float, weight: float) -> Known:
    """`curie_weiss` with the states of every other variable exchanged: a mode is a pattern."""
    plain, flipped = curie_weiss(n, coupling, weight), range(0, n, 2)
    turned = []
    for scope, table in zip(plain.factors.scopes, plain.factors.tables, strict=True):
        cells = table.reshape((2,) * len(scope))
        axes = tuple(axis for axis, i in enumerate(scope) if i in flipped)
        turned.append((scope, np.flip(cells, axes)))
    marginals = tuple(p[::-1] if i in flipped else p for i, p in enumerate(plain.marginals))
    return Known(Factors.from_tables((2,) * n, turned), plain.log_z, marginals)


def _by_count(n: int, coupling: float, field: float) -> tuple[float, float]:
    """log Z, and the probability of a one."""
    k = np.arange(n + 1)
    log_p = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + field * k + coupling * k * (k - 1) / 2
    log_z = float(logsumexp(log_p))
    return log_z, float(np.exp(log_p - log_z) @ k / n)


def _field_for(n: int, coupling: float, weight: float) -> float:
    """Find the field by bisection: more field makes the upper mode heavier. Modes part at the least probable count."""
    low, high = -coupling * n, 0.0
    k = np.arange(n + 1)
    entropy = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + coupling * k * (k - 1) / 2
    for _ in range(80):
        field = (low + high) / 2
        log_p = entropy + field * k
        inner = log_p[1:-1]
        valleys = 1 + np.flatnonzero((inner < log_p[:-2]) & (inner < log_p[2:]))
        at = int(valleys[0]) if len(valleys) else n // 2
        upper = float(np.exp(logsumexp(log_p[at:]) - logsumexp(log_p)))
        low, high = (field, high) if upper < weight else (low, field)
    return field


def potts(n: int, states: int, coupling: float) -> Known:
    """All pairs gain by equal states: log Z by the convolution of counts, all states alike."""
    log_p = _log_counts(n, coupling)
    total = log_p
    for _ in range(states - 1):
        total = np.array([logsumexp(total[: k + 1] + log_p[k::-1]) for k in range(n + 1)])
    log_z = float(gammaln(n + 1) + total[n])
    pairs = [((i, j), coupling * np.eye(states)) for i, j in combinations(range(n), 2)]
    return Known(Factors.from_tables((states,) * n, pairs), log_z, (np.full(states, 1.0 / states),) * n)


def _log_counts(n: int, coupling: float) -> Floats:
    k = np.arange(n + 1)
    return np.asarray(coupling * k * (k - 1) / 2 - gammaln(k + 1))


def spin_glass(n: int, beta: float) -> Known:
    """Normal couplings and small fields of +-1 spins (Sherrington and Kirkpatrick, 1975); by all joint states."""
    rng = np.random.default_rng(5)
    return _of_spins(n, [(i, j) for i, j in combinations(range(n), 2)], beta / np.sqrt(n), 0.1 * beta, rng)


def grid(side: int, beta: float) -> Known:
    """Equal couplings of neighbours and small random fields."""
    near = [((i, j), (i + a, j + b)) for i in range(side) for j in range(side) for a, b in ((0, 1), (1, 0))]
    edges = [(side * i + j, side * k + m) for (i, j), (k, m) in near if max(k, m) < side]
    return _of_spins(side * side, edges, beta, 0.02, np.random.default_rng(6), ferromagnetic=True)


def sparse(n: int, beta: float) -> Known:
    """Normal couplings on a random graph of mean degree 2.6."""
    graph = networkx.gnm_random_graph(n, int(1.3 * n), seed=7)
    return _of_spins(n, sorted(graph.edges), beta, 0.1, np.random.default_rng(7))


def _of_spins(
    n: int,
    edges: list[tuple[int, int]],
    beta: float,
    field: float,
    rng: np.random.Generator,
    ferromagnetic: bool = False,
) -> Known:
    sign = np.array([-1.0, 1.0])
    tables = [((i,), field * rng.normal() * sign) for i in range(n)]
    couplings = np.full(len(edges), beta) if ferromagnetic else beta * rng.normal(size=len(edges))
    pairs = [((i, j), c * np.outer(sign, sign)) for (i, j), c in zip(edges, couplings, strict=True)]
    return exactly(Factors.from_tables((2,) * n, [*tables, *pairs]))


def easy(n: int = 18) -> Known:
    return spin_glass(n, 0.3)


def learned(name: str, degree: int) -> Known:
    """A network learned from a data set by pseudo-likelihood, with few enough neighbours to be exact."""
    train = problem(name).rows
    structure = Learned(max_degree=degree, bound="gain", rule="and").learn(train).structure
    fits = Learner(FixedStructure(structure), L2((1.0,))).fit(train, rows_of(name, "valid", train.domain))
    return exactly(fits.best.model.factors)


def exactly(factors: Factors) -> Known:
    """Solve the model exactly, by a junction tree or over all joint states."""
    engine, plan = exactly_planned(factors)
    found = engine.run(plan, factors)
    return Known(factors, found.log_z, tuple(found.marginal((i,)) for i in range(factors.n_variables)))


MODELS: dict[str, Callable[[], Known]] = {
    "Curie-Weiss 60, -3, +0.1": lambda: curie_weiss(60, 0.1, field=-3.0),
    "Curie-Weiss 40, mode .1": lambda: curie_weiss(40, 0.13, 0.1),
    "Curie-Weiss 50, mode .3": lambda: curie_weiss(50, 0.11, 0.3),
    "Curie-Weiss 70, mode .03": lambda: curie_weiss(70, 0.08, 0.03),
    "Curie-Weiss 80, mode .01": lambda: curie_weiss(80, 0.07, 0.01),
    "Curie-Weiss 60, mode 1e-4": lambda: curie_weiss(60, 0.1, 1e-4),
    "planted 60, mode .05": lambda: planted(60, 0.1, 0.05),
    "planted 60, mode .15": lambda: planted(60, 0.1, 0.15),
    "Potts 3, 60 variables": lambda: potts(60, 3, 0.0476),
    "Potts 5, 60 variables": lambda: potts(60, 5, 0.063),
    "Potts 8, 60 variables": lambda: potts(60, 8, 0.079),
    "Potts 8, 40 variables, cold": lambda: potts(40, 8, 0.2),
    "spin glass 18, beta 1.5": lambda: spin_glass(18, 1.5),
    "spin glass 18, beta 3": lambda: spin_glass(18, 3.0),
    "spin glass 18, beta 4": lambda: spin_glass(18, 4.0),
    "grid 10, beta .5": lambda: grid(10, 0.5),
    "grid 12, critical": lambda: grid(12, 0.4407),
    "grid 12, beta .6": lambda: grid(12, 0.6),
    "sparse 80, beta .6": lambda: sparse(80, 0.6),
    "sparse 80, beta 1.5": lambda: sparse(80, 1.5),
    "easy 18": easy,
    "nltcs, learned": lambda: learned("nltcs", 5),
    "msnbc, learned": lambda: learned("msnbc", 5),
    "kdd, learned": lambda: learned("kdd", 5),
    "plants, learned": lambda: learned("plants", 3),
    "jester, learned": lambda: learned("jester", 2),
    "book, learned": lambda: learned("book", 3),
    "bbc, learned": lambda: learned("bbc", 3),
}


@lru_cache(maxsize=2)
def known(name: str) -> Known:
    """The model of a name, made once for all cases of it."""
    return MODELS[name]()
