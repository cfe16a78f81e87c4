"""All experiments by name."""

from __future__ import annotations

from mrfit.core.errors import InputError, listed
from mrfit_papers.apt_curve import AptCurve
from mrfit_papers.apt_curve_ll import AptCurveLl
from mrfit_papers.apt_fig1 import AptFig1
from mrfit_papers.apt_fig2 import AptFig2
from mrfit_papers.apt_table1 import AptTable1
from mrfit_papers.apt_theory import AptTheory
from mrfit_papers.experiment import Experiment
from mrfit_papers.league import League
from mrfit_papers.spec_fig1 import SpecFig1
from mrfit_papers.spec_fig2 import SpecFig2
from mrfit_papers.spec_fig3 import SpecFig3
from mrfit_papers.spec_table1 import SpecTable1

_APT = (AptTable1(), AptFig1(), AptFig2(), AptTheory(), AptCurve(), AptCurveLl())  # Chou et al. (2018)
_SPEC = (SpecTable1(), SpecFig1(), SpecFig2(), SpecFig3())  # Buchman et al. (2012)
_OURS = (League(),)

EXPERIMENTS: dict[str, Experiment] = {experiment.word: experiment for experiment in (*_APT, *_SPEC, *_OURS)}


def experiments_called(word: str) -> tuple[Experiment, ...]:
    """Return one experiment by name, or ``all`` of them."""
    if word == "all":
        return tuple(EXPERIMENTS.values())
    if word not in EXPERIMENTS:
        raise InputError(f"There is no experiment {word!r}; choose one of {listed([*EXPERIMENTS, 'all'])}.")
    return (EXPERIMENTS[word],)
