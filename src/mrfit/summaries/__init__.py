"""What there is to say about results: frozen records with `to_dict`, printed, drawn and served elsewhere."""

from mrfit.summaries.comparison import Comparison
from mrfit.summaries.fit import FitSummary
from mrfit.summaries.model_card import ModelCard
from mrfit.summaries.score import ScoreSummary
from mrfit.summaries.spectrum import SpectrumSummary
from mrfit.summaries.stability import StabilitySummary
from mrfit.summaries.structure import StructureSummary
from mrfit.summaries.theory import CurvatureChoice, TheorySummary

__all__ = [
    "Comparison",
    "CurvatureChoice",
    "FitSummary",
    "ModelCard",
    "ScoreSummary",
    "SpectrumSummary",
    "StabilitySummary",
    "StructureSummary",
    "TheorySummary",
]
