"""Public docstrings follow numpydoc, document every parameter with its real default, and their examples run."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from public_objects import PUBLIC
from test_language import FRAGMENT

CALLABLE = {name: thing for name, thing in PUBLIC.items() if callable(thing)}
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (.+(?:\n(?=\S).+)*))?$", re.MULTILINE)
DEFAULT = re.compile(r"default[= ](.+)$")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
REQUEST = re.compile(r"set_\w+_request")  # made by scikit-learn

NOT_RUN = {"mrfit.cluster"}  # it starts processes; tests/core/test_cluster.py does so with more patience


def sections(doc: str) -> dict[str, str]:
    """Return the text of each section by its heading, the summary and the prose below it under ''."""
    parts = SECTION.split(doc)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def entries(text: str) -> dict[str, str | None]:
    """Return the type of each name of a section; None for a name without a type."""
    found = {}
    for names, kind in ENTRY.findall(text):
        found.update({name.strip("*"): kind or None for name in names.split(", ")})
    return found


def shared_faults(doc: str) -> Iterator[str]:
    """Yield the names of more than two parameters with one text."""
    for text in sections(doc).values():
        yield from (f"{names} share one text" for names, _ in ENTRY.findall(text) if names.count(",") > 1)


def documented(doc: str) -> dict[str, str | None]:
    found = sections(doc)
    return {**entries(found.get("Parameters", "")), **entries(found.get("Attributes", ""))}


def parameters(thing: Any) -> dict[str, inspect.Parameter]:
    if inspect.isclass(thing) and (issubclass(thing, Enum) or "__init__" not in dir_of_library(thing)):
        return {}  # of an enumeration, or of Python itself
    found = dict(inspect.signature(thing).parameters)
    found.pop("self", None)
    found.pop("cls", None)
    return found


def dir_of_library(cls: type) -> set[str]:
    """Return the names that the library's own classes define."""
    return {name for base in cls.__mro__ if base.__module__.startswith("mrfit") for name in vars(base)}


def is_default(text: str, value: Any) -> bool:
    """Whether a documented default is the real one."""
    if repr(value) == "<factory>":
        return True  # a dictionary or an empty record
    try:
        return bool(ast.literal_eval(text) == value)
    except (ValueError, SyntaxError):
        shown = value.__name__ if isinstance(value, type) else repr(value)
        return text == shown or text.partition("(")[0] == type(value).__name__


def parameter_faults(thing: Any, docs: list[str]) -> Iterator[str]:
    """Compare the documented parameters, of which ``docs`` may be several texts, with the signature."""
    real, known = parameters(thing), {}
    for doc in reversed(docs):
        known.update(documented(doc))
    yield from shared_faults(docs[0])
    takes_more = any(each.kind is each.VAR_KEYWORD for each in real.values())
    for name, parameter in real.items():
        if name not in known:
            if parameter.kind is not parameter.VAR_KEYWORD:
                yield f"{name} is not documented"
            continue
        kind = known[name]
        if parameter.kind is parameter.VAR_KEYWORD or name in entries(sections(docs[0]).get("Attributes", "")):
            continue
        if kind is None:
            yield f"{name} has no type"
        elif (default := DEFAULT.search(kind)) and not is_default(default[1], parameter.default):
            yield f"the default of {name} is {parameter.default!r}, not {default[1]}"
        elif parameter.default is not parameter.empty and not default and "optional" not in kind:
            yield f"the default of {name} is not documented"
    for name in entries(sections(docs[0]).get("Parameters", "")):
        if name not in real and not takes_more:
            yield f"{name} is documented, but is no parameter"


def summary_faults(doc: str) -> Iterator[str]:
    summary = doc.partition("\n\n")[0]
    if not summary or "\n" in summary or not summary.endswith(".") or FRAGMENT.match(summary):
        yield f"its summary is no sentence of one line: {summary!r}"


def members(cls: type) -> Iterator[tuple[str, bool]]:
    """Yield the names of public methods and properties that the library defines, and whether each is a method."""
    for name in dir(cls):
        homes = [base for base in cls.__mro__ if name in vars(base)]
        if name.startswith("_") or REQUEST.fullmatch(name) or not homes[0].__module__.startswith("mrfit"):
            continue
        value = inspect.getattr_static(cls, name)
        if isinstance(value, property | cached_property):
            yield name, False
        elif inspect.isfunction(value) or isinstance(value, classmethod | staticmethod):
            yield name, True


def member_faults(cls: type) -> Iterator[str]:
    for name, is_method in members(cls):
        own = [vars(base)[name] for base in cls.__mro__ if name in vars(base)]
        docs = [inspect.cleandoc(each.__doc__) for each in own if each.__doc__]
        if not docs:
            yield f"{name} has no docstring"
            continue
        yield from (f"{name}: {fault}" for fault in summary_faults(docs[0]))
        if is_method and len(parameters(getattr(cls, name))) > 1:
            yield from (f"{name}: {fault}" for fault in parameter_faults(getattr(cls, name), docs))


def returns_something(thing: Any) -> bool:
    return inspect.signature(thing).return_annotation not in (None, "None", inspect.Signature.empty)


def faults(thing: Any) -> list[str]:
    """List what is wrong with the docstring of a public class or function."""
    doc = inspect.cleandoc(thing.__doc__ or "")
    found = [*summary_faults(doc), *parameter_faults(thing, [doc])]
    if "Examples" not in sections(doc) or ">>>" not in sections(doc)["Examples"]:
        found.append("it has no example")
    if inspect.isclass(thing):
        return [*found, *member_faults(thing)]
    if returns_something(thing) and not {"Returns", "Yields"} & sections(doc).keys():
        found.append("it does not say what it returns")
    return found


@pytest.mark.parametrize("name", CALLABLE)
def test_docstring(name: str) -> None:
    assert not faults(CALLABLE[name])


@pytest.mark.parametrize("name", CALLABLE)
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    said: list[str] = []
    for test in doctest.DocTestFinder().find(CALLABLE[name], name, module=False, globs={}):
        assert name in NOT_RUN or not any(doctest.SKIP in example.options for example in test.examples)
        runner.run(test, out=said.append)
    assert not said, "".join(said)
