"""Learners as JSON: every part a dict that names its kind and all its settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

import numpy as np

from mrfit.core.errors import InputError, listed
from mrfit.registry import learner_part
from mrfit.structures.nodewise.learned import LearnedSettings
from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner
from mrfit.structures.structure import Structure

SHORT = 16  # letters of a digest that tell files apart

_STRUCTURE = "structure"


def to_plain(value: Any, *, terse: bool = False) -> Any:
    """Only dicts, lists, numbers, words and None; ``terse`` leaves out settings that are as they are by themselves."""
    if isinstance(value, Structure):
        scopes = None if value.is_saturated else [block.tolist() for block in value.blocks.values()]
        return {"kind": _STRUCTURE, "n_variables": value.n_variables, "scopes": scopes}
    if isinstance(value, PairwiseLearner):
        value = LearnedSettings.of(value)
    if is_dataclass(value) and not isinstance(value, type):
        told = [f for f in fields(value) if not (terse and _is_default(f, getattr(value, f.name)))]
        stored = _stored_names(type(value))
        plain = {stored.get(f.name, f.name): to_plain(getattr(value, f.name), terse=terse) for f in told}
        return {"kind": kind_of(type(value))} | plain
    if isinstance(value, type):
        return kind_of(value)
    if isinstance(value, list | tuple):
        return [to_plain(each, terse=terse) for each in value]
    return value


def learner_digest(learner: Any) -> str:
    """Short digest of a learner or of a part of one; equal learners have equal digests."""
    return hashlib.sha256(json.dumps(to_plain(learner), sort_keys=True, default=str).encode()).hexdigest()[:SHORT]


def _is_default(setting: Field[Any], value: Any) -> bool:
    default = setting.default if setting.default_factory is MISSING else setting.default_factory()
    return default is not MISSING and bool(value == default)


def from_plain(document: Any, whole: type) -> Any:
    """Rebuild the object that `to_plain` described: one of the class ``whole``, with parts of the registry."""
    if isinstance(document, list):
        return tuple(from_plain(each, whole) for each in document)
    if not isinstance(document, dict):
        return document
    if "kind" not in document:
        raise InputError("There is no 'kind' to say which part of a learner this is.")
    kind = str(document["kind"])
    if kind == _STRUCTURE:
        return _structure(document)
    part = whole if kind == whole.__name__ else learner_part(kind)
    form: Any = LearnedSettings if issubclass(part, PairwiseLearner) else part
    field_of: dict[str, str] = {stored: name for name, stored in _stored_names(form).items()}
    settings = {field_of.get(str(name), str(name)): entry for name, entry in document.items() if name != "kind"}
    known = {f.name for f in fields(form)}
    unknown = sorted(set(settings) - known)
    if unknown:
        raise InputError(f"{kind!r} has no setting {unknown[0]!r}; its settings are {listed(sorted(known), limit=20)}.")
    made = form(**{name: from_plain(entry, whole) for name, entry in settings.items()})
    return made.learner() if isinstance(made, LearnedSettings) else made


def _stored_names(part: type) -> Mapping[str, str]:
    """Return the names in JSON of settings that have been renamed since, by their names of today."""
    names: Mapping[str, str] = getattr(part, "stored_names", {})
    return names


def kind_of(cls: type) -> str:
    """The word users know it by; the name of the class for what has none."""
    return getattr(cls, "word", None) or cls.__name__


def _structure(document: Mapping[str, Any]) -> Structure:
    n_variables, scopes = document.get("n_variables"), document.get("scopes")
    if not isinstance(n_variables, int):
        raise InputError(f"A structure has a number of variables; got {n_variables!r}.")
    if scopes is None:
        return Structure.up_to_order(n_variables, n_variables)
    return Structure.from_blocks(n_variables, {len(block[0]): np.array(block, np.int64) for block in scopes})
