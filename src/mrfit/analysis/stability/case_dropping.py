"""How many rows can be dropped before a network is another one (Epskamp, Borsboom and Fried 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mrfit._typing import Floats
from mrfit.analysis.stability.resampled_networks import Networks, pairs_of

DROPPED = tuple(np.linspace(0.05, 0.75, 10).tolist())
SIMILAR, CERTAIN = 0.7, 0.95  # a correlation above the first, in a larger share of subsets than the second


@dataclass(frozen=True, eq=False)
class CaseDrop:
    """Correlations with the network of the whole table.

    Parameters
    ----------
    dropped
        Share of rows dropped in each subset.
    correlations
        By what is correlated: ``edges``, ``strength`` of nodes (sums of sizes) or their ``expected_influence`` (sums);
        one for each subset.
    n_failed
        Subsets in which learning failed, which are left out.
    """

    dropped: Floats
    correlations: dict[str, Floats]
    n_failed: int = 0

    @classmethod
    def of(cls, networks: Networks, dropped: Floats) -> CaseDrop:
        known = ~np.isnan(networks.weights).any(axis=1)
        nodes = incidence(len(networks.names))
        sample, subsets = networks.sample, networks.known
        with np.errstate(invalid="ignore"):  # of infinite weights, which correlate with nothing
            views = {
                "edges": (subsets, sample),
                "strength": (np.abs(subsets) @ nodes, np.abs(sample) @ nodes),
                "expected_influence": (subsets @ nodes, sample @ nodes),
            }
        return cls(dropped[known], {name: correlations(*view) for name, view in views.items()}, networks.n_failed)

    @property
    def coefficients(self) -> dict[str, float]:
        """The CS coefficient of each."""
        return {name: cs_coefficient(self.dropped, values) for name, values in self.correlations.items()}

    def to_dict(self) -> dict[str, Any]:
        shares = np.unique(self.dropped)
        levels = [
            {"dropped": float(share), "subsets": int((self.dropped == share).sum())}
            | {
                f"mean_{name}": float(values[self.dropped == share].mean())
                for name, values in self.correlations.items()
            }
            for share in shares
        ]
        return {"cs_coefficients": self.coefficients, "levels": levels}


def correlations(subsets: Floats, sample: Floats) -> Floats:
    """Of every row with ``sample``; where either does not vary, or is not finite, there is none, which counts as 0."""
    both = np.vstack([sample, subsets])
    both = np.where(np.isfinite(both).all(axis=1, keepdims=True), both, 0.0)
    both -= both.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(both, axis=1)
    both[lengths > 0] /= lengths[lengths > 0, None]
    return np.asarray(both[1:] @ both[0], np.float64)


def cs_coefficient(dropped: Floats, values: Floats) -> float:
    """The largest share that can be dropped with a correlation that is likely to be high; 0 if there is none."""
    stable = [share for share in np.unique(dropped) if (values[dropped == share] > SIMILAR).mean() > CERTAIN]
    return float(max(stable, default=0.0))


def incidence(n_variables: int) -> Floats:
    """(pairs, variables): which variables each pair joins."""
    pairs = pairs_of(n_variables)
    incidence = np.zeros((len(pairs), n_variables))
    incidence[np.arange(len(pairs))[:, None], pairs] = 1.0
    return incidence
