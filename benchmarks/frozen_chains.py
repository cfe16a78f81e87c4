"""How well chains come to a tree of nearly deterministic data from independent variables, by what they update at once.

The model is the Chow-Liu tree of a set with half a row added to each state, which can be drawn from exactly: 256 chains
begin in draws from independent variables with the same means, and have so many sweeps. Shown is what the mean log p of
their states lacks of that of 4,096 exact draws, and the largest error of a single variable's probability; exact draws
of as many rows have errors too. An update of one variable is what `mrfit` does. Annealing takes the same sweeps on the
way from independent variables to the tree. Tempering has eight sets of chains on that way which swap their states
after each sweep, and an eighth of the sweeps. Pairs are drawn jointly along every edge of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.problems import problem
from benchmarks.table import Column, Record, Table, named
from mrfit._kernels.gibbs import Couplings
from mrfit.inference.base import Base, independent, tree
from mrfit.inference.chains import Chains
from mrfit.inference.path import Path

CHAINS, EXACT, TEMPERATURES = 256, 4096, 8


class Tree:
    """A tree of a set, independent variables with its means, and exact draws."""

    def __init__(self, name: str) -> None:
        rows = problem(name).rows
        rng = np.random.default_rng(0)
        codes = rows.codes[rng.choice(len(rows.codes), 20_000, p=rows.sample_weight / rows.total_weight)]
        self.base: Base = tree("tree", rows.domain.shape, codes.astype(np.int64))
        self.exact = self.base.draw(EXACT, rng)
        apart = independent("independent", rows.domain.shape, self.exact)
        self.path, self.start = Path.between(apart.factors, self.base.factors), apart.draw(CHAINS, rng)

    def judged(self, codes: np.ndarray) -> Record:
        lacks = self.path.log_target(self.exact).mean() - self.path.log_target(codes).mean()
        return {"lacks": float(lacks), "error": float(np.abs(codes.mean(axis=0) - self.exact.mean(axis=0)).max())}


def single_updates(model: Tree, sweeps: int) -> np.ndarray:
    chains = Chains(model.path, model.start, (1,))
    chains.sweep(np.ones(sweeps))
    return chains.codes


def annealing(model: Tree, sweeps: int) -> np.ndarray:
    chains = Chains(model.path, model.start, (2,))
    chains.sweep(np.arange(1, sweeps + 1) / sweeps)
    return chains.codes


def tempering(model: Tree, sweeps: int) -> np.ndarray:
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


def pairs(model: Tree, sweeps: int) -> np.ndarray:
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


METHODS: Mapping[str, Callable[[Tree, int], np.ndarray]] = {
    "one variable": single_updates,
    "one variable, annealing": annealing,
    "one variable, tempering": tempering,
    "pairs along the tree": pairs,
}


def run(case: Case) -> Iterator[Record]:
    model = Tree(case["set"])
    about = {"set": case["set"], "n": model.start.shape[1]}
    for sweeps in case["sweeps"]:
        for method, moved in METHODS.items():
            yield about | {"method": method, "sweeps": sweeps} | model.judged(moved(model, sweeps))
    exact = model.base.draw(CHAINS, np.random.default_rng(5))
    yield about | {"method": "the whole tree: exact draws"} | model.judged(exact)


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
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
        "chains on trees of nearly deterministic data: what they lack, by what is updated at once",
        cases(set=("pumsb_star",), sweeps=((30, 300),)) + cases(set=("ad",), sweeps=((30,),)),
        cases(set=("nltcs",), sweeps=((10,),)),
        run,
        tables,
    ),
)
