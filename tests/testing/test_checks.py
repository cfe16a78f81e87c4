"""The checks that plug-in authors call, over every part of the library."""

from __future__ import annotations

from typing import Any

import pytest

import populations
from mrfit.registry import FORMATS
from mrfit.structures import AllInteractions, ChowLiuTree, CompleteGraph, Learned, LikelihoodGrowth, NoInteractions
from mrfit.testing import (
    check_engine,
    check_format,
    check_method,
    check_objective,
    check_parameterization,
    check_penalty,
    check_structure_learner,
)

PENALTIES: dict[type, Any] = {**populations.SMOOTH_PENALTIES, **populations.NONSMOOTH_PENALTIES}
ENGINES = [engine for engines in populations.ENGINES.values() for engine in engines]
LEARNERS = [
    CompleteGraph(),
    NoInteractions(),
    AllInteractions(3),
    ChowLiuTree(),
    Learned(max_degree=2),
    Learned(bound="joint"),
    LikelihoodGrowth(),
]


@pytest.mark.parametrize("kind", PENALTIES, ids=lambda kind: kind.__name__)
def test_every_penalty(kind: type) -> None:
    check_penalty(PENALTIES[kind])


@pytest.mark.parametrize("kind", populations.OBJECTIVES, ids=lambda kind: kind.__name__)
def test_every_objective(kind: type) -> None:
    check_objective(populations.OBJECTIVES[kind])


@pytest.mark.parametrize("name", populations.METHODS)
def test_every_method(name: str) -> None:
    check_method(populations.METHODS[name], descends=name not in populations.WITH_MOMENTUM)


@pytest.mark.parametrize("engine", ENGINES, ids=str)
def test_every_exact_engine(engine: Any) -> None:
    check_engine(engine)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_every_structure_learner(learner: Any) -> None:
    check_structure_learner(learner)


@pytest.mark.parametrize("kind", populations.PARAMETERIZATIONS, ids=lambda kind: kind.__name__)
def test_every_parameterization(kind: type, rng: Any) -> None:
    build = populations.PARAMETERIZATIONS[kind]
    check_parameterization(lambda domain, structure: build(domain, structure, rng))


@pytest.mark.parametrize("word", FORMATS)
def test_every_format(word: str) -> None:
    check_format(FORMATS[word], keeps_names=word != "mn", keeps_constant=word != "mrf")
