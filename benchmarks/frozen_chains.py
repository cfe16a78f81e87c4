"""Convergence of chains to models of nearly deterministic data, by what they update at once.

One model is the Chow-Liu tree of a set with half a row added to each state, which can be drawn from exactly: 256 chains
begin in draws from independent variables with the same means, and have so many sweeps. Shown is what the mean log p of
their states lacks of that of 4,096 exact draws, and the largest error of a single variable's probability; exact draws
of as many rows have errors too. An update of one variable is what `mrfit` does. Annealing takes the same sweeps on the
way from independent variables to the tree. Tempering has eight sets of chains on that way which swap their states
after each sweep, and an eighth of the sweeps. Pairs are drawn jointly along every edge.

The other model has loops: five neighbours by gain, joined by AND, and the tree, learned exactly with L2 of strength 0.1
drawn to the tree. Blocks of trees take variables in random order, as long as those taken have no loop among them, draw
them all jointly given the others, then the others likewise, until each was drawn once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from scipy.special import expit

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.problems import problem
from benchmarks.table import Column, Record, Table, named
from mrfit._kernels.sampling.gibbs_sweeps import Couplings
from mrfit.core.factors import Factors
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.sampling.annealing_path import AnnealingPath
from mrfit.inference.sampling.base_distribution import independent, tree
from mrfit.inference.sampling.gibbs_chains import Chains
from mrfit.learning.learner import Learner
from mrfit.learning.objective_specs import LikelihoodSpec
from mrfit.learning.penalty_specs import L2
from mrfit.structures.simple import Learned

CHAINS, EXACT, TEMPERATURES = 256, 4096, 8


class Model:
    """A network that can be drawn from exactly, independent variables with its means, and exact draws."""

    def __init__(self, factors: Factors, draw: Callable[[int, np.random.Generator], np.ndarray]) -> None:
        rng = np.random.default_rng(0)
        self.draw, self.exact = draw, draw(EXACT, rng)
        apart = independent("independent", factors.shape, self.exact)
        self.path, self.start = AnnealingPath.between(apart.factors, factors), apart.draw(CHAINS, rng)

    def judged(self, codes: np.ndarray) -> Record:
        lacks = self.path.log_target(self.exact).mean() - self.path.log_target(codes).mean()
        return {"lacks": float(lacks), "error": float(np.abs(codes.mean(axis=0) - self.exact.mean(axis=0)).max())}


def tree_of(name: str) -> Model:
    rows = problem(name).rows
    rng = np.random.default_rng(0)
    codes = rows.codes[rng.choice(len(rows.codes), 20_000, p=rows.sample_weight / rows.total_weight)]
    base = tree("tree", rows.domain.shape, codes.astype(np.int64))
    return Model(base.factors, base.draw)


def loops_of(name: str) -> Model:
    learner = Learner(Learned(max_degree=5, rule="and"), L2(0.1, toward="tree"), LikelihoodSpec("tree"))
    model = learner.fit(problem(name).rows).model
    factors, engine = model.parameters.to_factors(model.w), JunctionTree()
    plan = engine.plan(factors)
    return Model(factors, lambda n, rng: engine.draw(plan, factors, n, rng=rng).astype(np.int64))


def single_updates(model: Model, sweeps: int) -> np.ndarray:
    chains = Chains(model.path, model.start, (1,))
    chains.sweep(np.ones(sweeps))
    return chains.codes


def annealing(model: Model, sweeps: int) -> np.ndarray:
    chains = Chains(model.path, model.start, (2,))
    chains.sweep(np.arange(1, sweeps + 1) / sweeps)
    return chains.codes


def tempering(model: Model, sweeps: int) -> np.ndarray:
    """Parallel tempering (Geyer 1991): neighbours on the way swap states as Metropolis has it."""
    path, rng = model.path, np.random.default_rng(3)
    betas = np.arange(1, TEMPERATURES + 1) / TEMPERATURES
    codes = np.repeat(model.start[None], TEMPERATURES, axis=0)
    for number in range(max(1, sweeps // TEMPERATURES)):
        for level, beta in enumerate(betas):
            chains = Chains(path, codes[level], (3, number, level))
            chains.sweep(np.array([beta]))
            codes[level] = chains.codes
        gain = np.stack([path.log_target(each) - path.log_base(each) for each in codes])
        for low in range(number % 2, TEMPERATURES - 1, 2):
            swaps = np.log(rng.random(CHAINS)) < (betas[low + 1] - betas[low]) * (gain[low] - gain[low + 1])
            codes[low : low + 2, swaps] = codes[low : low + 2, swaps][::-1]
    return codes[-1]


def pairs(model: Model, sweeps: int) -> np.ndarray:
    """Both ends of an edge at once, edge after edge."""
    couplings, rng, x = model.path.model, np.random.default_rng(4), model.start.astype(np.float64)
    assert isinstance(couplings, Couplings)
    h, cut = couplings.fields[1], couplings.starts[1:-1]
    near = np.repeat(np.arange(x.shape[1]), np.diff(couplings.starts))
    neighbours, j = (np.split(each, cut) for each in (couplings.neighbours, couplings.couplings[1]))
    edges = [(i, k, c) for i, k, c in zip(near, couplings.neighbours, couplings.couplings[1], strict=True) if i < k]
    for _ in range(sweeps):
        for one, other, joint in edges:
            a = h[one] + x[:, neighbours[one]] @ j[one] - joint * x[:, other]
            b = h[other] + x[:, neighbours[other]] @ j[other] - joint * x[:, one]
            log_p = np.stack([np.zeros(CHAINS), a, b, a + b + joint])
            state = (log_p + rng.gumbel(size=log_p.shape)).argmax(axis=0)
            x[:, one], x[:, other] = state % 2, state // 2
    return x.astype(np.int64)


def forests(model: Model, sweeps: int) -> np.ndarray:
    """All variables of a random forest within the network at once, given the others; then forests of the others."""
    couplings, rng, x = model.path.model, np.random.default_rng(6), model.start.astype(np.float64)
    assert isinstance(couplings, Couplings)
    cut = couplings.starts[1:-1]
    neighbours, j = (np.split(each, cut) for each in (couplings.neighbours, couplings.couplings[1]))
    for _ in range(sweeps):
        left = list(rng.permutation(x.shape[1]))
        while left:
            forest = _forest(left, neighbours)
            _draw_forest(forest, couplings.fields[1], neighbours, j, x, rng)
            left = [i for i in left if i not in forest]
    return x.astype(np.int64)


def _forest(order: list[int], neighbours: list[np.ndarray]) -> dict[int, list[int]]:
    """Variables, in this order, that close no loop among themselves; with the neighbours that each had before it."""
    part: dict[int, int] = {}  # of those taken, which tree they are in
    forest: dict[int, list[int]] = {}
    for i in order:
        near = [k for k in neighbours[i].tolist() if k in part]
        trees = [part[k] for k in near]
        if len(set(trees)) == len(trees):
            part[i], forest[i] = i, near
            part |= {k: i for k, of in part.items() if of in trees}
    return forest


def _draw_forest(
    forest: dict[int, list[int]],
    h: np.ndarray,
    neighbours: list[np.ndarray],
    j: list[np.ndarray],
    x: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Messages from the leaves to the roots, and states back from there, of all chains side by side."""
    near: dict[int, dict[int, float]] = {
        i: {int(k): float(c) for k, c in zip(neighbours[i], j[i], strict=True) if k in forest} for i in forest
    }
    x[:, list(forest)] = 0.0
    odds = {i: h[i] + x[:, neighbours[i]] @ j[i] for i in forest}  # log-odds, with the forest itself at 0
    parents = _from_roots(near)
    for i, parent in reversed(parents.items()):
        if parent is not None:
            joint = near[i][parent]
            odds[parent] = odds[parent] + np.logaddexp(0.0, odds[i] + joint) - np.logaddexp(0.0, odds[i])
    for i, parent in parents.items():
        given = odds[i] if parent is None else odds[i] + near[i][parent] * x[:, parent]
        x[:, i] = rng.random(len(x)) < expit(given)


