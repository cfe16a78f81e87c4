"""Modules of parts are public: they say what they are for, and load what they name on first use."""

from __future__ import annotations

import importlib

import pytest

import mrfit
from test_import import loaded_by

MODULES = ("objectives", "penalties", "solvers", "structures", "parameterizations", "inference", "formats", "testing")


@pytest.mark.parametrize("name", MODULES)
def test_every_name_of_a_public_module_is_there_and_documented(name: str) -> None:
    module = importlib.import_module(f"mrfit.{name}")
    assert not (module.__doc__ or "Internal").startswith("Internal")
    assert sorted(module.__all__) == sorted(set(module.__all__))
    for part in module.__all__:
        assert part in dir(module)
        assert getattr(module, part).__doc__, part
    with pytest.raises(AttributeError, match="no_such_part"):
        _ = module.no_such_part


@pytest.mark.parametrize("name", [name for name in MODULES if name != "solvers"])
def test_a_public_module_loads_what_it_names_on_first_use(name: str) -> None:
    assert loaded_by(f"import mrfit.{name}").isdisjoint({"numba", "numpy", "scipy"})


def test_the_function_minimize_is_not_hidden_by_its_module() -> None:
    assert callable(importlib.import_module("mrfit.solvers").minimize)
    importlib.import_module("mrfit.solvers.minimize")
    assert callable(importlib.import_module("mrfit.solvers").minimize)


def test_words_of_the_door_are_choices_and_those_of_penalties_are_functions() -> None:
    """Both have an L1; a choice builds the function when the parameters are known."""
    from mrfit.penalties import PenaltySpec, WeightedL1

    assert issubclass(mrfit.L1, PenaltySpec)
    assert mrfit.L1.function is WeightedL1
