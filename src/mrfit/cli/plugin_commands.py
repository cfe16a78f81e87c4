"""Commands of other packages: the entry points of the group ``mrfit.commands``.

    [project.entry-points."mrfit.commands"]
    states = "mrfit_states:command"

adds the click command ``command`` of that module as `mrfit states`. No plug-in is imported before its command is
invoked; `mrfit --help` takes the first line of the module's docstring from its source.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import click

from mrfit.cli.full_help import with_help_all
from mrfit.core.errors import MrfitError

GROUP = "mrfit.commands"


class PluginCommand(NamedTuple):
    """A command as a package declares it: its name, the package, and ``module:attribute``."""

    name: str
    package: str
    target: str

    def summary(self) -> str:
        """Return the line for the overview, or what is wrong with the plug-in."""
        try:
            return _first_line(_source_of(self.target.partition(":")[0].strip()))
        except Exception as error:  # of a file that is not ours: the other commands are listed all the same
            return f"Cannot be loaded: {_named(error)}."

    def load(self) -> click.Command:
        """Import the command, or make one that says why it cannot be imported."""
        from importlib.metadata import EntryPoint

        try:
            command = EntryPoint(self.name, self.target, GROUP).load()
            if not isinstance(command, click.Command):
                raise TypeError(f"{self.target} is not a click command")
        except Exception as error:  # of code that is not ours
            return _failing(
                self.name,
                f"The command {self.name!r} of the package {self.package!r} cannot be loaded: {_named(error)}. Update "
                "the package, or uninstall it.",
            )
        return with_help_all(command)


def plugin_commands() -> dict[str, PluginCommand]:
    """Find the commands that installed packages declare, sorted by name.

    Of two with one name, that of the package found first on the import path counts, as it does for modules.
    `importlib.metadata.entry_points` finds the same, but importing it takes a third of the time of `mrfit --help`.
    """
    found: dict[str, PluginCommand] = {}
    for package, declared in _declarations():
        for name, target in _entries(declared):
            found.setdefault(name, PluginCommand(name, package, target))
    return dict(sorted(found.items()))


def _declarations() -> Iterator[tuple[str, str]]:
    """Yield the name of every installed package with entry points, and its file of them."""
    packages = set()
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as entries:
                infos = sorted(entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info")))
        except OSError:  # it is not there, no folder, or not open to us
            continue
        for info in infos:  # not by pathlib: to import that takes longer than all of this
            package = os.path.basename(info).partition("-")[0].removesuffix(".egg").lower()  # noqa: PTH119
            if package not in packages:
                packages.add(package)
                yield package, _content(os.path.join(info, "entry_points.txt"))  # noqa: PTH118


def _content(path: str) -> str:
    """Read a file; one that is not there, or cannot be read, declares nothing."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return ""


def _entries(declared: str) -> Iterator[tuple[str, str]]:
    """Yield the names and targets of our group."""
    if f"[{GROUP}]" in declared:
        _, _, ours = declared.partition(f"[{GROUP}]")
        for line in ours.partition("\n[")[0].splitlines():
            name, sign, target = line.partition("=")
            if sign and not name.lstrip().startswith(("#", ";")):
                yield name.strip(), target.strip()


def _source_of(module: str) -> str:
    """Return the source of a module, empty if it has none; neither it nor the packages around it are imported."""
    name, places, origin = "", None, None
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        found = (finder.find_spec(name, places) for finder in sys.meta_path)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is None:
            raise ModuleNotFoundError(f"there is no module {name}")
        places, origin = spec.submodule_search_locations, spec.origin
    return _content(origin) if origin is not None and origin.endswith(".py") else ""


def _first_line(source: str) -> str:
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(".")


def _failing(name: str, message: str) -> click.Command:
    """Make a command that fails whatever its arguments are, `--help` included."""

    def fail(*_: Any, **__: Any) -> None:
        raise MrfitError(message)

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, callback=fail, add_help_option=False, context_settings=settings)
