"""Parts of a learner give the results that were recorded for their results version."""

from __future__ import annotations

from pathlib import Path

import pytest

from golden.results import ENTRIES, Recorded, complaint, merged, stored
from mrfit.registry import OBJECTIVES, PENALTIES, STRUCTURES
from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner


@pytest.mark.parametrize("name", ENTRIES)
def test_a_result_changes_only_with_its_version(name: str, data_dir: Path) -> None:
    assert complaint(name, ENTRIES[name](), stored().get(name)) == ""


def test_every_part_of_a_learner_is_recorded() -> None:
    versioned = {part for recorded in stored().values() for part in recorded.versions}
    ways = {f"{PairwiseLearner.word} ({way})" for way in PairwiseLearner.results_version_of_way}
    assert {*STRUCTURES, *PENALTIES, *OBJECTIVES, *ways, "learner"} == versioned
    assert set(stored()) == set(ENTRIES)


def _joint(version: int, *edges: list[int]) -> Recorded:
    return Recorded({"learned (joint)": version}, {"edges": list(edges)})


def test_another_result_by_the_same_version_is_not_recorded() -> None:
    old, other = _joint(1, [0, 1]), _joint(1, [0, 2])
    assert "Raise the results_version of what changed (learned (joint))" in complaint("joint", other, old)
    with pytest.raises(ValueError, match="joint has another result"):
        merged({"joint": other}, {"joint": old})


def test_another_result_by_a_raised_version_is_recorded() -> None:
    old, other = _joint(1, [0, 1]), _joint(2, [0, 2])
    assert "make golden" in complaint("joint", other, old)
    assert merged({"joint": other}, {"joint": old}) == {"joint": other}
    assert complaint("joint", other, other) == ""


def test_last_digits_are_no_other_result() -> None:
    old = Recorded({"l2": 1}, {"valid": -4.9, "groups": None})
    near, far = (
        Recorded({"l2": 1}, {"valid": -4.90000001, "groups": None}),
        Recorded({"l2": 1}, {"valid": -4.91, "groups": None}),
    )
    assert complaint("l2", near, old) == ""
    assert merged({"l2": near}, {"l2": old}) == {"l2": old}  # so that recording leaves no differences behind
    assert complaint("l2", far, old)
