"""Evidence from node-wise regressions about each selected edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.structures.edge_weights import LOG_ODDS, SIZE, UNITS, unit_of


@dataclass(frozen=True)
class EdgeReport:
    """Evidence for edges a - b with a < b, from the regression of a on all others and from that of b.

    ``coefficients[k, 0]`` is the edge weight of b in the regression of a, ``coefficients[k, 1]`` that of a in the
    regression of b: log odds ratios for two states, else the norm of the centered table
    (`mrfit.structures.edge_weights`).

    ``entered[k]`` are the penalty strengths at which the edge first entered either path, NaN if it never did.
    ``signs[k]`` is +1 if the two variables rise together, -1 if one falls as the other rises, and 0 if states have no
    order or no direction shows.

    If one graph was grown for all variables together, both coefficients are those of the joint model. Then ``owner[k]``
    is the end whose degree bound the edge counts for (-1 for a required edge beyond all bounds), and ``gain[k]`` is
    approximately what the edge adds to the pseudo-log-likelihood of the table, given all other edges.
    """

    edges: NDArray[np.int64]  # (edges, 2)
    coefficients: Floats  # (edges, 2)
    entered: Floats  # (edges, 2)
    signs: NDArray[np.int64]  # (edges,)
    owner: NDArray[np.int64] | None = None  # (edges,)
    gain: Floats | None = None  # (edges,)
    kinds: NDArray[np.int64] | None = (
        None  # units of the weights, (edges,), see `mrfit.structures.edge_weights`; None: two states
    )

    @classmethod
    def of_no_edges(cls) -> EdgeReport:
        return cls(np.empty((0, 2), np.int64), np.empty((0, 2)), np.empty((0, 2)), np.empty(0, np.int64))

    def __len__(self) -> int:
        return len(self.edges)

    @property
    def weight(self) -> Floats:
        """Edge weight by the regressions: the mean of both, shrunken by selection and penalty."""
        size = np.abs(self.coefficients.mean(axis=1))
        return np.asarray(np.where((self.signs < 0) & self.has_sign, -size, size), np.float64)

    @property
    def has_sign(self) -> NDArray[np.bool_]:
        """Whether each weight has a sign; norms have no sign."""
        return np.ones(len(self), bool) if self.kinds is None else self.kinds != SIZE

    @property
    def order(self) -> NDArray[np.int64]:
        """Indices of the edges, the largest weight first."""
        return np.argsort(-np.abs(self.weight), kind="stable")

    @property
    def unit(self) -> str:
        """Name of the unit of the weights."""
        return unit_of(() if self.kinds is None else self.kinds)

    def rows(self, names: tuple[str, ...]) -> Iterator[dict[str, str | float]]:
        """Yield one record for each edge, the largest weight first, with names of variables."""
        weight = self.weight
        for k in self.order:
            a, b = self.edges[k]
            yield {
                "source": names[a],
                "target": names[b],
                "weight": float(weight[k]),
                "sign": int(self.signs[k]),
                "unit": UNITS[LOG_ODDS if self.kinds is None else int(self.kinds[k])],
                "target_given_source": float(self.coefficients[k, 1]),
                "source_given_target": float(self.coefficients[k, 0]),
                "entered_source": float(self.entered[k, 0]),
                "entered_target": float(self.entered[k, 1]),
                **self._ownership(int(k), names),
            }

    @property
    def columns(self) -> tuple[str, ...]:
        """Keys of each record of `rows`, available without edges too."""
        one = replace(
            self,
            edges=np.array([[0, 1]]),
            **{
                each.name: np.zeros((1, *value.shape[1:]), value.dtype)
                for each in fields(self)
                if each.name != "edges" and (value := getattr(self, each.name)) is not None
            },
        )
        return tuple(next(iter(one.rows(("", "")))))

    def _ownership(self, k: int, names: tuple[str, ...]) -> dict[str, str | float]:
        if self.owner is None or self.gain is None:
            return {}
        return {"owner": names[self.owner[k]] if self.owner[k] >= 0 else "", "gain": float(self.gain[k])}
