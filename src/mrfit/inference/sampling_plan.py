"""What sampling will take."""

from __future__ import annotations

from dataclasses import dataclass

from mrfit.errors import InputError
from mrfit.inference.plan import Plan, as_float


@dataclass(frozen=True)
class SamplingPlan(Plan):
    """Cells are states of variables that are kept, not joint states: any number of variables fits."""

    def check(self) -> None:
        if not self.fits:
            raise InputError(
                f"{self.task} keeps {as_float(self.n_cells):.2g} states of {len(self.shape)} variables, about "
                f"{self.gigabytes:.2g} GB; the limit is {as_float(self.max_cells):.2g}. {self.ways_on}"
            )
