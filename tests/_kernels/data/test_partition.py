"""Partition refinement against a Counter."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mrfit._kernels.data.partition import count_cells, feature_members, refine, representatives
from mrfit.data.unique_rows import ActiveEntries
from populations import tables
from reference.tables import classes


def _indicators(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(i, s) for i, c in enumerate(shape) for s in range(1, c)]


@given(tables())
def test_active_entries_list_the_rows_of_each_indicator(table: tuple[np.ndarray, tuple[int, ...]]) -> None:
    """Compressed columns of "variable i is in state s", rows ascending."""
    codes, shape = table
    active = ActiveEntries.from_codes(codes, shape)
    for k, (i, s) in enumerate(_indicators(shape)):
        assert active.first_indicator[i] + s - 1 == k
        held = active.rows[active.start[k] : active.start[k + 1]]
        assert held.tolist() == np.flatnonzero(codes[:, i] == s).tolist()
    assert len(active.rows) == active.start[-1]


@given(tables(), st.data())
def test_refine_gives_the_classes_of_a_counter(table: tuple[np.ndarray, tuple[int, ...]], data: st.DataObject) -> None:
    """Rows share a class exactly when they agree on the chosen indicators; numbers are dense."""
    codes, shape = table
    indicators = _indicators(shape)
    chosen = data.draw(st.permutations(range(len(indicators))))[: data.draw(st.integers(0, len(indicators)))]
    active = ActiveEntries.from_codes(codes, shape)
    class_of = np.full(len(codes), -7, np.int32)
    n_classes = refine(active.start, active.rows, np.array(chosen, np.int64), class_of)
    keys = [tuple(bool(row[indicators[k][0]] == indicators[k][1]) for k in chosen) for row in codes]
    assert classes(class_of.tolist()) == classes(keys)
    assert n_classes == len(Counter(keys))
    assert set(class_of.tolist()) == set(range(n_classes))
    representative = np.empty(n_classes, np.int64)
    representatives(class_of, representative)
    assert [class_of.tolist().index(c) for c in range(n_classes)] == representative.tolist()


@given(tables(), st.integers(1, 7))
def test_count_cells_sums_weights_by_state_in_blocks(table: tuple[np.ndarray, tuple[int, ...]], block: int) -> None:
    """The blocked layout holds the weight of each class and state."""
    codes, shape = table
    variable = int(np.argmax(shape))
    n_free = shape[variable] - 1
    class_of = np.array(classes(map(tuple, np.delete(codes, variable, axis=1).tolist())), np.int32)
    n_cells = class_of.max() + 1
    weight = 1.0 + np.arange(len(codes)) % 5
    total, counts = np.empty(n_cells), np.empty(n_cells * n_free)
    count_cells(class_of, codes[:, variable], weight, block, total, counts)
    for c in range(n_cells):
        first = c - c % block
        width = min(block, n_cells - first)
        assert total[c] == weight[class_of == c].sum()
        for s in range(1, n_free + 1):
            expected = weight[(class_of == c) & (codes[:, variable] == s)].sum()
            assert counts[n_free * first + (s - 1) * width + c % block] == expected


@given(tables(), st.data())
def test_feature_members_are_the_cells_of_a_conjunction(
    table: tuple[np.ndarray, tuple[int, ...]], data: st.DataObject
) -> None:
    """Features of one, two and three indicators, in cells that distinguish all of them."""
    codes, shape = table
    indicators = _indicators(shape)
    conjunction = st.lists(st.sampled_from(range(len(indicators))), min_size=1, max_size=3, unique=True)
    features = data.draw(st.lists(conjunction, max_size=4)) if indicators else []
    active = ActiveEntries.from_codes(codes, shape)
    class_of = np.empty(len(codes), np.int32)
    n_classes = refine(active.start, active.rows, np.arange(len(indicators)), class_of)
    representative = np.empty(n_classes, np.int64)
    representatives(class_of, representative)
    condition_start = np.concatenate([[0], np.cumsum([len(f) for f in features])]).astype(np.int64)
    conditions = np.array([k for f in features for k in f], np.int64)
    start = np.empty(len(features) + 1, np.int64)
    arguments = (active.start, active.rows, condition_start, conditions, class_of, representative, start)
    members = np.empty(feature_members(*arguments, np.empty(0, np.int32)), np.int32)
    assert feature_members(*arguments, members) == len(members)
    for f, feature in enumerate(features):
        holds = [all(codes[r, indicators[k][0]] == indicators[k][1] for k in feature) for r in representative]
        assert sorted(members[start[f] : start[f + 1]].tolist()) == np.flatnonzero(holds).tolist()
