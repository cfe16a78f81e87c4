"""Earlier form of the analyses of stability; it works for one release, with a warning."""

from __future__ import annotations

from typing import Any

from mrfit import _renamed
from mrfit.analysis.stability.case_dropping import case_dropping
from mrfit.analysis.stability.edge_bootstrap import bootstrap_edges
from mrfit.analysis.stability.resampling import Stability
from mrfit.analysis.stability.stability_selection import ErrorControl, stability_selection
from mrfit.analysis.stability.stars import stars
from mrfit.core.errors import InputError, listed

_FUNCTIONS: dict[str, Any] = {
    "bootstrap": bootstrap_edges,
    "drop": case_dropping,
    "pairs": stability_selection,
    "stars": stars,
}
_CONTROL = ("false_edges", "threshold", "assumption")
_REFITS = ("one_step", "resume")


def stability(learner: Any, data: Any, *, kind: str = "bootstrap", level: float = 0.95, **settings: Any) -> Stability:
    """Call the function of a ``kind``; call that function itself instead.

    Parameters
    ----------
    learner, data
        As in `bootstrap_edges`.
    kind : {"bootstrap", "drop", "pairs", "stars"}, default="bootstrap"
        `bootstrap_edges`, `case_dropping`, `stability_selection` or `stars`.
    level : float, default=0.95
        Share of the resamples in the ranges of ``edges``.
    **settings
        Those of the function, and those of `ErrorControl` by themselves.
    """
    if kind not in _FUNCTIONS:
        raise InputError(f"There is no kind of resampling {kind!r}; choose one of {listed(tuple(_FUNCTIONS))}.")
    function = _FUNCTIONS[kind]
    _renamed.warn(f"mrfit.stability(kind={kind!r})", f"mrfit.{function.__name__}", level=2)
    control = {name: settings.pop(name) for name in _CONTROL if name in settings}
    if kind == "pairs":
        settings["control"] = ErrorControl(**control)
    if kind == "stars":
        refits = {name: settings.pop(name) for name in _REFITS if name in settings}
        if given := [name for name, value in refits.items() if value]:
            raise InputError(f"StARS learns at many strengths; leave {given[0]} out.")
    found: Stability = function(learner, data, **settings)
    return found.at_level(level)
