"""No component without a place in the population."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import numpy as np
import pytest

import mrfit.inference
import mrfit.objectives
import mrfit.parameterizations
import mrfit.penalties
import mrfit.solvers
import populations
from mrfit.inference.engine import Engine
from mrfit.learning.chain_backend import UnknownLikelihood
from mrfit.objectives.objective import Objective
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.centred import Centred
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.penalties.penalty import Penalty
from mrfit.registry import PARAMETERIZATIONS
from mrfit.solvers.method import Method


def _subclasses(cls: type) -> set[type]:
    return {found for child in cls.__subclasses__() for found in {child} | _subclasses(child)}


def _import_all(package: ModuleType) -> None:
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)


def _is_of_the_library(cls: type) -> bool:
    """Whether a user can meet it: promises in `mrfit.testing` wrap what they watch in classes of their own."""
    return cls.__module__.startswith("mrfit.") and not cls.__module__.startswith("mrfit.testing.")


@pytest.mark.parametrize(
    ("base", "members"),
    [
        (Penalty, {*populations.SMOOTH_PENALTIES, *populations.NONSMOOTH_PENALTIES}),
        (Objective, {*populations.OBJECTIVES, UnknownLikelihood}),  # which refuses to be evaluated
        (Method, {type(method) for method in populations.METHODS.values()} | populations.SPECIAL_METHODS),
        (Parameterization, populations.PARAMETERIZATIONS),
        (Engine, {*populations.ENGINES, *populations.MESSAGE_ENGINES, *populations.SAMPLERS}),
    ],
    ids=["penalties", "objectives", "methods", "parameterizations", "engines"],
)
def test_every_component_is_in_the_population(base: type, members: set[type]) -> None:
    """A new concrete class of the library must get a line in populations.py."""
    for package in (mrfit.inference, mrfit.objectives, mrfit.parameterizations, mrfit.penalties, mrfit.solvers):
        _import_all(package)
    concrete = {cls for cls in _subclasses(base) if _is_of_the_library(cls) and not inspect.isabstract(cls)}
    assert concrete == set(members)


def test_every_parameterization_has_a_word() -> None:
    """Users choose it by a word; and the population has an example of each kind."""
    assert {*PARAMETERIZATIONS.values(), Centred} == set(populations.PARAMETERIZATIONS)  # the library chooses the last
    assert all(kind.word == word for word, kind in PARAMETERIZATIONS.items())
    domain = populations.domain_of((2, 3, 2))
    build = populations.all_parameterizations(domain, populations.STRUCTURES["complete"](3), np.random.default_rng(0))
    assert {type(each) for each in build} == set(populations.PARAMETERIZATIONS)
    references = {each.reference for each in build if isinstance(each, Canonical)}
    assert len(references) == 3
