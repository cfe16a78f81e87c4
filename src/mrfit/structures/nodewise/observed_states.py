"""Declared states that occur in the rows; other states have no finite parameters and drop out of regressions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mrfit.core.domain import Domain, Variable
from mrfit.data.row_totals import Tallied
from mrfit.data.unique_rows import UniqueRows


@dataclass(frozen=True)
class SeenStates:
    """States of positive weight, and the position of each declared state among them.

    ``position[i][code]`` is the code of a declared state among the seen states of variable i. An unseen state has the
    position after the last.
    """

    domain: Domain
    position: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, rows: Tallied) -> SeenStates:
        variables, positions = [], []
        for variable, weights in zip(rows.domain, rows.state_weights, strict=True):
            seen = weights > 0
            states = tuple(state for state, is_seen in zip(variable.states, seen, strict=True) if is_seen)
            variables.append(variable if seen.all() else Variable(variable.name, states))
            positions.append(np.where(seen, np.cumsum(seen) - 1, seen.sum()))
        return cls(Domain(tuple(variables)), tuple(positions))

    @property
    def has_groups(self) -> bool:
        """Whether a variable has more than two seen states, so that a neighbour has a group of coefficients."""
        return max(self.domain.shape, default=0) > 2

    def codes(self, rows: UniqueRows) -> NDArray[np.int64]:
        """The rows' codes among the seen states."""
        return np.stack([position[rows.codes[:, i]] for i, position in enumerate(self.position)], axis=1)

    def of_rows(self, rows: UniqueRows) -> UniqueRows:
        """Return the rows in which the states were seen, under the domain of these states."""
        if self.domain == rows.domain and rows.sample_weight.all():
            return rows
        present = rows.sample_weight > 0
        codes = self.codes(rows)[present].astype(rows.codes.dtype)
        seen = UniqueRows.from_codes(self.domain, codes, rows.sample_weight[present])
        return replace(seen, n_rows=rows.n_rows, dropped_rows=rows.dropped_rows)