def _from_roots(near: dict[int, dict[int, float]]) -> dict[int, int | None]:
    """Every variable of a forest behind its parent; roots have none."""
    parents: dict[int, int | None] = {}
    for root in near:
        waiting = [] if root in parents else [root]
        parents.setdefault(root, None)
        while waiting:
            i = waiting.pop()
            children = [k for k in near[i] if k not in parents]
            parents |= dict.fromkeys(children, i)
            waiting += children
    return parents


MODELS: Mapping[str, Callable[[str], Model]] = {"tree": tree_of, "loops": loops_of}
METHODS: Mapping[str, Callable[[Model, int], np.ndarray]] = {
    "one variable": single_updates,
    "one variable, annealing": annealing,
    "one variable, tempering": tempering,
    "pairs along edges": pairs,
    "blocks of trees": forests,
}


def run(case: Case) -> Iterator[Record]:
    model = MODELS[case["model"]](case["set"])
    about = {"set": case["set"], "model": case["model"], "n": model.start.shape[1]}
    for sweeps in case["sweeps"]:
        for method, moved in METHODS.items():
            if method != "blocks of trees" or case["model"] != "tree":  # of a tree these are exact draws
                yield about | {"method": method, "sweeps": sweeps} | model.judged(moved(model, sweeps))
    exact = model.draw(CHAINS, np.random.default_rng(5))
    yield about | {"method": "all: exact draws"} | model.judged(exact)


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        named("model", "{model}"),
        Column("variables", "{n}"),
        named("what is updated at once", "{method}"),
        Column("sweeps", lambda record: f"{record['sweeps']:,}" if "sweeps" in record else ""),
        Column("log p lacks, nats", "{lacks:.2f}"),
        Column("largest error of p", "{error:.3f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "frozen-chains",
        "chains on nearly deterministic models: what they lack, by what is updated at once",
        cases(set=("pumsb_star",), model=("tree", "loops"), sweeps=((30, 300),))
        + cases(set=("ad",), model=("tree",), sweeps=((30,),)),
        cases(set=("nltcs",), model=("tree", "loops"), sweeps=((10,),)),
        run,
        tables,
    ),
)
