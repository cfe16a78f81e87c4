"""No component without a place in the population."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

import mrfit.objectives
import mrfit.penalties
import mrfit.solvers
import populations
from mrfit.objectives.objective import Objective
from mrfit.penalties.penalty import Penalty
from mrfit.solvers.method import Method


def _subclasses(cls: type) -> set[type]:
    return {found for child in cls.__subclasses__() for found in {child} | _subclasses(child)}


def _import_all(package: ModuleType) -> None:
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)


@pytest.mark.parametrize(
    ("base", "members"),
    [
        (Penalty, {*populations.SMOOTH_PENALTIES, *populations.NONSMOOTH_PENALTIES}),
        (Objective, populations.OBJECTIVES),
        (Method, {type(method) for method in populations.METHODS.values()} | populations.SPECIAL_METHODS),
    ],
    ids=["penalties", "objectives", "methods"],
)
def test_every_component_is_in_the_population(base: type, members: set[type]) -> None:
    """A new concrete class of the library must get a line in populations.py."""
    for package in (mrfit.objectives, mrfit.penalties, mrfit.solvers):
        _import_all(package)
    concrete = {cls for cls in _subclasses(base) if cls.__module__.startswith("mrfit.") and not inspect.isabstract(cls)}
    assert concrete == set(members)
