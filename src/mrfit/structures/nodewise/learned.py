"""The short form of pairwise learners, `Learned`, in which JSON, saved models and stored results know them too."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from mrfit.core.errors import InputError
from mrfit.structures.nodewise.forward_neighbours import THRESHOLD
from mrfit.structures.nodewise.learners import (
    ForwardSelection,
    GraphForwardSelection,
    JointForwardSelection,
    L1Path,
    TopCoefficients,
)
from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner
from mrfit.structures.nodewise.point_selection import (
    EBIC,
    FixedStrength,
    HeldOut,
    MaxDegree,
    PointSelection,
    TheoryStrength,
    check_word,
)

_BOUNDS: dict[str, type[PairwiseLearner]] = {
    "gain": ForwardSelection,
    "path": L1Path,
    "top": TopCoefficients,
    "graph": GraphForwardSelection,
    "joint": JointForwardSelection,
}
_SELECTIONS: dict[str, type[PointSelection]] = {
    kind.word: kind for kind in (MaxDegree, EBIC, HeldOut, FixedStrength, TheoryStrength)
}
BOUNDS, SELECTIONS = tuple(_BOUNDS), tuple(_SELECTIONS)

# Settings that have another name in the short form.
_SHORT = {
    "threshold": "price",
    "strength": "select_strength",
    "constant": "theory",
    "include_chow_liu_tree": "with_tree",
}
# Settings of the short form that all learners take, though some have no use for them.
_HARMLESS = ("rule", "tolerance")


def Learned(max_degree: int = 15, bound: str = "gain", **settings: Any) -> PairwiseLearner:  # noqa: N802
    """Return a learner of pairwise structures, chosen by the same words as at the command line.

    Parameters
    ----------
    max_degree : int, default=15
        Bound on the degree, for ``select="degree"``.
    bound : {"gain", "path", "top", "graph", "joint"}, default="gain"
        How the bound is met, for ``select="degree"``: by `ForwardSelection`, `L1Path`, `TopCoefficients`,
        `GraphForwardSelection` or `JointForwardSelection`.
    **settings
        Further settings, below.
    select : {"degree", "ebic", "valid", "strength", "theory"}, default="degree"
        Criterion that selects edges: the bound on the degree, or a point of each `L1Path` by `EBIC`, `HeldOut`,
        `FixedStrength` or `TheoryStrength`.
    price : float or "valid", default=3.84
        ``threshold`` of `ForwardSelection`; ``"valid"`` means `HeldOut`.
    gamma : float, default=0.25
        Weight of the extra term of `EBIC`.
    scale : {"raw", "standard"}, default="raw"
        Scale of the columns for `EBIC`.
    refit : bool or None, default=None
        Whether `EBIC` refits the regressions.
    select_strength : float
        ``strength`` of `FixedStrength`.
    theory : float, default=0.2
        ``constant`` of `TheoryStrength`.
    rule : {"or", "and"}, default="or"
        Rule of the learner; without effect if it has none.
    tolerance : float, default=1e-5
        Tolerance of the learner; without effect if it has none.
    require : sequence of pairs of str, default=()
        Pairs that must be neighbours.
    forbid : sequence of pairs of str, default=()
        Pairs that must not be neighbours.
    with_tree : bool or None, default=None
        ``include_chow_liu_tree`` of the learner.

    Returns
    -------
    PairwiseLearner
        The learner.

    Raises
    ------
    InputError
        If a word is unknown, or a setting has no effect with the others.

    Examples
    --------
    >>> from mrfit import EBIC, ForwardSelection, L1Path, Learned
    >>> Learned(max_degree=5) == ForwardSelection(max_degree=5)
    True
    >>> Learned(select="ebic", rule="and") == L1Path(EBIC(), rule="and")
    True
    """
    return LearnedSettings(max_degree, bound, **settings).learner()


@dataclass(frozen=True)
class LearnedSettings:
    """All settings of `Learned` in one list.

    Learner JSON, saved models and the keys of stored results hold a pairwise learner in this form, whatever its class.
    Names, order and defaults must therefore stay as they are; this class is the only translation in both directions.
    """

    max_degree: int = 15
    bound: str = "gain"
    price: float | str = THRESHOLD
    rule: str = "or"
    select: str = "degree"
    gamma: float = 0.25
    scale: str = "raw"
    refit: bool | None = None
    select_strength: float | None = None
    theory: float = 0.2
    require: Any = ()
    forbid: Any = ()
    with_tree: bool | None = None
    tolerance: float = 1e-5

    word: ClassVar[str] = PairwiseLearner.word

    @classmethod
    def of(cls, learner: PairwiseLearner) -> LearnedSettings:
        """Return the settings of a learner; those that it does not have keep their defaults."""
        parts: list[Any] = [learner]
        if isinstance(learner, L1Path):
            parts.append(learner.select)
            select = learner.select.word
            bound = "path" if select == MaxDegree.word else cls.bound
        else:
            select = MaxDegree.word
            bound = next(word for word, kind in _BOUNDS.items() if isinstance(learner, kind))
        settings = {_short(f.name): getattr(part, f.name) for part in parts for f in fields(part)}
        if isinstance(settings.get("price"), HeldOut):
            settings["price"] = HeldOut.word
        return cls(**{**settings, "select": select, "bound": bound})

    def learner(self) -> PairwiseLearner:
        """Make the learner; refuse settings that it does not have."""
        check_word("bound", self.bound, BOUNDS)
        check_word("selection", self.select, SELECTIONS)
        self._refuse_idle()
        if self.select == FixedStrength.word and self.select_strength is None:
            raise InputError(
                "Selection by strength needs a positive strength; got None. Give one: select_strength=200."
            )
        learner: PairwiseLearner = self._make(_learner_class(self.select, self.bound))
        return learner

    def _make(self, kind: Any) -> Any:
        return kind(**{f.name: self._setting(f.name) for f in fields(kind)})

    def _setting(self, name: str) -> Any:
        if name == "select":
            return self._make(_SELECTIONS[self.select])
        value = getattr(self, _short(name))
        return HeldOut() if name == "threshold" and value == HeldOut.word else value

    def _refuse_idle(self) -> None:
        """Refuse a setting that differs from its default and has no effect: it was meant to do something."""
        for setting in fields(self):
            value, need = getattr(self, setting.name), unmet_need(setting.name, self.select, self.bound)
            if need is not None and value != setting.default and setting.name not in _HARMLESS:
                word, choices = need
                raise InputError(
                    f"{setting.name}={value!r} has no effect with {word}={getattr(self, word)!r}: it needs "
                    f"{word}={choices[0]!r}. Leave one out."
                )


def unmet_need(setting: str, select: str, bound: str) -> tuple[str, list[str]] | None:
    """Find what a setting of `Learned` needs to have an effect.

    Returns
    -------
    The word to change, ``select`` or ``bound``, with the choices that have the setting; None if these have it.
    """
    if setting in _settings_with(select, bound):
        return None
    if bounds := [word for word in BOUNDS if setting in _settings_with(select, word)]:
        return "bound", bounds
    return "select", [word for word in SELECTIONS if any(setting in _settings_with(word, each) for each in BOUNDS)]


def _settings_with(select: str, bound: str) -> set[str]:
    """Settings of `Learned` that have an effect."""
    kind = _learner_class(select, bound)
    parts: list[Any] = [kind, _SELECTIONS[select]] if kind is L1Path else [kind]
    words = {"select", "bound"} if select == MaxDegree.word else {"select"}
    return words | {_short(f.name) for part in parts for f in fields(part)}


def _learner_class(select: str, bound: str) -> type[PairwiseLearner]:
    return _BOUNDS[bound] if select == MaxDegree.word else L1Path


def _short(name: str) -> str:
    return _SHORT.get(name, name)
