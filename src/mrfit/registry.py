"""The registry of parts by name: those of the library, and those that plug-ins `register`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mrfit._names import BASES, IN_LEARNERS, NAMES
from mrfit.core.errors import InputError, listed

if TYPE_CHECKING:
    from mrfit.formats.model_format import ModelFormat
    from mrfit.inference.engine import Engine
    from mrfit.learning.objective_specs import ObjectiveSpec
    from mrfit.learning.penalty_spec import PenaltySpec
    from mrfit.parameterizations.parameterization import Parameterization
    from mrfit.solvers.method import Method
    from mrfit.structures.base import StructureLearner

__all__ = [
    "ENGINES",
    "FORMATS",
    "OBJECTIVES",
    "PARAMETERIZATIONS",
    "PENALTIES",
    "SOLVERS",
    "STRUCTURES",
    "Registry",
    "register",
]

T = TypeVar("T")

GROUP = "mrfit.plugins"  # the group of entry points

_registered: dict[str, dict[str, Any]] = {kind: {} for kind in NAMES}
_is_discovered = False


def register(part: T) -> T:
    """Register a part under its ``word``, as if it were one of the library's; usable as a class decorator.

    You can then select the part by this name in Python, at the command line, in the JSON of learners and in saved
    models. A package that lists it as an entry point of the group ``mrfit.plugins`` need not call this: mrfit loads
    these entry points when it meets an unknown name, and when it lists all names.

    Parameters
    ----------
    part : type or ModelFormat
        A subclass of `PenaltySpec`, `ObjectiveSpec`, `StructureLearner`, `Method`, `Parameterization` or `Engine`, or a
        `ModelFormat`.

    Returns
    -------
    type or ModelFormat
        The part itself.

    Raises
    ------
    InputError
        If the part has no word, the word is taken, or it derives from none of the base classes.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from mrfit import ChowLiuTree, learn, register
    >>> @register
    ... @dataclass(frozen=True)
    ... class MyTree(ChowLiuTree):
    ...     word = "my-tree"
    >>> learn({"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25}, "my-tree").model.n_edges
    1
    """
    kind = _checked_kind(part)
    word = getattr(part, "word", None)
    if not isinstance(word, str) or not word:
        raise InputError(f"{_shown(part)} has no word to register it by; give the class one, such as word = 'mine'.")
    for other in IN_LEARNERS if kind in IN_LEARNERS else (kind,):
        if word in NAMES[other] or not _is_same(_registered[other].get(word, part), part):
            raise InputError(f"There is a {other} {word!r} already; choose another word for {_shown(part)}.")
    _registered[kind][word] = part
    return part


class Registry(Mapping[str, T], Generic[T]):
    """All parts of a kind by name: a mapping that imports each part on first use.

    Listing the names, or looking up an unknown one, loads the installed plug-ins.

    Parameters
    ----------
    kind : str
        The kind, such as ``"penalty"``.

    See Also
    --------
    register : Adds a part.

    Examples
    --------
    >>> from mrfit.registry import PENALTIES
    >>> PENALTIES["l1"]
    <class 'mrfit.learning.penalty_specs.L1'>
    >>> "pseudo-counts" in PENALTIES
    True
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __getitem__(self, word: str) -> T:
        if word in NAMES[self.kind]:
            module, _, name = NAMES[self.kind][word].home.partition(":")
            return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]
        if word not in _registered[self.kind]:
            _discover()
        return _registered[self.kind][word]  # type: ignore[no-any-return]

    def __contains__(self, word: object) -> bool:
        if not isinstance(word, str) or word in NAMES[self.kind]:
            return isinstance(word, str)
        if word not in _registered[self.kind]:
            _discover()
        return word in _registered[self.kind]

    def __iter__(self) -> Iterator[str]:
        yield from NAMES[self.kind]
        _discover()  # only if the iteration goes beyond the parts of the library
        yield from tuple(_registered[self.kind])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def called(self, choice: Any, *extra: str) -> T:
        """Return the part with this name, or the argument itself if it is a part.

        Parameters
        ----------
        choice : str or part
            A name, or a part of this kind. Anything else is refused with a list of all names.
        *extra : str
            Further names for that list.
        """
        if choice in self:
            return self[choice]
        if not isinstance(choice, str) and _kind_of(choice) == self.kind:
            return choice  # type: ignore[no-any-return]
        raise InputError(f"There is no {self.kind} {choice!r}; choose one of {listed((*extra, *self), limit=24)}.")

    def help(self) -> str:
        """Return the text of ``--help`` on all parts: ``l2 (shrinks all parameters), l1 (...), ...``."""
        lines = {self.form(word): name.help for word, name in NAMES[self.kind].items()}
        lines |= {word: _first_line(part) for word, part in _registered[self.kind].items()}
        return ", ".join(f"{word} ({line})" if line else word for word, line in lines.items())

    @property
    def forms(self) -> tuple[str, ...]:
        """The spelling of each part: its name, or a name with an argument such as ``order:R``."""
        return tuple(map(self.form, self))

    def form(self, word: str) -> str:
        """Return the spelling of a part: its name, or a name with an argument such as ``order:R``."""
        name = NAMES[self.kind].get(word)
        return word if name is None else name.form or word


PENALTIES: Registry[type[PenaltySpec]] = Registry("penalty")
OBJECTIVES: Registry[type[ObjectiveSpec]] = Registry("objective")
STRUCTURES: Registry[type[StructureLearner]] = Registry("structure")
SOLVERS: Registry[type[Method[Any]]] = Registry("solver")
PARAMETERIZATIONS: Registry[type[Parameterization]] = Registry("parameterization")
ENGINES: Registry[type[Engine]] = Registry("engine")
FORMATS: Registry[ModelFormat] = Registry("format of models")

_IN_LEARNERS: tuple[Registry[Any], ...] = tuple(Registry(kind) for kind in IN_LEARNERS)


def learner_part(word: str) -> type:
    """Return the class that a description of a learner names."""
    for parts in _IN_LEARNERS:
        if word in NAMES[parts.kind]:
            return parts[word]  # type: ignore[no-any-return]
    for parts in _IN_LEARNERS:
        if word in parts:
            return parts[word]  # type: ignore[no-any-return]
    known = listed([word for parts in _IN_LEARNERS for word in parts], limit=60)
    raise InputError(
        f"There is no part of a learner called {word!r}; the parts are {known}. If it is a plug-in, install it, or "
        "import the module that registers it."
    )


def needs_arguments(kind: type) -> bool:
    """Return whether a name alone does not make a part, because one of its settings has no default."""
    return is_dataclass(kind) and any(
        f.init and f.default is MISSING and f.default_factory is MISSING for f in fields(kind)
    )


def _discover() -> None:
    """Load the entry points of other packages, once."""
    global _is_discovered
    if _is_discovered:
        return
    _is_discovered = True  # set first: a plug-in may list the names while it loads
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        try:
            part = point.load()
        except Exception as error:
            raise InputError(
                f"The plug-in {point.name!r} ({point.value}) does not load: {type(error).__name__}: {error}. Repair or "
                "uninstall it."
            ) from error
        if not isinstance(part, ModuleType):  # a module registers its parts itself
            register(part)


def _kind_of(part: Any) -> str | None:
    """Return the kind of a part, or None for anything else."""
    homes = (
        f"{base.__module__}:{base.__qualname__}" for base in (part if isinstance(part, type) else type(part)).__mro__
    )
    return next((BASES[home] for home in homes if home in BASES), None)


def _checked_kind(part: Any) -> str:
    kind = _kind_of(part)
    if kind is not None:
        return kind
    raise InputError(
        f"{_shown(part)} cannot be registered: it derives from none of "
        f"{listed([home.partition(':')[2] for home in BASES], limit=len(BASES))}."
    )


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two parts are the same, possibly imported twice."""
    return one is other or _shown(one) == _shown(other)


def _shown(part: Any) -> str:
    return f"{part.__module__}.{part.__qualname__}" if isinstance(part, type) else repr(part)


def _first_line(part: Any) -> str:
    """Return the first line of a registered part's docstring, or the meaning of a format."""
    text = (part.__doc__ if isinstance(part, type) else getattr(part, "meaning", "")) or ""
    if isinstance(part, type) and text.startswith(f"{part.__name__}("):  # a signature, which dataclasses put there
        return ""
    return text.strip().partition("\n")[0].rstrip(".")
