"""Selection of the ridge and the threshold of joint growth, by held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from mrfit.structures.joint.held_out_loss import HeldOutLoss
from mrfit.structures.joint.joint_growth import GrowthResult, JointGrowth, Setting

RIDGES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
PRICES = (20.0, 12.0, 3.84)
_EXCHANGES = 4  # exchanges between two checks on held-out rows
_MOST_EXCHANGES = 12
_WORTHWHILE = 1e-4  # share of the held-out loss that exchanges must gain to continue
_ROUNDING = 1e-12  # share of the loss by which equal graphs may differ: sums of several threads round differently
_N_EXCHANGING = 2  # number of settings for which exchanges are tried


@dataclass(frozen=True)
class Chosen:
    """A setting, the graph grown with it, and its mean loss on held-out rows."""

    setting: Setting
    grown: GrowthResult
    loss: float


@dataclass
class Sweep:
    """A search with one growth for each tried ridge; as the threshold falls during the growth, all share it."""

    growth: JointGrowth
    judge: HeldOutLoss
    tried: dict[float, list[Chosen]] = field(default_factory=dict)

    def best(self) -> Chosen:
        """Return the best setting: exchanges are tried for the few best ones."""
        self._try_ridges()
        ranked = sorted((chosen for choices in self.tried.values() for chosen in choices), key=lambda each: each.loss)
        return min(map(self._exchanged, ranked[:_N_EXCHANGING]), key=lambda chosen: chosen.loss)

    def _try_ridges(self) -> None:
        """Try both halves of the grid, then the better half further out, then the ridges between."""
        low, high = 0, len(RIDGES) // 2
        if self.at(high).loss < self.at(low).loss:
            low, high = high, len(RIDGES) - 1
        for k in (high, (low + high) // 2, (low + high + 1) // 2):
            self.at(k)

    def _exchanged(self, chosen: Chosen) -> Chosen:
        """Exchange edges as long as this lowers the held-out loss."""
        while chosen.setting.n_exchanges < _MOST_EXCHANGES:
            setting = chosen.setting
            state = self.growth.exchanged(chosen.grown, replace(setting, n_exchanges=_EXCHANGES))
            further = replace(setting, n_exchanges=setting.n_exchanges + _EXCHANGES)
            loss = self.judge.loss(state.parameters)
            worthwhile = loss < (1.0 - _WORTHWHILE) * chosen.loss
            if loss < (1.0 - _ROUNDING) * chosen.loss:
                chosen = Chosen(further, state, loss)
            if not worthwhile:
                break
        return chosen

    def at(self, k: int) -> Chosen:
        """Return the best threshold for a ridge; a lower threshold that lets no edge in is skipped."""
        ridge = RIDGES[k]
        if ridge not in self.tried:
            state = self.growth.start(ridge)
            choices: list[Chosen] = []
            for price in PRICES:
                n_before = len(state.graph)
                state = self.growth.grown(state, Setting(ridge, price))
                if len(state.graph) > n_before or not choices:
                    choices.append(Chosen(Setting(ridge, price), state, self.judge.loss(state.parameters)))
            self.tried[ridge] = choices
        return min(self.tried[ridge], key=lambda chosen: chosen.loss)
