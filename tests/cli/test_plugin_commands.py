"""Commands that other packages add to `mrfit`: listed without an import, and unable to harm the others."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from mrfit.cli.plugin_commands import GROUP, plugin_commands

Shell = Callable[..., Any]
Install = Callable[..., None]

HELLO = '''
"""Greet somebody."""

import click

from mrfit.core.errors import InputError


@click.command("hello")
@click.argument("name")
def command(name: str) -> None:
    if name == "nobody":
        raise InputError("Name somebody.")
    click.echo(f"hello {name}")
'''

BROKEN = {
    "gone": (None, "No module named 'plugin_gone'"),
    "syntax": ('"""Do this."""\n\ndef :\n', "SyntaxError: "),
    "dependency": ('"""Do this."""\n\nimport no_such_library\n', "No module named 'no_such_library'"),
    "attribute": ('"""Do this."""\n', "has no attribute 'command'"),
    "other": ('"""Do this."""\n\ncommand = print\n', "plugin_other:command is not a click command"),
}


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """``install("hello", HELLO)`` installs a package with one command; without a source its module is missing."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)

    def install(name: str, source: str | None, *, package: str | None = None) -> None:
        module = f"plugin_{(package or name).replace('-', '_')}"
        information = site / f"{package or name}-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package or name}\nVersion: 1.0\n")
        declared = (
            f"[console_scripts]\n{name} = {module}:main\n\n[{GROUP}]\n{name} = {module}:command\n\n[others]\na = b:c\n"
        )
        (information / "entry_points.txt").write_text(declared)
        if source is not None:
            (site / f"{module}.py").write_text(source)
        monkeypatch.delitem(sys.modules, module, raising=False)

    return install


def test_a_plug_in_is_listed_and_not_imported(shell: Shell, install: Install) -> None:
    install("hello", HELLO)
    ran = shell("--help")
    assert ran.out.endswith("\n\nPlug-ins:\n  hello           Greet somebody\n")
    assert "plugin_hello" not in sys.modules


def test_a_plug_in_runs(shell: Shell, install: Install) -> None:
    install("hello", HELLO)
    assert shell("hello", "you").out == "hello you\n"
    text = shell("hello", "--help").out
    assert text.startswith("Usage: mrfit hello ")
    assert "--help-all" not in text
    assert shell("hello", "--help-all").out == text == shell("help", "hello").out


def test_an_error_of_a_plug_in_is_one_line(shell: Shell, install: Install) -> None:
    install("hello", HELLO)
    ran = shell("hello", "nobody")
    assert (ran.code, ran.out, ran.err) == (2, "", "mrfit: Name somebody.\n")
    assert shell("hello").err == "mrfit: Missing argument 'NAME'. See `mrfit hello --help`.\n"


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("arguments", [(), ("--help",), ("-x", "1", "file.csv")])
def test_a_broken_plug_in_gives_one_line(name: str, arguments: tuple[str, ...], shell: Shell, install: Install) -> None:
    source, reason = BROKEN[name]
    install(name, source)
    ran = shell(name, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 1
    assert ran.err.startswith(f"mrfit: The command {name!r} of the package {name!r} cannot be loaded: ")
    assert reason in ran.err


def test_broken_plug_ins_leave_the_others_alone(shell: Shell, install: Install) -> None:
    install("hello", HELLO)
    for name, (source, _) in BROKEN.items():
        install(name, source)
    ran = shell("--help")
    assert (ran.code, ran.err) == (0, "")
    assert "  Greet somebody\n" in ran.out
    assert "Cannot be loaded: ModuleNotFoundError: there is no module plugin_gone" in " ".join(ran.out.split())
    assert "Cannot be loaded: SyntaxError: " in ran.out
    assert shell("hello", "you").out == "hello you\n"
    assert shell("data", "--help").code == 0


def test_no_plug_in_replaces_a_command_of_mrfit(shell: Shell, install: Install) -> None:
    install("fit", HELLO)
    assert "Greet somebody" not in shell("--help").out
    assert "--penalty" in shell("fit", "--help").out


def test_the_first_of_two_plug_ins_counts(install: Install) -> None:
    install("hello", HELLO, package="b")
    install("hello", HELLO, package="a")
    assert plugin_commands()["hello"] == ("hello", "a", "plugin_a:command")


def test_what_is_no_folder_on_the_import_path_is_passed_over(
    shell: Shell, install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("hello", HELLO)
    (tmp_path / "file.zip").write_bytes(b"")
    for name in ("file.zip", "absent"):
        monkeypatch.syspath_prepend(tmp_path / name)
    assert "  Greet somebody\n" in shell("--help").out


def test_an_unknown_command_is_none_of_a_plug_in(shell: Shell) -> None:
    assert "No such command 'helo'" in shell("helo").err


def test_entry_points_are_those_that_the_standard_library_finds(install: Install) -> None:
    """`mrfit reproduce` among them, which this distribution declares as any other would."""
    install("hello", HELLO)
    install("two-words", None)
    expected = {point.name: point.value for point in entry_points(group=GROUP)}
    assert {name: command.target for name, command in plugin_commands().items()} == expected
    assert expected["reproduce"] == "mrfit_papers.command:command"
