"""Options that would do nothing in their combination are refused, not ignored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass

import click
from click.core import ParameterSource

from mrfit._names import NAMES
from mrfit.core.errors import InputError
from mrfit.registry import PENALTIES


@dataclass(frozen=True)
class Rule:
    """Parameters that have an effect only where something ``holds``; ``needs`` says what."""

    parameters: tuple[str, ...]
    holds: bool
    needs: str


def penalties_with(setting: str) -> list[str]:
    """Words of the library's penalties that have such a setting."""
    return [word for word in NAMES["penalty"] if has_setting(PENALTIES[word], setting)]


def has_setting(kind: type, setting: str) -> bool:
    return is_dataclass(kind) and setting in {field.name for field in fields(kind)}


def one_of(words: Sequence[str]) -> str:
    """``l1, group or tied``."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def refuse_idle(context: click.Context, rules: Iterable[Rule]) -> None:
    """Raise for an option that was typed and has no effect."""
    for rule in rules:
        for name in () if rule.holds else rule.parameters:
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise InputError(f"{_option(context, name)} has no effect here: it needs {rule.needs}. Leave one out.")


def _option(context: click.Context, name: str) -> str:
    """Return an option as the user may have typed it."""
    return next(parameter.opts[0] for parameter in context.command.params if parameter.name == name)
