"""Maximum likelihood by persistent chains, beside what one writes first, what is cheaper and what is exact, one thread.

Structures have up to five neighbours a variable by gain, joined by OR, and the Chow-Liu tree. Single variables are
free. Timed is learning, given the structure and the means of the data; hunts for phantoms, and with them log Z by two
bases, have a column of their own. Rivals have as many iterations:

- the plain loop is persistent contrastive divergence: a compiled loop over chains, one after the other, counts of
  states, steps along the gradient itself, of length 3 or 1 at first, the same decay, number of chains and average; the
  better by test rows is shown, which is in its favour;
- contrastive divergence has our kernels and steps, but chains that begin in rows of the data at every iteration;
- Bethe has our steps too, and takes means from beliefs that messages agree on, five rounds of them an iteration;
- L-BFGS, where a junction tree fits, is that of scipy with exact gradients.

Test log-likelihoods are exact there, and by annealing elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numba
import numpy as np
from scipy import optimize
from scipy.special import expit

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.problems import problem, rows_of
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import timed
from mrfit.learning.chains.ascent import Ascent, AscentSchedule, Target, climb
from mrfit.learning.chains.chain_fit import ChainProblem
from mrfit.learning.chains.log_z_estimate import evidence
from mrfit.learning.chains.mode_search import hunt
from mrfit.objectives.tree_likelihood import TreeLikelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.l2 import Ridge
from mrfit.structures.simple import Learned

FIRST_STEPS = (3.0, 1.0)
# What independent prototypes reached on a processor of their own: test log-likelihood, or gap to the optimum; seconds.
TARGETS = {
    "bbc": "-252.1 in 1 s",
    "tmovie": "-55.4 in 0.5 s",
    "plants": "gap 0.01 in 0.2 s",
    "kdd": "gap 0.005 in 0.7 s",
    "msweb": "-9.99 in 3 s",
    "book": "-35.86 in 3 s",
    "webkb": "-153.27 in 3 s",
    "reuters": "-87.37 in 3 s",
    "20ng": "-155.43 in 3 s",
}
BELIEF_ROUNDS, KEPT = 5, 0.5  # of messages an iteration, and what stays of each


@dataclass(frozen=True, eq=False)
class Setting:
    """A set, its structure and its penalty, and how what was learned is judged."""

    name: str
    strength: float

    @cached_property
    def chains(self) -> ChainProblem:
        rows = problem(self.name).rows
        structure = Learned(max_degree=5, bound="gain", rule="or", with_tree=True).learn(rows).structure
        return ChainProblem(Canonical(rows.domain, structure), rows)

    @cached_property
    def target(self) -> Target:
        pairs = self.chains.parameters.order_of_parameter == 2
        return Target(self.chains.means, Ridge(self.strength, pairs))

    @cached_property
    def of_test(self) -> np.ndarray:
        return self.chains.features.means(rows_of(self.name, "test", self.chains.rows.domain)).of_features

    @cached_property
    def exact(self) -> Exact:
        return Exact(self)

    def judged(self, w: np.ndarray, *, exactly: bool) -> Record:
        """Test log-likelihood with its error, and the gap to the optimum where that is known."""
        if exactly:
            ll = float(self.of_test @ w) - self.exact.log_z(w)
            return {"ll": ll, "error": 0.0, "gap": self.exact.downwards(w)[0] - float(self.exact.optimum.fun)}
        found = evidence(self.chains.parameters.to_factors(w), self.chains.codes, seed=(77,))
        return {"ll": float(self.of_test @ w) - found.log_z, "error": found.error, "phantom": found.has_phantom}


class Exact:
    """Exact likelihood by a junction tree, and its optimum by L-BFGS of SciPy."""

    def __init__(self, setting: Setting) -> None:
        self._likelihood = TreeLikelihood(setting.chains.parameters, setting.chains.rows)
        self._penalty, self._n_rows = setting.target.penalty, setting.chains.rows.total_weight
        self._start = setting.chains.start
        self._descend(2)  # compiles
        self.optimum, self.seconds = timed(lambda: self._descend(2000))

    def log_z(self, w: np.ndarray) -> float:
        return self._likelihood.value_and_gradient(w)[0] + float(w @ self._likelihood.observed)

    def downwards(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = self._likelihood.value_and_gradient(w)
        assert isinstance(self._penalty, Ridge)
        return value + self._penalty.value(w) / self._n_rows, gradient + self._penalty.gradient(w) / self._n_rows

    def _descend(self, iterations: int) -> optimize.OptimizeResult:
        options = {"maxiter": iterations, "maxfun": 5000, "ftol": 1e-13, "gtol": 1e-6}
        return optimize.minimize(self.downwards, self._start, jac=True, method="L-BFGS-B", options=options)


@numba.njit(error_model="numpy")
def plain_iteration(starts, neighbours, pair_of, ends, w, x, means):
    """One sweep of every chain, one after the other, and counts of states."""
    n = x.shape[1]
    means[:] = 0.0
    for c in range(len(x)):
        state = x[c]
        for i in range(n):
            z = w[i]
            for at in range(starts[i], starts[i + 1]):
                z += w[n + pair_of[at]] * state[neighbours[at]]
            state[i] = 1.0 if np.random.random() < 1.0 / (1.0 + math.exp(-z)) else 0.0  # noqa: NPY002
        for i in range(n):
            means[i] += state[i]
        for k in range(len(ends)):
            means[n + k] += state[ends[k, 0]] * state[ends[k, 1]]
    means /= len(x)


def plain_learning(setting: Setting, first_step: float, iterations: int) -> np.ndarray:
    """Persistent contrastive divergence as one writes it first; the average of its parameters."""
    chains, target, schedule = setting.chains, setting.target, AscentSchedule(first_step=first_step)
    ends, n = chains.parameters.structure.blocks[2], len(chains.rows.domain)
    near, far = ends.T.ravel(), ends[:, ::-1].T.ravel()
    order = np.lexsort((far, near))
    starts = np.concatenate([[0], np.cumsum(np.bincount(near, minlength=n))])
    pair_of = np.tile(np.arange(len(ends)), 2)[order]
    x = chains.codes[: chains.n_chains].astype(np.float64)
    w, means = chains.start.copy(), np.empty(chains.parameters.n_parameters)
    average = w.copy()
    for t in range(iterations):
        plain_iteration(starts, far[order], pair_of, ends, w, x, means)
        w = w + schedule.step(t) * target.gradient(w, means)
        average += 2.0 / (max(t - 10, 0) + 2.0) * (w - average)
    return average


def learned(setting: Setting, schedule: AscentSchedule) -> Ascent:
    return climb(setting.target, setting.chains.chains(), setting.chains.start, schedule)


def averaged(setting: Setting, means: Callable[[np.ndarray], np.ndarray], iterations: int) -> np.ndarray:
    """The average of our steps, by means of features that come from elsewhere."""
    chains, target, schedule = setting.chains, setting.target, setting.chains.schedule(warm=False)
    w, average = chains.start.copy(), chains.start.copy()
    for t in range(iterations):
        w = target.moved(w, target.gradient(w, means(w)), schedule.step(t), schedule.distrust(t, chains.n_chains))
        average += 2.0 / (max(t - 10, 0) + 2.0) * (w - average)
    return average


def from_rows(setting: Setting) -> Callable[[np.ndarray], np.ndarray]:
    """Contrastive divergence: one sweep from rows of the data (Hinton 2002)."""
    running, rng = setting.chains.chains(), np.random.default_rng(0)
    states, codes = running.chains.states, setting.chains.codes.astype(np.float32)
    blocks, n, lanes = states.shape

    def means(w: np.ndarray) -> np.ndarray:
        rows = codes[rng.integers(0, len(codes), blocks * lanes)]
        states[:] = rows.reshape(blocks, lanes, n).transpose(0, 2, 1)
        running.sweep(w)
        return running.block_means().mean(axis=0)

    return means


def from_messages(setting: Setting) -> Callable[[np.ndarray], np.ndarray]:
    """Bethe: beliefs of loopy messages, which go on while parameters change."""
    ends, n = setting.chains.parameters.structure.blocks[2], len(setting.chains.rows.domain)
    near, far = np.concatenate([ends, ends[:, ::-1]]).T  # a message from each end of a pair to the other
    messages, back = np.zeros(len(near)), np.roll(np.arange(len(near)), len(ends))

    def means(w: np.ndarray) -> np.ndarray:
        nonlocal messages
        j = np.tile(w[n:], 2)
        for _ in range(BELIEF_ROUNDS):
            cavity = (w[:n] + np.bincount(far, messages, n))[near] - messages[back]
            new = np.logaddexp(0.0, j + cavity) - np.logaddexp(0.0, cavity)
            messages = KEPT * messages + (1.0 - KEPT) * new
        log_odds = w[:n] + np.bincount(far, messages, n)
        one, other = np.split(log_odds[near] - messages[back], 2)
        both = one + other + w[n:]
        total = np.logaddexp(np.logaddexp(0.0, one), np.logaddexp(other, both))
        return np.concatenate([expit(log_odds), np.exp(both - total)])

    return means


def run(case: Case) -> Iterator[Record]:
    """A record for each method."""
    setting = Setting(case["set"], case["strength"])
    chains = setting.chains
    schedule = replace(chains.schedule(warm=False), iterations=case["iterations"])
    about = {"set": case["set"], "n": len(chains.rows.domain), "pairs": len(chains.parameters.structure.blocks[2])}
    about |= {"strength": case["strength"], "chains": chains.n_chains}
    hunted = _hunting(setting, schedule.distrust(0, chains.n_chains))
    hunted(learned(setting, replace(schedule, iterations=2, looks=())))  # compiles
    plain_learning(setting, 1.0, 1)
    ascent, seconds = timed(lambda: learned(setting, schedule))
    after, hunting = timed(lambda: hunted(ascent))
    ours = {"method": "mrfit", "iterations": ascent.iterations, "seconds": seconds, "hunting": hunting}
    yield about | ours | {"target": TARGETS.get(case["set"])} | setting.judged(after.ascent.w, exactly=case["exact"])
    about["iterations"] = ascent.iterations
    yield max(_plain(setting, about, case), key=lambda record: record["ll"])
    for method, means in (("contrastive divergence", from_rows), ("Bethe", from_messages)):
        start = means(setting)
        w, seconds = timed(lambda start=start: averaged(setting, start, ascent.iterations))
        yield about | {"method": method, "seconds": seconds} | setting.judged(w, exactly=case["exact"])
    if case["exact"]:
        exact = setting.exact
        method = {"method": "L-BFGS, junction tree", "iterations": int(exact.optimum.nfev), "seconds": exact.seconds}
        yield about | method | setting.judged(exact.optimum.x, exactly=True)


def _plain(setting: Setting, about: Record, case: Case) -> Iterator[Record]:
    for first_step in FIRST_STEPS:
        w, seconds = timed(lambda step=first_step: plain_learning(setting, step, about["iterations"]))
        plain = {"method": f"plain loop, first step {first_step:g}", "seconds": seconds}
        yield about | plain | setting.judged(w, exactly=case["exact"])


def _hunting(setting: Setting, distrust: float) -> Callable:
    return lambda ascent: hunt(setting.target, ascent, setting.chains.codes, distrust, seed=(0, 2))


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        Column("variables", "{n}"),
        Column("pairs", "{pairs:,}"),
        Column("strength", "{strength:g}"),
        Column("chains", "{chains:,}"),
        named("method", "{method}"),
        Column("iterations", "{iterations:,}"),
        Column("s", "{seconds:.2f}"),
        Column("s of hunting", "{hunting:.2f}"),
        Column("test ll", log_likelihood),
        Column("gap to the optimum", "{gap:.4f}"),
        Column("target", lambda record: record.get("target") or ""),
    )
    return [Table(columns, records)]


def log_likelihood(record: Record) -> str:
    shown = f"{record['ll']:.3f}"
    if record["error"]:
        shown = f"{record['ll']:.2f} ({record['error']:.2f})"
    return shown + (", phantom" if record.get("phantom") else "")


BENCHMARKS = (
    Benchmark(
        "stochastic-likelihood",
        "maximum likelihood by persistent chains: time and test log-likelihood, beside plain and exact learning",
        cases(set=("plants", "kdd"), strength=(1.0,), iterations=(1000,), exact=(True,))
        + cases(set=("tmovie", "bbc", "webkb"), strength=(3.0,), iterations=(1000,), exact=(False,))
        + cases(set=("book", "20ng"), strength=(1.0,), iterations=(1000,), exact=(False,))
        + cases(set=("msweb", "reuters"), strength=(0.3,), iterations=(1000,), exact=(False,)),
        cases(set=("nltcs",), strength=(1.0,), iterations=(100,), exact=(True,)),
        run,
        tables,
    ),
)
