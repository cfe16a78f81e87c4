"""The figures of plans: units that suit them, and none that has nothing to do with a refusal."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from mrfit.core.factors import Factors
from mrfit.inference.engine import Engine
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.sampling.gibbs import Gibbs


def _complete(n: int) -> Factors:
    return Factors.from_tables((2,) * n, [(pair, np.zeros(4)) for pair in combinations(range(n), 2)])


def test_one_huge_clique_is_not_given_the_size_of_its_messages() -> None:
    """One clique sends no messages: such a plan once said 1.2e+16 cells "and 8e-09 GB"."""
    plan = JunctionTree().plan(_complete(53))
    assert not plan.fits
    figures = plan.figures()
    assert "needs cliques of 9e+15 cells in all, the largest of 53 variables" in figures
    assert "messages" not in figures
    assert "GB" not in figures


def test_messages_that_are_too_large_are_named_with_both_sizes() -> None:
    chain = Factors.from_tables((50,) * 40, [((i, i + 1), np.zeros(2500)) for i in range(39)])
    plan = JunctionTree(max_bytes=1000).plan(chain)
    assert not plan.fits
    assert f"Messages between them take about {plan.size}; the limit is 1 kB." in plan.figures()
    assert plan.size.endswith(" kB")


@pytest.mark.parametrize(
    ("engine", "size"), [(Enumeration(max_cells=5), "B"), (Gibbs(max_cells=5), "B"), (Enumeration(), "TB")]
)
def test_sizes_are_never_a_fraction_of_their_unit(engine: Engine, size: str) -> None:
    plan = engine.plan(_complete(3 if size == "B" else 60))
    number, unit = plan.size.split()
    assert unit.endswith(size)
    assert float(number.replace(",", "")) >= 1
    assert plan.size in plan.figures()
