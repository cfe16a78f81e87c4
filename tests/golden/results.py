"""Results of every part of a learner over real data, recorded with the results versions they were made with.

Stored results of experiments go by results versions. A part that gives other results under the same version would leave
old ones mixed with new ones; so such a change is refused here, also by the recorder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mrfit.data.named_datasets import find
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.chains.likelihood_growth import LikelihoodGrowth
from mrfit.learning.learner import Learner
from mrfit.learning.objective_specs import LIKELIHOOD, LOG_RISE, PSEUDO_LIKELIHOOD, RISE
from mrfit.learning.penalty_specs import L1, L2, GroupLasso, HierarchicalLasso, NoPenalty, SumOfSquares, UniformL1
from mrfit.learning.pseudo_counts import PseudoCounts
from mrfit.learning.tying_specs import HardTied, LearnTieRelearn, SoftTied
from mrfit.structures.simple import (
    AllInteractions,
    ChowLiuTree,
    CompleteGraph,
    FixedStructure,
    Learned,
    NoInteractions,
    StructureLearner,
)
from mrfit.structures.structure import Structure

RESULTS = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Recorded:
    """Result of a part, with the results versions of everything that determined it."""

    versions: Mapping[str, int]
    result: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return {"versions": dict(self.versions), "result": dict(self.result)}


def _rows(name: str, part: str) -> UniqueRows:
    return UniqueRows.from_file(find(name, part))


def _structure_of(learner: StructureLearner, name: str = "nltcs") -> Recorded:
    """Scopes learned from training rows; validation rows choose where any are needed."""
    rows = _rows(name, "train")
    valid = _rows(name, "valid").recoded(rows.domain)
    structure = learner.learn(rows, valid=valid).structure
    return Recorded(learner.results_versions(), {"scopes": structure.n_scopes, "edges": structure.edges.tolist()})


def _fit_of(learner: Learner, name: str = "nltcs") -> Recorded:
    """Fit that validation rows choose from the penalty's own grid, or from the strengths given."""
    rows = _rows(name, "train")
    valid = _rows(name, "valid").recoded(rows.domain)
    best = learner.fit(rows, valid, compared=False).best
    result = {"strength": best.strength, "groups": best.n_groups, "nonzero": best.n_nonzero, "valid": best.rank}
    return Recorded(learner.results_versions(), result)


def _fit_of_all(learner: Learner, name: str = "rochdale") -> Recorded:
    """A fit to a table without parts, at one strength."""
    best = learner.fit(_rows(name, "data")).best
    result = {"strength": best.strength, "nonzero": best.n_nonzero, "value": best.solution.value}
    return Recorded(learner.results_versions(), result)


