"""What to tie and how, in one place for all who ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mrfit.errors import InputError, listed
from mrfit.tying.groups import WAYS
from mrfit.tying.soft import SoftTying
from mrfit.tying.stochastic import Stochastic

# The grids of Chou et al. (2018).
GROUPS = (1, 2, 5, 10, 20, 100, 500, 1000, 5000, 10000)
STRENGTHS = (0.01, 0.1, 0.5, 1.0, 10.0, 15.0, 30.0, 50.0, 100.0)

STARTS = ("l2", "random")
RELEARN = ("reduced", "projected")


@dataclass(frozen=True)
class TyingSettings:
    """What is tied and where the search begins.

    Parameters
    ----------
    groups
        Numbers of groups to try, cut at the number of parameters.
    tie
        ``all`` parameters together, as in the paper; single variables ``apart`` from interactions; or each of the
        ``orders`` for itself. Every class has as many groups.
    pin_zero
        Whether one group of each class has its center at zero.
    start
        ``l2``: a rough L2 fit at a weak strength; ``random``: small normal values.
    restarts
        Further random starts; the one with the best objective is kept.
    seed
        Of the random values.
    relearn
        How equal parameters are relearned: ``reduced`` to one unknown for each group, or by ``projected`` gradients.
    how
        The alternation of soft tying.
    stochastic
        Instead: stochastic gradients over batches of rows.
    """

    groups: Sequence[int] = GROUPS
    tie: str = "all"
    pin_zero: bool = False
    start: str = "l2"
    restarts: int = 0
    seed: int = 0
    relearn: str = "reduced"
    how: SoftTying = field(default_factory=SoftTying)
    stochastic: Stochastic | None = None

    def __post_init__(self) -> None:
        groups = tuple(self.groups)
        if not groups or any(isinstance(k, bool) or int(k) != k or k < 1 for k in groups):
            raise InputError(f"Numbers of groups are whole numbers of at least 1; got {list(groups)}.")
        object.__setattr__(self, "groups", tuple(sorted({int(k) for k in groups})))
        for name, value, words in (
            ("way to tie", self.tie, WAYS),
            ("start", self.start, STARTS),
            ("way to relearn", self.relearn, RELEARN),
        ):
            if value not in words:
                raise InputError(f"There is no {name} {value!r}; choose one of {listed(words)}.")
        if self.restarts < 0:
            raise InputError(f"The number of restarts must not be negative; got {self.restarts}.")

    def groups_up_to(self, most: int) -> tuple[int, ...]:
        """The numbers of groups, those beyond ``most`` cut to it."""
        return tuple(sorted({min(k, max(most, 1)) for k in self.groups}))
