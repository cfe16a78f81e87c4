"""Promises of every structure learner."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from mrfit.core.errors import InputError
from mrfit.learning.serialization import to_plain
from mrfit.structures.base import LearnedStructure, StructureLearner
from mrfit.testing.promises import check_promises
from mrfit.testing.samples import random_rows

Generator = np.random.Generator

_SHAPES = ((2, 2, 2, 2), (2, 3, 2, 2), (3, 1, 4, 2))


def check_structure_learner(learner: StructureLearner, *, seed: int = 0) -> None:
    """Check that a structure learner keeps every promise that learners, folds and model files rely on.

    Parameters
    ----------
    learner : StructureLearner
        Structure learner, with its settings.
    seed : int, default 0
        Random seed of the tables.

    Raises
    ------
    AssertionError
        If equal settings give unequal structures, or another promise is broken; the message names it.

    See Also
    --------
    StructureLearner : The interface.
    register : Make the learner known by its word.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.testing import check_structure_learner
    >>> check_structure_learner(mrfit.ChowLiuTree())
    """
    check_promises(PROMISES, learner, seed=seed)


def it_has_a_word_and_a_description(learner: StructureLearner, rng: Generator) -> None:
    """A learner has a word by which it is chosen, and a line for people."""
    for text, what in ((learner.word, "word"), (learner.describe(), "describe()")):
        assert isinstance(text, str), f"{what} must be text"
        assert text, f"{what} is empty"


def it_is_a_value_that_json_can_hold(learner: StructureLearner, rng: Generator) -> None:
    """Two with the same settings are equal; all settings go into the model file."""
    plain = to_plain(learner)
    assert json.loads(json.dumps(plain)) == plain, "its settings are no plain numbers, words and lists"
    assert plain["kind"] == learner.word, "the description of it does not say its word"
    again: Any = learner  # a dataclass, as it has settings
    assert learner == replace(again), "not equal"


def it_gives_a_structure_over_all_variables(learner: StructureLearner, rng: Generator) -> None:
    """The report has a structure over all variables."""
    for shape in _SHAPES:
        rows = random_rows(rng, shape, 80)
        learned = learner.learn(rows)
        assert isinstance(learned, LearnedStructure), "learn() must return a LearnedStructure"
        n = learned.structure.n_variables
        assert n == len(shape), f"the structure is over {n} variables, the rows have {len(shape)}"


def the_same_rows_give_the_same_structure(learner: StructureLearner, rng: Generator) -> None:
    """Repeated calls agree, on any number of threads; earlier results do not leak."""
    for shape in _SHAPES:
        rows, other = random_rows(rng, shape, 80), random_rows(rng, shape, 80)
        first = learner.learn(rows).structure
        learner.learn(other)
        assert learner.learn(rows).structure == first, "another call gives another structure"
        assert learner.learn(rows, jobs=2).structure == first, "two jobs give another structure"


def held_out_rows_are_taken(learner: StructureLearner, rng: Generator) -> None:
    """The learner selects by held-out rows, or ignores them."""
    rows, valid = random_rows(rng, _SHAPES[0], 80), random_rows(rng, _SHAPES[0], 40)
    assert isinstance(learner.learn(rows, valid=valid), LearnedStructure), "valid= is not taken"


def covariates_are_taken_or_refused(learner: StructureLearner, rng: Generator) -> None:
    """Covariates enter the learner, or an InputError refuses them."""
    rows = random_rows(rng, _SHAPES[0], 80)
    try:
        with_them = learner.with_covariates((rows.domain.names[0],), rows.domain)
    except InputError:
        return
    assert isinstance(with_them, StructureLearner), "with_covariates() must give a structure learner"
    with_them.learn(rows)


PROMISES = (
    it_has_a_word_and_a_description,
    it_is_a_value_that_json_can_hold,
    it_gives_a_structure_over_all_variables,
    the_same_rows_give_the_same_structure,
    held_out_rows_are_taken,
    covariates_are_taken_or_refused,
)