_STRUCTURES: dict[str, StructureLearner] = {
    "complete": CompleteGraph(),
    "independent": NoInteractions(),
    "order": AllInteractions(3),
    "given": FixedStructure(Structure.from_scopes(16, [[0, 1], [1, 2, 3]])),
    "tree": ChowLiuTree(),
    "gain": Learned(max_degree=5),
    "gain, price valid": Learned(max_degree=5, price="valid"),
    "path": Learned(max_degree=5, bound="path"),
    "top": Learned(max_degree=5, bound="top"),
    "graph": Learned(max_degree=5, bound="graph"),
    "joint": Learned(max_degree=5, bound="joint"),
    "ebic": Learned(select="ebic", rule="and"),
    "valid": Learned(select="valid", rule="and"),
    "strength": Learned(select="strength", select_strength=200.0),
    "theory": Learned(select="theory"),
    "grown": LikelihoodGrowth(cells=1e4),
}
_SPECTRAL = "spectral"
_FITS: dict[str, Learner] = {
    "l2": Learner(penalty=L2((1.0, 30.0))),
    "l1": Learner(penalty=L1((64.0, 8.0))),
    "none": Learner(ChowLiuTree(), NoPenalty()),
    "tied": Learner(penalty=SoftTied((1.0, 30.0), groups=(2, 10))),
    "hard": Learner(penalty=HardTied((10.0,), groups=(5,))),
    "ltr": Learner(penalty=LearnTieRelearn((1.0, 10.0), groups=(2, 5))),
    "rise": Learner(penalty=L1((64.0, 8.0)), objective=RISE, parameterization=_SPECTRAL),
    "log-rise": Learner(penalty=L2((10.0,)), objective=LOG_RISE),
    "likelihood": Learner(ChowLiuTree(), L2((1.0, 10.0)), LIKELIHOOD),
}
_EXACT: dict[str, Learner] = {
    "group": Learner(AllInteractions(3), GroupLasso((5.0,)), LIKELIHOOD),
    "hierarchical": Learner(AllInteractions(3), HierarchicalLasso((5.0,)), LIKELIHOOD),
    "flat-l1": Learner(AllInteractions(None), UniformL1((5.0,)), LIKELIHOOD, _SPECTRAL),
    "flat-l2": Learner(AllInteractions(None), SumOfSquares((5.0,)), LIKELIHOOD, _SPECTRAL),
    "pseudo-counts": Learner(AllInteractions(None), PseudoCounts((1.0,)), LIKELIHOOD),
    "pseudo-likelihood": Learner(CompleteGraph(), L2((1.0,)), PSEUDO_LIKELIHOOD),
}

ENTRIES: dict[str, Callable[[], Recorded]] = {
    **{f"structure: {name}": lambda learner=learner: _structure_of(learner) for name, learner in _STRUCTURES.items()},
    **{f"fit: {name}": lambda learner=learner: _fit_of(learner) for name, learner in _FITS.items()},
    **{f"exact fit: {name}": lambda learner=learner: _fit_of_all(learner) for name, learner in _EXACT.items()},
}


def stored() -> dict[str, Recorded]:
    """The recorded results."""
    entries = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return {name: Recorded(entry["versions"], entry["result"]) for name, entry in entries.items()}


def complaint(name: str, found: Recorded, recorded: Recorded | None) -> str:
    """Return how a result differs from the recorded one; empty if they agree under the same versions."""
    if recorded is None:
        return f"{name} is not recorded: run `make golden`."
    if is_unversioned(found, recorded):
        names = ", ".join(found.versions)
        return f"{name} has another result. Raise the results_version of what changed ({names}), then `make golden`."
    if found.versions != recorded.versions:
        return f"{name} was recorded with other results versions: run `make golden`."
    return ""


def is_unversioned(found: Recorded, recorded: Recorded) -> bool:
    """Whether results differ while versions do not. Optima are known to a violation of 1e-6."""
    if found.versions != recorded.versions:
        return False
    return found.result.keys() != recorded.result.keys() or any(
        value
        != (
            pytest.approx(recorded.result[key], rel=1e-5, abs=1e-5)
            if isinstance(value, float)
            else recorded.result[key]
        )
        for key, value in found.result.items()
    )


def merged(found: Mapping[str, Recorded], recorded: Mapping[str, Recorded]) -> dict[str, Recorded]:
    """Return the results to record; refuse another result under the same versions, and leave equal ones as they are."""
    for name, entry in found.items():
        if name in recorded and is_unversioned(entry, recorded[name]):
            raise ValueError(complaint(name, entry, recorded[name]))
    same = {name for name, entry in found.items() if not complaint(name, entry, recorded.get(name))}
    return {name: recorded[name] if name in same else entry for name, entry in found.items()}


def record() -> None:
    """Write the results of today."""
    entries = merged({name: entry() for name, entry in ENTRIES.items()}, stored())
    text = json.dumps({name: entry.to_dict() for name, entry in entries.items()}, sort_keys=True)
    RESULTS.write_text(text.replace('}, "', '},\n"') + "\n", encoding="utf-8")
