"""Pages of the API reference: one for each name in the tables of docs/reference.md.

The text is that of the docstrings, in numpydoc format, as `help()` shows it. Signatures show names and defaults alone;
types stand in the docstring, as public names that link.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes

REFERENCE = Path(__file__).parents[1] / "reference.md"
FOLDER = Path(__file__).parents[1] / "generated" / "api"

TABLE = re.compile(r"^\.\. autosummary::\n(?:   :.*\n)*\n((?:   \S+\n)+)", re.MULTILINE)
CODE = re.compile(r"(?<![`:\w])`([A-Za-z_][\w.]*)`(?![`_])")  # `Learner.fit`, but not ``value`` or :role:`name`

REQUEST = re.compile(r"_.*|set_\w+_request")  # private, or made by scikit-learn for pipelines

# Two names that differ in case alone would be one file on some systems.
FILES = {"mrfit.stability": "mrfit.stability-by-kind"}


@cache
def listed_names() -> tuple[str, ...]:
    """Return the full names in the tables of the reference page, in order."""
    tables = TABLE.findall(REFERENCE.read_text(encoding="utf-8"))
    return tuple(line.strip().lstrip("~") for table in tables for line in table.splitlines())


def found(name: str) -> Any:
    """Return the object of a full name such as ``mrfit.Learner``."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def called(value: Any) -> str:
    """Return a default as a user would write it: without the settings that have their own defaults."""
    if isinstance(value, type):
        return value.__name__
    if not is_dataclass(value):
        return repr(value)
    own = (f for f in fields(value) if f.init and getattr(value, f.name) != _default(f))
    return f"{type(value).__name__}({', '.join(f'{f.name}={called(getattr(value, f.name))}' for f in own)})"


def _default(field: Any) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


class _Text:
    """Text whose `repr` is itself: signatures print their defaults by `repr`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def signature(thing: Any, *, is_method: bool = False) -> str | None:
    """Return the names and defaults of the parameters, without types; None for what has no signature."""
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return None
    shown = []
    for parameter in parameters[is_method:]:
        default: Any = parameter.default
        if repr(default) == "<factory>":
            factory = thing.__dataclass_fields__[parameter.name].default_factory
            default = _Text(f"{factory.__qualname__}()")
        elif default is not parameter.empty:
            default = _Text(called(default))
        shown.append(parameter.replace(annotation=parameter.empty, default=default))
    return str(inspect.Signature(shown))


def members(cls: type) -> list[str]:
    """Return the public methods and properties to describe on the page of a class.

    Those of its public base classes stand on their pages, and again here if the class says more about them.
    """
    public = set(map(id, map(found, listed_names())))
    others = [base for base in cls.__mro__[1:] if id(base) in public]
    inherited = {name for base in others for name in dir(base)}
    names = []
    for base in reversed(cls.__mro__):
        if base.__module__.partition(".")[0] != "mrfit" or base in others:
            continue
        for name, value in vars(base).items():
            is_member = callable(value) or isinstance(value, classmethod | staticmethod) or hasattr(value, "__get__")
            if REQUEST.fullmatch(name) or not is_member or isinstance(value, type) or name in names:
                continue
            own = getattr(inspect.getattr_static(cls, name), "__func__", inspect.getattr_static(cls, name))
            doc = own.__doc__ or ("" if name in inherited else inspect.getdoc(getattr(cls, name)))
            if doc and not doc.startswith("Internal"):
                names.append(name)
    return names


def page(name: str) -> str:
    """Return the source of the page of a public name."""
    thing = found(name)
    title = name.removeprefix("mrfit.")
    lines = [title, "=" * len(title), ""]
    if inspect.isclass(thing):
        kind = "autoexception" if issubclass(thing, Exception) else "autoclass"
        listed = members(thing)
        lines += [f".. {kind}:: {name}"]
        lines += ["   :show-inheritance:"] if public_bases_of(thing) else []
        lines += [f"   :members: {', '.join(listed)}"] if listed else []
    elif callable(thing):
        lines += [f".. autofunction:: {name}"]
    else:
        lines += [f".. py:data:: {name}", f"   :type: {type(thing).__name__}", ""]
        lines += [f"   {described(thing)}"]
    return "\n".join([*lines, ""])


def described(thing: Any) -> str:
    """Return a sentence about a registry of parts, or about a format."""
    if isinstance(thing, Mapping):
        return f"Parts by their words: {', '.join(f'``{word}``' for word in thing)}."
    return f"Format ``{thing.word}``: {thing.meaning}. Its suffix is ``{thing.suffix}``."


def write_pages(app: Any) -> None:
    """Write the pages, and remove those of names that are no longer listed; unchanged ones are left alone."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    names = listed_names()
    app.config.autosummary_filename_map = FILES
    app.config.napoleon_type_aliases = {short: f":py:obj:`~{full}`" for short, full in _addresses().items()}
    paths = {FOLDER / f"{FILES.get(name, name)}.rst": name for name in names}
    for old in set(FOLDER.glob("*.rst")) - set(paths):
        old.unlink()
    for path, name in paths.items():
        text = page(name)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


