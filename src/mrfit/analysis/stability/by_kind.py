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
    """Earlier form of `bootstrap_edges`, `case_dropping`, `stability_selection` and `stars`, for one more release.

    Parameters
    ----------
    learner : Learner or StructureLearner
        How to learn a network from each bootstrap sample.
    data : table
        Complete rows.
    kind : {"bootstrap", "drop", "pairs", "stars"}, default "bootstrap"
        Function to call: `bootstrap_edges`, `case_dropping`, `stability_selection` or `stars`.
    level : float, default 0.95
        Share of the samples within the percentile intervals of ``edges``.
    **settings : keywords
        Other arguments of that function, and ``false_edges``, ``threshold`` and ``assumption`` of `ErrorControl`.

    Returns
    -------
    Stability
        Result of the function of this kind.

    Raises
    ------
    MrfitError
        If there is no such kind, or if StARS gets ``one_step`` or ``resume``.

    Warns
    -----
    FutureWarning
        Always: the functions themselves are the lasting names.

    See Also
    --------
    bootstrap_edges : Frequency and range of each edge weight.
    case_dropping : CS coefficients.
    stability_selection : Edges with a bound on the false ones.

    Examples
    --------
    >>> import mrfit, warnings
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     found = mrfit.stability(mrfit.L1Path(), table, resamples=10)
    >>> type(found).__name__
    'EdgeBootstrap'
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
