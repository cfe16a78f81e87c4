"""Test log-likelihoods of the best networks learned by likelihood on the 20 benchmark sets, beside those of others."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

import numpy as np

from mrfit import (
    L2,
    AllInteractions,
    ChowLiuTree,
    CompleteGraph,
    FitResult,
    FixedStructure,
    Learner,
    LikelihoodGrowth,
    LikelihoodSpec,
    MarkovNetwork,
    PseudoCounts,
    UniqueRows,
)
from mrfit.core.errors import InputError
from mrfit.data.named_datasets import named_set
from mrfit.learning.chains.chain_fit import ChainProblem, are_rare
from mrfit.learning.chains.log_z_estimate import evidence
from mrfit.learning.serialization import to_plain
from mrfit.parameterizations.canonical import Canonical
from mrfit.solvers.solution import Status
from mrfit.structures.mutual_information import maximum_information_tree, pairwise_mutual_information
from mrfit_papers.benchmark_rows import PARTS, read
from mrfit_papers.document import Block, Cell, DocumentColumn, DocumentTable, Text
from mrfit_papers.experiment import Experiment, Results, Scope
from mrfit_papers.unit import Unit

_MANY = 10**6  # variables: no limit
_FEW = 17  # variables up to which all sets of them can be used
_OTHER_SEED = 1
_MORE_SEEDS = (1, 2)  # with which chains repeat what they learned
_NARROW = 300  # variables
_GROWN, _GROWN_WIDE = (10.0, 3.0, 1.0, 0.3), (10.0, 3.0, 1.0)  # strengths: many variables have few rows
_PAIRS_EACH = 20  # pairs of a variable, on average, up to which growth may go
_SHARE, _SHARE_OF_MANY = 0.1, 0.5  # of the entropy of single variables that a tree explains


@dataclass(frozen=True)
class Recipe:
    """A recipe for learning a distribution, for sets of up to ``most`` variables whose rows it ``suits``."""

    learner: Callable[[int], Learner]  # from the number of variables
    describe: str
    most: int = _MANY
    suits: Callable[[UniqueRows], bool] = lambda rows: True


def tree_share(rows: UniqueRows) -> float:
    """Return the share of the entropy of single variables that the best tree of pairs explains."""
    information = pairwise_mutual_information(rows)
    first, second = maximum_information_tree(rows).edges.T
    return float(information[first, second].sum()) / float(np.trace(information))


def is_worth_cells(rows: UniqueRows) -> bool:
    """Return whether a limit on cells costs little, as a tree explains much; of many variables it must explain more."""
    return tree_share(rows) >= (_SHARE if len(rows.domain) <= _NARROW else _SHARE_OF_MANY)


def is_loose(rows: UniqueRows) -> bool:
    """Return whether a tree explains little: then all pairs may matter."""
    return tree_share(rows) < _SHARE


def is_for_chains(rows: UniqueRows) -> bool:
    """Return whether a tree explains little, or states are rare. If it explains half, chains freeze."""
    frequencies = rows.sample_weight @ rows.codes / rows.total_weight
    return tree_share(rows) < _SHARE_OF_MANY and (are_rare(frequencies) or is_loose(rows))


def _up_to(order: int) -> Learner:
    return Learner(AllInteractions(order), L2((10.0, 3.0, 1.0, 0.3, 0.1)), LikelihoodSpec())


# On sets that a recipe does not suit, validation rows never selected it.
RECIPES: Mapping[str, Recipe] = {
    "tree": Recipe(lambda _: Learner(ChowLiuTree(), PseudoCounts(), LikelihoodSpec()), "smoothed tree"),
    "grown": Recipe(
        lambda n: Learner(
            LikelihoodGrowth(max_pairs=_PAIRS_EACH * n), L2(_GROWN if n <= _NARROW else _GROWN_WIDE), LikelihoodSpec()
        ),
        "grown by likelihood",
        suits=is_for_chains,
    ),
    "cells": Recipe(
        lambda n: Learner(
            LikelihoodGrowth(cells=1e6 if n <= _NARROW else 1e5), L2((1.0, 0.3, 0.1), toward="tree"), LikelihoodSpec()
        ),
        "grown within cells",
        suits=is_worth_cells,
    ),
    "complete": Recipe(
        lambda _: Learner(CompleteGraph(), L2((100.0, 30.0, 10.0, 3.0)), LikelihoodSpec()),
        "all pairs",
        most=200,
        suits=is_loose,
    ),
    "triples": Recipe(lambda _: _up_to(3), "all triples", most=_FEW),
    "fives": Recipe(lambda _: _up_to(5), "all sets of five", most=_FEW),
}


@cache
def _sets() -> dict[str, dict[str, str]]:
    text = files("mrfit_papers").joinpath("papers/league.csv").read_text(encoding="utf-8")
    return {row["set"]: row for row in csv.DictReader(text.splitlines())}


@cache
def published() -> dict[str, tuple[float, float]]:
    """Return the scores of ACMN and ID-SPN by data set."""
    return {name: (float(row["ACMN"]), float(row["ID-SPN"])) for name, row in _sets().items()}


@dataclass(frozen=True)
class LeagueSet(Unit):
    """All recipes on one set: the one that validation rows select, and its log-likelihood on test rows."""

    set: str

    kind: ClassVar[str] = "league-set"

    def data(self) -> tuple[tuple[str, str], ...]:
        return tuple((self.set, part) for part in PARTS)

    def recipe_learners(self) -> dict[str, Learner]:
        """Return the learners of the recipes for this number of variables."""
        n = named_set(self.set).n_variables
        return {word: recipe.learner(n) for word, recipe in RECIPES.items() if n <= recipe.most}

    def learners(self) -> tuple[Learner, ...]:
        return tuple(self.recipe_learners().values())

    def determined_by(self) -> Mapping[str, Any]:
        learners = {word: to_plain(learner, terse=True) for word, learner in self.recipe_learners().items()}
        return {**super().determined_by(), "learners": learners, "other_seeds": list(_MORE_SEEDS)}

    def cost(self) -> float:
        return float(_sets()[self.set]["seconds"])

    def describe(self) -> str:
        return self.set

    def run(self) -> dict[str, Any]:
        rows, valid, test = read(self.set)
        entries, failed = [], {}
        for word, learner in self.recipe_learners().items():
            if RECIPES[word].suits(rows):
                try:
                    entries.append(Entry(word, learner.fit(rows, valid, test=test)))
                except InputError as error:  # chains that do not mix give no number, and that is the result
                    failed[word] = {"failed": str(error)}
        best = chosen(entries, rows)  # the tree always has a result
        return {
            "chosen": best.word,
            "other_seeds": _relearned(best, rows, valid, test) if best.is_sampled else [],
            "recipes": {entry.word: entry.result for entry in entries} | failed,
        }


@dataclass
class Entry:
    """The result of a recipe. ``more`` is the excess of a better log Z over that of learning, once known."""

    word: str
    fitted: FitResult
    more: float = 0.0
    log_z_error: float | None = None

    @property
    def is_sampled(self) -> bool:
        return "log_z" in self.fitted.model.provenance

    @property
    def valid(self) -> float:
        return self.fitted.best.rank - self.more

    @property
    def score(self) -> tuple[float, float]:
        """Return the score of test rows, and its error, that of log Z and of learning."""
        assert self.fitted.test is not None
        known = self.fitted.model.provenance.get("log_z", {"error": 0.0, "learning_error": 0.0})
        log_z_error = known["error"] if self.log_z_error is None else self.log_z_error
        return self.fitted.test.mean - self.more, float(np.hypot(log_z_error, known["learning_error"]))

    @property
    def result(self) -> dict[str, Any]:
        """The result as plain values for JSON."""
        fitted, (score, error) = self.fitted, self.score
        assert fitted.test is not None
        return {
            "valid": self.valid,
            "test": score,
            "row_error": fitted.test.row_error,
            "error": error,
            "engine": fitted.engine,
            "edges": len(fitted.model.structure.edges),
            "parameters": fitted.n_candidate_parameters,
            "strength": fitted.best.strength,
            "status": fitted.best.solution.status.value,
        }


def chosen(entries: Sequence[Entry], rows: UniqueRows) -> Entry:
    """Return the best entry on validation rows. It counts only once its log Z is estimated better than by learning."""
    best = max(entries, key=lambda entry: entry.valid)
    while best.is_sampled and best.log_z_error is None:
        best.more, best.log_z_error = _weighed_better(best.fitted.model, rows)
        best = max(entries, key=lambda entry: entry.valid)
    return best


def _weighed_better(model: MarkovNetwork, rows: UniqueRows) -> tuple[float, float]:
    """Return the excess of log Z over that of learning, and its error, from more and slower chains with other seeds."""
    known = model.known_log_z
    assert known is not None
    assert isinstance(model.parameters, Canonical)
    codes = ChainProblem(model.parameters, rows, seed=_OTHER_SEED).codes
    found = evidence(
        model.parameters.to_factors(model.w),
        codes,
        chains=128,
        temperatures=2000,
        max_temperatures=8000,
        far_temperatures=1000,
        seed=(_OTHER_SEED,),
    )
    return found.log_z - known, found.error


def _relearned(best: Entry, rows: UniqueRows, valid: UniqueRows, test: UniqueRows) -> list[dict[str, float]]:
    """Return test scores of the same structure with other seeds, of learning and log Z.

    Strengths walk down to the selected one, as in learning: starting there, dense graphs take four times as long.
    """
    strengths = tuple(fit.strength for fit in best.fitted.fits if fit.strength >= best.fitted.best.strength)
    structure = FixedStructure(best.fitted.structure.structure)
    learners = [Learner(structure, L2(strengths), LikelihoodSpec(), seed=seed) for seed in _MORE_SEEDS]
    scores = [Entry(best.word, learner.fit(rows, valid, test=test)).score for learner in learners]
    return [{"test": score, "error": error} for score, error in scores]


class League(Experiment):
    """The recipe that validation rows select on each set, and its score on test rows."""

    word = "league"
    title = "Learning distributions: test log-likelihoods on 20 sets"
    datasets: ClassVar = tuple(published())
    quick_datasets: ClassVar = ("nltcs", "kdd", "retail")

    def units(self, scope: Scope) -> list[LeagueSet]:
        return [LeagueSet(name) for name in self.chosen(scope)]

    def report(self, results: Results, scope: Scope) -> Sequence[Block]:
        by_set = {unit.set: result for unit, result in results.items() if isinstance(unit, LeagueSet)}
        columns = (
            DocumentColumn("set", "left"),
            *(DocumentColumn(recipe.describe) for recipe in RECIPES.values()),
            DocumentColumn("chosen", "left"),
            DocumentColumn("error"),
            DocumentColumn("other seeds"),
            *(DocumentColumn(f"{name}, as cited") for name in ("ACMN", "ID-SPN")),
        )
        rows = [_row(name, by_set[name]) for name in published() if name in by_set]
        return [Text(_ABOUT), DocumentTable(columns, rows)]


_ABOUT = (
    "Mean test log-likelihood in nats a row, exact where there is no error, else by annealing from two bases; the "
    "larger log Z counts where errors do not explain it. Strengths, and the recipe in bold, were chosen on validation"
    " rows; log Z of what they chose is by more and slower chains than learning uses, with other seeds, and has to be"
    " chosen again with that. The error is that of log Z and of learning, which is how far parameters had still to "
    "go. Other seeds learn the same structure with strengths down to the chosen one; each has an error of its own, in "
    "brackets, and log Z as learning leaves it. A cross says that chains did not mix, so that there is no number; an "
    "exclamation mark that a mode is left where there are no rows, which costs what log Z says. Which sets try "
    "a recipe goes by what share a tree says of all that single variables leave open: growth within cells (a million, "
    "or a tenth of that for more than 300 variables) from a tenth on, or a half; all pairs below a tenth; growth by "
    "chains there, and where states are rare, but never from a half on. Elsewhere validation rows did not choose them. "
    "ACMN (Lowd and Rooshenas 2013) and ID-SPN (Rooshenas and Lowd 2014) are arithmetic circuits and sum-product "
    "networks; their numbers stand here as they are commonly cited and were not checked against the papers."
)


def _row(name: str, found: Mapping[str, Any]) -> list[Cell | str]:
    best, recipes = found["chosen"], found["recipes"]
    scores = [_score(recipes.get(word), is_best=word == best) for word in RECIPES]
    error, test = recipes[best]["error"], recipes[best]["test"]
    others = [Cell(f"{value:.2f}", is_good=bool(test >= value)) for value in published()[name]]
    seeds = ", ".join(f"{seed['test']:.3f} ({seed['error']:.3f})" for seed in found["other_seeds"])
    return [name, *scores, RECIPES[best].describe, f"{error:.3f}" if error else "", seeds, *others]


def _score(result: Mapping[str, Any] | None, *, is_best: bool) -> Cell | str:
    if result is None:
        return ""
    if "failed" in result:
        return "x"
    phantom = "!" if result["status"] == Status.SPURIOUS_MODE.value else ""
    return Cell(f"{result['test']:.3f}{phantom}", is_best=is_best)
