"""Figure 1 of Chou et al. (2018): parameters on the real line, and the values they are tied to."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mrfit import Learned, Learner, SoftTied
from mrfit.parameterizations.groups import Groups
from mrfit.plots.parameters_plot import draw_parameters
from mrfit_papers.benchmark_rows import PARTS, prepared
from mrfit_papers.document import Block, Picture, Text
from mrfit_papers.experiment import Experiment, Results, Scope
from mrfit_papers.unit import Unit


@dataclass(frozen=True)
class TiedParameters(Unit):
    """All parameters of one tied fit, and their groups."""

    set: str
    degree: int
    groups: int
    strength: float

    kind: ClassVar[str] = "apt-parameters"

    def data(self) -> tuple[tuple[str, str], ...]:
        return tuple((self.set, part) for part in PARTS)

    def learner(self) -> Learner:
        return Learner(Learned(max_degree=self.degree, bound="top"), SoftTied(self.strength, groups=self.groups))

    def shared(self) -> Hashable:
        return self.set, self.degree

    def describe(self) -> str:
        return f"{self.set}, parameters in {self.groups} groups"

    def run(self) -> dict[str, Any]:
        given = prepared(self.set, self.degree, "top")
        best = given.fitted(self.learner(), choosing=False).best
        groups = best.model.groups
        assert groups is not None  # it was tied
        return {
            "w": [round(float(value), 6) for value in best.model.w],
            "assignment": groups.assignment.tolist(),
            "centers": groups.centers.tolist(),
            "orders": best.model.parameters.order_of_parameter.tolist(),
            "rounds": len(best.rounds),
        }


class AptFig1(Experiment):
    """The paper's sketch, drawn with parameters that were learned."""

    word = "apt-fig1"
    title = "Automatic parameter tying, Figure 1: quantized parameters"
    datasets: ClassVar = ("nltcs", "plants", "dna")
    quick_datasets: ClassVar = ("nltcs",)

    def units(self, scope: Scope) -> list[TiedParameters]:
        return [TiedParameters(name, 5, 5, 30.0) for name in self.chosen(scope)]

    def report(self, results: Results, scope: Scope) -> Sequence[Block]:
        blocks: list[Block] = [
            Text(
                "The paper draws its figure by hand; these are the parameters of real fits: at most 5 neighbours a "
                "variable, 5 groups, strength 30. Dots are parameters, curves the Gaussian priors around the learned "
                "centers, short dashed lines the boundaries between groups."
            )
        ]
        for unit, result in results.items():
            if isinstance(unit, TiedParameters):
                blocks.append(_picture(unit, result))
        return blocks


def _picture(unit: TiedParameters, result: dict[str, Any]) -> Picture:
    groups = Groups(np.array(result["assignment"]), np.array(result["centers"]))
    w, orders = np.array(result["w"]), np.array(result["orders"])
    title = f"{unit.set}: {len(w):,} parameters tied to {unit.groups} values"
    return Picture(
        f"apt-fig1-{unit.set}",
        lambda: draw_parameters(w, groups, strength=unit.strength, orders=orders, title=title),
        f"Parameters of {unit.set} and the values they are tied to",
    )