@cache
def _addresses() -> dict[str, str]:
    """Return the full name of every listed name by its last part, the first listed one if there are two."""
    addresses: dict[str, str] = {}
    for name in listed_names():
        addresses.setdefault(name.rpartition(".")[2], name)
    return addresses


def _linked(line: str, addresses: dict[str, str]) -> str:
    """Return a line of a docstring whose names of public objects and of their members are links."""

    def link(found: re.Match[str]) -> str:
        first, _, rest = found[1].removeprefix("mrfit.").partition(".")
        if first not in addresses or (first.islower() and rest):
            return found[0]
        return f":py:obj:`{found[1]} <{addresses[first]}{'.' if rest else ''}{rest}>`"

    return CODE.sub(link, line)


def link_names(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    addresses = _addresses()
    lines[:] = [_linked(line, addresses) for line in lines]


def keep_properties(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Undo what napoleon does to a property: it takes the words before a colon for a type."""
    if what == "property":
        lines[:] = [_linked(line, _addresses()) for line in [*(inspect.getdoc(obj) or "").splitlines(), ""]]


def show_defaults(app: Any, what: str, name: str, obj: Any, options: Any, shown: Any, returns: Any) -> Any:
    """Show the real defaults, and no types."""
    if inspect.isclass(obj) and issubclass(obj, Enum):
        return "", None
    if what not in ("function", "method", "class", "exception") or shown is None:
        return shown, None
    is_method = what == "method" and not inspect.ismethod(obj) and "self" in inspect.signature(obj).parameters
    return signature(obj, is_method=is_method), None


def public_bases_of(cls: type) -> list[str]:
    """Return the full names of the nearest public classes that a class derives from, past private ones."""
    public = {id(found(each)): each for each in listed_names()}
    near = [base for base in cls.__mro__[1:] if id(base) in public]
    direct = [base for base in near if not any(issubclass(other, base) for other in near if other is not base)]
    return [public[id(base)] for base in direct]


def show_public_bases(app: Any, name: str, obj: Any, options: Any, bases: list[Any]) -> None:
    bases[:] = [f":py:obj:`~{base}`" for base in public_bases_of(obj)]


def draw_dashes(app: Any, document: nodes.document) -> None:
    """Put a dash between a parameter and its description, where Sphinx writes two hyphens."""
    for text in list(document.findall(lambda node: isinstance(node, nodes.Text) and node == " -- ")):
        text.parent.replace(text, nodes.Text(" – "))


def setup(app: Any) -> dict[str, bool]:
    """Connect the pages to a build of the site."""
    app.setup_extension("sphinx.ext.autosummary")
    app.config.autosummary_generate = False
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-signature", show_defaults)
    app.connect("autodoc-process-bases", show_public_bases)
    app.connect("autodoc-process-docstring", link_names, priority=400)  # before napoleon
    app.connect("doctree-read", draw_dashes)
    app.connect("autodoc-process-docstring", keep_properties, priority=600)  # after it
    return {"parallel_read_safe": True}
