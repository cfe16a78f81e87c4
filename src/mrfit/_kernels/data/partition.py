"""Partition refinement: grouping of rows that agree on a set of indicators.

An *indicator* is "variable j is in state s" for a state other than the first; `active_entries` lists the rows where
each holds (compressed columns). Splitting the classes of a partition by one indicator costs the length of its list, so
sparse data are cheap. Nothing is hashed, so the result is exact.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True)
def active_entries(codes, first_indicator, start, rows):
    """Fill the compressed columns: rows[start[k]:start[k+1]] are the rows where indicator k holds."""
    n_rows, n_variables = codes.shape
    start[:] = 0
    for r in range(n_rows):
        for j in range(n_variables):
            if codes[r, j] > 0:
                start[first_indicator[j] + codes[r, j]] += 1  # one past the entry: sums turn it into a start
    for k in range(1, len(start)):
        start[k] += start[k - 1]
    fill = start[:-1].copy()
    for r in range(n_rows):
        for j in range(n_variables):
            if codes[r, j] > 0:
                k = first_indicator[j] + codes[r, j] - 1
                rows[fill[k]] = r
                fill[k] += 1


@njit(cache=True, nogil=True)
def refine(start, rows, indicators, class_of):
    """Split one class of all rows by each indicator in turn; return the number of classes."""
    size = np.empty(len(class_of) + 1, np.int32)
    class_of[:] = 0
    size[0] = len(class_of)
    return split(start, rows, indicators, class_of, size, 1)


@njit(cache=True, nogil=True)
def split(start, rows, indicators, class_of, size, n_classes):
    """Split the classes of a partition, with ``size`` members each, by each indicator in turn.

    Class numbers stay dense, because a class whose members would all move is not split. Returns the number of classes.
    """
    n_rows = len(class_of)
    moved = np.empty(n_rows + 1, np.int32)
    child = np.empty(n_rows + 1, np.int32)
    seen_at = np.full(n_rows + 1, -1, np.int32)
    # Two walks along each list: the first counts how many members of every class the indicator would move, the second
    # moves them. ``seen_at`` dates the counters, so none has to be cleared between indicators.
    for step in range(len(indicators)):
        first, last = start[indicators[step]], start[indicators[step] + 1]
        for at in range(first, last):
            old = class_of[rows[at]]
            if seen_at[old] != step:
                seen_at[old] = step
                moved[old] = 0
                child[old] = -1
            moved[old] += 1
        for at in range(first, last):
            old = class_of[rows[at]]
            if child[old] < 0 and moved[old] < size[old]:
                child[old] = n_classes
                size[n_classes] = moved[old]
                size[old] -= moved[old]
                n_classes += 1
            if child[old] >= 0:
                class_of[rows[at]] = child[old]
    return n_classes


@njit(cache=True, nogil=True)
def representatives(class_of, representative):
    """Return the first row of every class."""
    representative[:] = -1
    for r in range(len(class_of)):
        if representative[class_of[r]] < 0:
            representative[class_of[r]] = r


@njit(cache=True, nogil=True)
def count_cells(class_of, state_of, sample_weight, block, total, counts):
    """Sum the weight of every class over all states (total) and by state, in blocks of (states - 1, block) arrays."""
    n_cells = len(total)
    n_free = len(counts) // max(n_cells, 1)
    total[:] = 0.0
    counts[:] = 0.0
    if n_free == 1:  # one state: the layout is contiguous, and nothing is divided
        for r in range(len(class_of)):
            total[class_of[r]] += sample_weight[r]
            counts[class_of[r]] += sample_weight[r] * state_of[r]
        return
    for r in range(len(class_of)):
        cell = class_of[r]
        total[cell] += sample_weight[r]
        if state_of[r] > 0:
            first = cell - cell % block
            width = min(block, n_cells - first)
            counts[n_free * first + (state_of[r] - 1) * width + cell % block] += sample_weight[r]


@njit(cache=True, nogil=True)
def _contains(ascending, low, high, value):
    """Return whether ascending[low:high] contains value."""
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < value:
            low = middle + 1
        elif ascending[middle] > value:
            high = middle
        else:
            return True
    return False


@njit(cache=True, nogil=True)
def feature_members(start, rows, condition_start, conditions, class_of, representative, member_start, members):
    """Return the cells in which each feature (a conjunction of indicators) is active, as compressed columns.

    The result is the number of entries; with an empty ``members`` it only counts. A conjunction is evaluated by looking
    up the rows of its rarest indicator in the lists of the others, which ascend.
    """
    n_features = len(condition_start) - 1
    n_entries = 0
    for f in range(n_features):
        member_start[f] = n_entries
        first, last = condition_start[f], condition_start[f + 1]
        shortest = conditions[first]
        for k in range(first + 1, last):
            if start[conditions[k] + 1] - start[conditions[k]] < start[shortest + 1] - start[shortest]:
                shortest = conditions[k]
        for at in range(start[shortest], start[shortest + 1]):
            row = rows[at]
            # All rows of a cell agree on the indicators that split it, so one row answers for the cell. This needs
            # cells that were split by every variable of the features.
            if representative[class_of[row]] != row:
                continue
            holds = True
            for k in range(first, last):
                other = conditions[k]
                holds = holds and (other == shortest or _contains(rows, start[other], start[other + 1], row))
            if holds:
                if len(members) > 0:
                    members[n_entries] = class_of[row]
                n_entries += 1
    member_start[n_features] = n_entries
    return n_entries
