"""The way from parameters to the slots of cells, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from mrfit._kernels.fitting.cells import gather, scatter
from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical
from populations import problems


@given(problems())
@settings(max_examples=30)
def test_scatter_is_the_adjoint_of_gather(problem: tuple[UniqueRows, Canonical, np.ndarray]) -> None:
    """<gather(w), s> = <w, scatter(s)>, slots without a parameter included."""
    _, parameters, w = problem
    parameter_of_slot = parameters.conditionals.parameter_of_slot
    w_slots, back = np.empty(len(parameter_of_slot)), np.empty(len(w))
    gather(w, parameter_of_slot, w_slots)
    slots = np.cos(np.arange(len(w_slots)))
    scatter(slots, parameter_of_slot, back)
    assert w_slots @ slots == pytest.approx(w @ back, rel=1e-12, abs=1e-12)
