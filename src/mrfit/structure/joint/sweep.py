"""Which ridge and which price to grow with, by held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mrfit.structure.joint.growth import Grown, Growth, Setting
from mrfit.structure.joint.pair_model import PairModel

RIDGES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
PRICES = (20.0, 12.0, 3.84)
# Whatever ridge a graph was grown with, it is judged by fits with these: what counts is the graph.
_JUDGED_AT = (10.0, 1.0, 0.1)
_EXCHANGES = 4  # before held-out rows are asked again whether to go on
_MOST_EXCHANGES = 12


@dataclass(frozen=True)
class Chosen:
    """A setting, the graph grown with it, and its mean loss on held-out rows."""

    setting: Setting
    grown: Grown
    loss: float


@dataclass
class Sweep:
    """One growth for each ridge that is tried; the price falls along the growth, so that all prices share it."""

    growth: Growth
    held_out: PairModel
    tried: dict[float, Chosen] = field(default_factory=dict)

    def best(self) -> Chosen:
        """The best ridge and price, then exchanges as long as held-out rows want them."""
        chosen = self.best_without_exchanges()
        while chosen.setting.n_exchanges < _MOST_EXCHANGES:
            further = replace(chosen.setting, n_exchanges=_EXCHANGES)
            state = self.growth.exchanged(chosen.grown, further)
            loss = self.loss(state)
            if not loss < chosen.loss:
                break
            n_exchanges = chosen.setting.n_exchanges + _EXCHANGES
            chosen = Chosen(replace(further, n_exchanges=n_exchanges), state, loss)
        return chosen

    def best_without_exchanges(self) -> Chosen:
        """Ridges from both sides of the middle, then further the better way, then between."""
        n = len(RIDGES)
        low, high = 0, n // 2
        if self.at(high).loss < self.at(low).loss:
            low, high = high, n - 1
        for k in (high, (low + high) // 2, (low + high + 1) // 2):
            self.at(k)
        return min(self.tried.values(), key=lambda chosen: chosen.loss)

    def at(self, k: int) -> Chosen:
        """The best price for a ridge."""
        ridge = RIDGES[k]
        if ridge not in self.tried:
            state = self.growth.start(ridge)
            choices: list[Chosen] = []
            for price in PRICES:
                n_before = len(state.graph)
                state = self.growth.grown(state, Setting(ridge, price))
                if len(state.graph) > n_before or not choices:
                    choices.append(Chosen(Setting(ridge, price), state, self.loss(state)))
            self.tried[ridge] = min(choices, key=lambda chosen: chosen.loss)
        return self.tried[ridge]

    def loss(self, state: Grown) -> float:
        """Mean over held-out rows after a fit at the best of the judges' strengths."""
        losses, total = [], float(self.held_out.table.arrays.sample_weight.sum())
        for strength in _JUDGED_AT:
            state = self.growth.refitted(state, strength)
            losses.append(self.held_out.value(state.parameters) / total)
        return float(np.min(losses))
