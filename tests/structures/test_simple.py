"""Structures that need only the rows."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.core.errors import StructureError
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.mutual_information import maximum_information_tree
from mrfit.structures.simple import (
    AllInteractions,
    ChowLiuTree,
    CompleteGraph,
    FixedStructure,
    NoInteractions,
    StructureLearner,
)
from mrfit.structures.structure import Structure
from populations import random_rows


@pytest.fixture
def rows(rng: np.random.Generator) -> UniqueRows:
    return random_rows(rng, (2, 3, 2, 2), 60)


@pytest.mark.parametrize(
    ("learner", "expected"),
    [
        (CompleteGraph(), Structure.complete(4)),
        (NoInteractions(), Structure.independent(4)),
        (AllInteractions(3), Structure.up_to_order(4, 3)),
        (AllInteractions(None), Structure.up_to_order(4, 4)),
        (FixedStructure(Structure.from_edges(4, [(0, 2)])), Structure.from_edges(4, [(0, 2)])),
    ],
    ids=lambda value: getattr(value, "word", ""),
)
def test_what_depends_on_the_variables_alone(learner: StructureLearner, expected: Structure, rows: UniqueRows) -> None:
    assert learner.learn(rows).structure == expected


def test_a_tree_depends_on_the_rows(rows: UniqueRows) -> None:
    assert ChowLiuTree().learn(rows).structure == maximum_information_tree(rows)


@pytest.mark.parametrize(
    "learner", [CompleteGraph(), NoInteractions(), AllInteractions(3), ChowLiuTree()], ids=lambda each: each.word
)
def test_there_is_nothing_to_report_where_no_regression_was_asked(learner: StructureLearner, rows: UniqueRows) -> None:
    told: list[int] = []
    learned = learner.learn(rows, valid=rows, jobs=2, callback=told.append)
    assert len(learned.report) == 0
    assert list(learned.report.rows(rows.domain.names)) == []
    assert (learned.violation, learned.at_end, learned.remarks, told) == (None, (), (), [])


def test_a_given_structure_is_over_as_many_variables(rows: UniqueRows) -> None:
    with pytest.raises(StructureError, match="over 3 variables; the data have 4"):
        FixedStructure(Structure.complete(3)).learn(rows)
