"""Python's engines behind the page: questions as it asks them, answers as it hears them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import inf, isfinite
from operator import index
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mrfit.data.dataset import Dataset
from mrfit.errors import ImpossibleError, InputError
from mrfit.explorer.chain_answer import ChainAnswer
from mrfit.factors import Factors, Scope
from mrfit.inference.engine import AUTO, Posterior
from mrfit.inference.gibbs import Gibbs, GibbsPosterior
from mrfit.inference.junction_tree import JunctionTree
from mrfit.inference.state_search import StateSearch
from mrfit.inference.tree_plan import TreePlan
from mrfit.model import MarkovNetwork
from mrfit.queries.evidence import Evidence
from mrfit.summaries.observed import finite

_LONGEST = 5.0  # seconds that an exact answer may take
_LONGER = 4  # times as many sweeps in each round as in the one before
_ROUNDS = tuple(50 * _LONGER**k for k in range(4))  # sweeps of ever better answers
_ENOUGH = 0.003  # error after which no further round is made

Answer = dict[str, Any]
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Question:
    """Variables and states by number: the states in which each may be, a pair whose joint table is wanted.

    ``likelihoods`` say of uncertain variables how likely what was seen is in each state. ``seconds`` are those after
    which no better answer is begun. ``other`` asks the second of two models.
    """

    number: int
    allowed: Mapping[int, tuple[int, ...]]
    pair: tuple[int, int] | None = None
    best: bool = False
    likelihoods: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    seconds: float = inf
    other: bool = False

    @classmethod
    def of(cls, asked: Any, shape: tuple[int, ...]) -> Question:
        """From JSON that a browser sent, whoever wrote it."""
        try:
            allowed = _once_each((index(v), tuple(map(index, states))) for v, states in asked["evidence"])
            pair = tuple(map(index, asked["pair"])) if asked.get("pair") else None
            soft = _once_each((index(v), tuple(map(float, likely))) for v, likely in asked.get("soft") or ())
            seconds = float(asked.get("budget_ms", inf)) / 1000
            best, other = bool(asked.get("map")), bool(asked.get("other"))
            question = cls(index(asked["number"]), allowed, pair, best, soft, seconds, other)  # type: ignore[arg-type]
        except InputError:  # a ValueError, which says already what is wrong
            raise
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError(f"This is no question: {error!r}.") from error
        named = [*allowed, *soft, *(question.pair or ())]
        if not all(0 <= v < len(shape) for v in named) or len(question.pair or (0, 1)) != 2:
            raise InputError(f"A question names variables {named}; there are {len(shape)}, numbered from 0.")
        for v, states in allowed.items():
            if not states or not set(states) < set(range(shape[v])) or len(set(states)) < len(states):
                raise InputError(f"Variable {v} may be in states {states}; expected some of {shape[v]}, each once.")
        for v, likely in soft.items():
            if v in allowed or len(likely) != shape[v] or not _is_likelihood(likely):
                raise InputError(
                    f"Variable {v} has likelihoods {likely}; expected {shape[v]} numbers, none negative and not all "
                    "zero, and no other evidence on it."
                )
        if not seconds > 0:
            raise InputError(f"An answer is asked for within {1000 * seconds:g} ms; expected more than 0.")
        return question

    def evidence(self, shape: tuple[int, ...]) -> Evidence:
        known = {v: states[0] for v, states in self.allowed.items() if len(states) == 1}
        masks = {
            v: np.isin(range(shape[v]), states).astype(float) for v, states in self.allowed.items() if len(states) > 1
        }
        return Evidence(known, masks | {v: np.array(likely) for v, likely in self.likelihoods.items()})


def _once_each(pairs: Iterable[tuple[int, tuple[Number, ...]]]) -> dict[int, tuple[Number, ...]]:
    """Return evidence by variable; refuse a variable that is named twice."""
    found: dict[int, tuple[Number, ...]] = {}
    for v, values in pairs:
        if v in found:
            raise InputError(f"Variable {v} has evidence twice; expected at most once.")
        found[v] = values
    return found


class _VoidError(Exception):
    """Nobody waits for this answer any more."""


class Answering:
    """Answers about one model: by a junction tree where it fits, else by chains, in ever longer rounds."""

    def __init__(self, model: MarkovNetwork, *, codes: NDArray[Any] | None = None, seed: int = 0) -> None:
        self.model, self._codes, self._seed = model, codes, seed
        self._order = _exact_order(model, seed)

    def answers(self, question: Question, is_void: Callable[[], bool]) -> Iterator[Answer]:
        """One that is exact, or several that are ever better; none once the question is void."""
        begun = time.perf_counter()
        evidence = question.evidence(self.model.domain.shape)
        factors = evidence.applied_to(self.model.factors)
        try:
            _check(is_void)
            for posterior, done in self._posteriors(factors, evidence, question, is_void):
                yield {
                    "number": question.number,
                    **self._told(posterior, question, evidence),
                    **(self._best(question) if done and question.best else {}),
                    "milliseconds": 1000 * (time.perf_counter() - begun),
                    "done": done,
                }
        except _VoidError:
            return
        except ImpossibleError:
            yield _refusal(question, impossible=True)
        except InputError as error:
            yield _refusal(question, problem=str(error))

    def _posteriors(
        self, factors: Factors, evidence: Evidence, question: Question, is_void: Callable[[], bool]
    ) -> Iterator[tuple[Posterior | ChainAnswer, bool]]:
        """Each with whether it is the last."""
        plan = self._exact_plan(factors, question)
        if plan is not None:
            yield JunctionTree(seed=self._seed, between=partial(_check, is_void)).run(plan, factors), True
            return
        begun = time.perf_counter()
        for sweeps in _ROUNDS:
            _check(is_void)
            starts = self._starts(evidence)
            chains = Gibbs(sweeps=sweeps, max_sweeps=sweeps, annealing=50, data=starts, seed=self._seed)
            found = chains.run(chains.plan(factors), factors)
            assert isinstance(found, GibbsPosterior)
            answer = ChainAnswer(found)
            with_another = (1 + _LONGER) * (time.perf_counter() - begun)
            done = answer.error <= _ENOUGH or sweeps == _ROUNDS[-1] or with_another > question.seconds
            yield answer, done
            if done:
                return

    def _exact_plan(self, factors: Factors, question: Question) -> TreePlan | None:
        """Of a run that ends in time, with a clique for the pair if that fits."""
        if self._order is None:
            return None
        engine = JunctionTree(seed=self._seed)
        plan = engine.plan(factors, [] if question.pair is None else [question.pair], order=self._order)
        if not plan.fits:
            plan = engine.plan(factors, order=self._order)
        return plan if plan.forecast <= question.seconds else None

    def _starts(self, evidence: Evidence) -> NDArray[Any] | None:
        """Rows of data, in the states that are known: with one state left, its code is 0."""
        if self._codes is None:
            return None
        codes = np.array(self._codes, np.int64)
        codes[:, list(evidence.known)] = 0
        return codes

    def _told(self, found: Posterior | ChainAnswer, question: Question, evidence: Evidence) -> Answer:
        pair = {} if question.pair is None else {"pair": self._pair(found.marginal, question.pair, evidence)}
        if isinstance(found, ChainAnswer):
            far = {"far": self._spread(found.marginals_elsewhere(), evidence)} if found.gap else {}
            about = {"exact": False, "engine": Gibbs.word, "error": found.error, "gap": found.gap}
            errors = {"errors": self._spread(found.errors, evidence, of_known=0.0)}
            if question.pair is not None:
                errors["pair_errors"] = self._pair(found.marginal_error, question.pair, evidence) or []
            return {"marginals": self._spread(found.marginals(), evidence), **errors, **about, **far, **pair}
        exact = [found.marginal((v,)) for v in range(len(self.model.domain))]
        about = {"exact": True, "engine": JunctionTree.word, "error": 0.0, "gap": 0.0}
        return {"marginals": self._spread(exact, evidence), **about, **pair}

    def _spread(
        self, marginals: list[NDArray[np.float64]], evidence: Evidence, *, of_known: float = 1.0
    ) -> list[list[float]]:
        shape = self.model.domain.shape
        return [_spread(p, shape[v], evidence.known.get(v), of_known) for v, p in enumerate(marginals)]

    def _pair(
        self, marginal: Callable[[Scope], NDArray[np.float64]], pair: Scope, evidence: Evidence
    ) -> list[list[float]] | None:
        """The joint table of two variables, or its errors; None where no clique has both."""
        shape = [self.model.domain.shape[v] for v in pair]
        try:
            found = marginal(pair)
        except InputError:
            return None
        out = np.zeros(shape)
        at = tuple([evidence.known[v]] if v in evidence.known else range(n) for v, n in zip(pair, shape, strict=True))
        out[np.ix_(*at)] = found.reshape([len(states) for states in at])
        return [[float(p) for p in row] for row in out]

    def _best(self, question: Question) -> Answer:
        """Most probable states together, and how far they may be from the best.

        By search where no tree fits, for somebody waits for them. A gap that is not known is null.
        """
        engine = StateSearch.word if self._order is None else AUTO
        best = self.model.map(given=self._given(question), engine=engine, seed=self._seed)
        codes = [variable.codes[best.states[variable.name]] for variable in self.model.domain]
        gap = None if best.gap is None else finite(best.gap)
        return {"map": codes, "map_exact": best.exact, "map_gap": gap}

    def sampled(self, question: Question, n_rows: int) -> Dataset:
        """Rows from the distribution, given what is known."""
        return self.model.sample(n_rows, given=self._given(question), seed=self._seed)

    def _given(self, question: Question) -> dict[str, Any]:
        """What is known, by names."""
        domain = self.model.domain
        hard = {
            domain.names[v]: domain[v].states[states[0]]
            if len(states) == 1
            else {domain[v].states[s]: 1.0 for s in states}
            for v, states in question.allowed.items()
        }
        return hard | {domain.names[v]: list(likely) for v, likely in question.likelihoods.items()}


def _check(is_void: Callable[[], bool]) -> None:
    if is_void():
        raise _VoidError


def _is_likelihood(likely: tuple[float, ...]) -> bool:
    return all(isfinite(value) and value >= 0.0 for value in likely) and any(likely)


def _exact_order(model: MarkovNetwork, seed: int) -> tuple[int, ...] | None:
    """An order of elimination by which answers come in time; None where there is none."""
    plan = JunctionTree(seed=seed).fitting_plan(model.factors, order=model.stored_order)
    return plan.order if plan is not None and plan.forecast <= _LONGEST else None


def _spread(p: NDArray[np.float64], n_states: int, known: int | None, of_known: float) -> list[float]:
    """Numbers of all states, also where one is known and the others were left out."""
    if known is None:
        return [float(value) for value in p]
    return [of_known if s == known else 0.0 for s in range(n_states)]


def _refusal(question: Question, **why: Any) -> Answer:
    about = {"marginals": [], "exact": False, "error": 0.0, "gap": 0.0, "milliseconds": 0.0, "done": True}
    return {"number": question.number, **about, **why}
