"""All experiments by their words."""

from __future__ import annotations

from mrfit.errors import InputError, listed
from mrfit.reproduction.apt_table1 import AptTable1
from mrfit.reproduction.experiment import Experiment
from mrfit.reproduction.spec_table1 import SpecTable1

EXPERIMENTS: dict[str, Experiment] = {experiment.word: experiment for experiment in (AptTable1(), SpecTable1())}


def experiments_called(word: str) -> tuple[Experiment, ...]:
    """One by its word, or ``all`` of them."""
    if word == "all":
        return tuple(EXPERIMENTS.values())
    if word not in EXPERIMENTS:
        raise InputError(f"There is no experiment {word!r}; choose one of {listed([*EXPERIMENTS, 'all'])}.")
    return (EXPERIMENTS[word],)
