"""Which ridge and which price to grow with, by held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from mrfit.structures.joint.held_out_loss import HeldOutLoss
from mrfit.structures.joint.joint_growth import GrowthResult, JointGrowth, Setting

RIDGES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
PRICES = (20.0, 12.0, 3.84)
_EXCHANGES = 4  # before held-out rows are asked again whether to go on
_MOST_EXCHANGES = 12
_WORTHWHILE = 1e-4  # of the held-out loss: what exchanges must gain to go on
_N_EXCHANGING = 2  # settings for which exchanges are tried


@dataclass(frozen=True)
class Chosen:
    """A setting, the graph grown with it, and its mean loss on held-out rows."""

    setting: Setting
    grown: GrowthResult
    loss: float


@dataclass
class Sweep:
    """One growth for each ridge that is tried; the price falls along the growth, so that all prices share it."""

    growth: JointGrowth
    judge: HeldOutLoss
    tried: dict[float, list[Chosen]] = field(default_factory=dict)

    def best(self) -> Chosen:
        """The best, after exchanges, of the few settings that are best before."""
        self._try_ridges()
        ranked = sorted((chosen for choices in self.tried.values() for chosen in choices), key=lambda each: each.loss)
        return min(map(self._exchanged, ranked[:_N_EXCHANGING]), key=lambda chosen: chosen.loss)

    def _try_ridges(self) -> None:
        """From both sides of the middle, then further the better way, then between."""
        low, high = 0, len(RIDGES) // 2
        if self.at(high).loss < self.at(low).loss:
            low, high = high, len(RIDGES) - 1
        for k in (high, (low + high) // 2, (low + high + 1) // 2):
            self.at(k)

    def _exchanged(self, chosen: Chosen) -> Chosen:
        """Exchanges as long as held-out rows want more of them."""
        while chosen.setting.n_exchanges < _MOST_EXCHANGES:
            setting = chosen.setting
            state = self.growth.exchanged(chosen.grown, replace(setting, n_exchanges=_EXCHANGES))
            further = replace(setting, n_exchanges=setting.n_exchanges + _EXCHANGES)
            loss = self.judge.loss(state.parameters)
            worthwhile = loss < (1.0 - _WORTHWHILE) * chosen.loss
            if loss < chosen.loss:
                chosen = Chosen(further, state, loss)
            if not worthwhile:
                break
        return chosen

    def at(self, k: int) -> Chosen:
        """The best price for a ridge; a lower price that lets nothing more in is not another choice."""
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
