"""Help of commands: short by ``--help``, complete by ``--help-all``, plain, and no wider than a terminal."""

from __future__ import annotations

import importlib
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from mrfit import cli
from mrfit.cli.main import GROUPS, command_groups
from mrfit.cli.main import cli as mrfit
from mrfit.cli.sections import MAIN, SectionedCommand
from test_language import FRAGMENT, WORD

Shell = Callable[..., Any]

DOCS = Path(__file__).parents[2] / "docs"
CONTEXT = click.Context(mrfit, info_name="mrfit", help_option_names=["-h", "--help"])


def _commands(group: click.Group = mrfit, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command with its words, `mrfit` itself and its groups too."""
    yield above, group
    for name in group.list_commands(CONTEXT):
        command = group.get_command(CONTEXT, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, (*above, name))
        else:
            yield (*above, name), command


COMMANDS = dict(_commands())
LONG = {words: command for words, command in COMMANDS.items() if getattr(command, "sections", None)}

every_command = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
every_long_command = pytest.mark.parametrize("words", LONG, ids=" ".join)


def _options(command: click.Command) -> list[click.Option]:
    return [option for option in command.params if isinstance(option, click.Option) and not option.hidden]


def _shown(text: str) -> list[str]:
    """The options of a help text, by their first lines, below the first heading."""
    _, _, lists = text.partition("ptions:\n")
    return re.findall(r"^  (?:-\w, )?(--[\w-]+)", lists, re.MULTILINE)


@every_command
@pytest.mark.parametrize("option", ["--help", "--help-all"])
def test_help_fits_a_terminal(words: tuple[str, ...], option: str, shell: Shell) -> None:
    ran = shell(*words, option)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(" ".join(["Usage: mrfit", *words]))
    assert [line for line in ran.out.splitlines() if len(line) > 80] == []


@every_command
def test_short_help_shows_at_most_ten_options(words: tuple[str, ...], shell: Shell) -> None:
    shown = [option for option in _shown(shell(*words, "--help").out) if not option.startswith("--help")]
    assert len(shown) == len(set(shown)) <= 10


@every_command
def test_complete_help_shows_every_option_once(words: tuple[str, ...], shell: Shell) -> None:
    shown = _shown(shell(*words, "--help-all").out)
    names = [
        max(option.opts, key=len) for option in _options(COMMANDS[words]) if option.opts != ["--evidence", "--given"]
    ]
    aliased = [option.opts[0] for option in _options(COMMANDS[words]) if option.opts == ["--evidence", "--given"]]
    expected = [*names, *aliased] if words else []  # the overview lists commands
    assert sorted(shown) == sorted([*expected, *(["--help", "--help-all"] if words else [])])


@every_long_command
def test_short_help_says_where_to_read_on(words: tuple[str, ...], shell: Shell) -> None:
    short, complete = shell(*words, "--help").out, shell(*words, "--help-all").out
    assert f"\nAll options: mrfit {' '.join(words)} --help-all\n" in short
    assert "All options:" not in complete
    assert _shown(short)[:-1] == [
        max(option.opts, key=lambda name: (option.opts != ["--evidence", "--given"], len(name)))
        for name in LONG[words].sections[MAIN]
        for option in _options(LONG[words])
        if option.name == name
    ]
    assert _shown(short)[-1] == "--help"


@pytest.mark.parametrize("words", [words for words in COMMANDS if len(words) == 1], ids=" ".join)
def test_every_command_names_its_guide(words: tuple[str, ...], shell: Shell) -> None:
    title, page = COMMANDS[words].guide
    assert shell(*words, "--help").out.endswith(f"\nGuide: {title} (docs/{page})\n")
    assert (DOCS / page).is_file()


@every_long_command
def test_headings_name_only_options_there_are(words: tuple[str, ...]) -> None:
    command = LONG[words]
    assert isinstance(command, SectionedCommand)
    known = {parameter.name for parameter in command.params}
    assert {each for names in command.sections.values() for each in names} <= known


def test_help_of_fit_is_a_page_and_a_half(shell: Shell) -> None:
    text = shell("fit", "--help").out
    assert len(text.splitlines()) <= 60
    assert len(_shown(text)) == 11  # ten, and --help
    assert 2 <= text.count("\n    mrfit fit ") <= 3
    complete = shell("fit", "--help-all").out
    headings = re.findall(r"^(\w[\w ]*):$", complete, re.MULTILINE)
    sections = ["Data", "Structure", "Penalty and parameterization", "Tying", "Solver", "Output", "Other"]
    assert headings == ["Main options", *sections]


@every_command
def test_every_option_is_explained_in_plain_sentences(words: tuple[str, ...]) -> None:
    for option in _options(COMMANDS[words]):
        for text in filter(None, (option.help, getattr(option, "short", None))):
            opening = re.sub(r"^(For|With) --[\w -]+: ", "", text)
            assert opening[:1].isupper() or opening != text, (option.name, text)
            assert text.endswith("."), (option.name, text)
            assert opening.startswith("How to ") or not FRAGMENT.match(opening), (option.name, text)
            assert not WORD.search(text), (option.name, text)
        assert option.help or option.name == "version", option.name


@every_command
def test_every_command_opens_with_its_purpose(words: tuple[str, ...]) -> None:
    text = COMMANDS[words].description(complete=True)
    first = " ".join(text.partition("\n\n")[0].split())
    assert first.endswith(".")
    assert not FRAGMENT.match(first)
    assert len(first.split()) <= 20


def _examples(text: str) -> list[list[str]]:
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.startswith("  mrfit ")]
    return [shlex.split(re.split(r"  (?=[a-z ])| [|>] ", line)[0]) for line in lines]


def test_every_example_is_a_command_that_is_understood() -> None:
    """Word for word; pages run commands, which need files and time."""
    examples = [words for command in COMMANDS.values() for words in _examples(command.description(complete=True))]
    assert len(examples) > 80
    for _, name, *arguments in examples:
        command = mrfit.get_command(CONTEXT, name)
        assert command is not None, name
        context = command.make_context(name, arguments)
        if isinstance(command, click.Group):
            _, below, rest = command.resolve_command(context, [*context._protected_args, *context.args])
            assert below is not None
            below.make_context(below.name, rest)


def test_every_command_is_in_one_group_of_the_overview(shell: Shell) -> None:
    groups = command_groups()
    assert list(groups) == [*GROUPS, "Papers"]
    names = [name for lines in groups.values() for name in lines]
    assert len(names) == len(set(names))
    assert set(names) == set(mrfit.list_commands(CONTEXT))
    lines = shell("--help").out.splitlines()
    for heading, commands in groups.items():
        start = lines.index(f"{heading}:")
        assert [line.split()[0] for line in lines[start + 1 : start + 1 + len(commands)]] == list(commands)
        for line in commands.values():
            assert not FRAGMENT.match(line)
            assert not line.endswith(".")
            assert any(shown.endswith(f"  {line}") for shown in lines), line  # in one piece


@pytest.mark.parametrize("words", [(), ("fit",), ("data",), ("data", "get")], ids=" ".join)
def test_help_is_a_word_too(words: tuple[str, ...], shell: Shell) -> None:
    assert shell("help", *words).out == shell(*words, "--help").out


def test_help_of_no_command_says_so(shell: Shell) -> None:
    ran = shell("help", "fti")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "mrfit: No such command 'fti'. Did you mean 'fit'? See `mrfit --help`.\n"
    assert shell("fti").err == ran.err
    assert shell("qwxz").err == "mrfit: No such command 'qwxz'. See `mrfit --help`.\n"


def test_show_says_in_words_how_a_model_was_learned(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n0,1\n1,0\n1,1\n0,0\n0,1\n")
    shell("fit", "t.csv", "--valid", "t.csv", "--strength", "1,10", "-o", "m.mrf")
    lines = shell("show", "m.mrf").out.splitlines()
    assert not any("kind" in line for line in lines)
    learned = "learned: all pairs, l2, strength 1 chosen on validation rows, by pseudo-likelihood"
    assert learned in shell("show", "m.mrf").words
    assert "to learn it again: mrfit fit --like MODEL DATA --valid FILE" in lines


def test_a_long_list_of_unbounded_parameters_is_cut(shell: Shell, tmp_path: Path) -> None:
    names = [f"c{k}" for k in range(30)]
    rows = [",".join(str(int(k == r)) for k in range(30)) for r in range(30)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *rows, ""]))
    out = shell("fit", "t.csv", "--penalty", "none").out
    sentence = re.search(r"^\d+ parameters are unbounded.*?in all\)$", out, re.MULTILINE | re.DOTALL)
    assert sentence is not None
    assert len(sentence[0]) < 500
    assert max(map(len, out.splitlines())) <= 80


def test_given_is_evidence_and_nothing_else() -> None:
    """Commands that learn have covariates; `--given` is an alias of `--evidence` wherever it is known."""
    of_commands = {
        path.stem: [option.opts for option in command.params if isinstance(option, click.Option)]
        for path in Path(cli.__file__).parent.glob("*.py")
        if isinstance(
            command := getattr(importlib.import_module(f"mrfit.cli.{path.stem}"), "command", None), click.Command
        )
    }
    assert {name for name, options in of_commands.items() if ["--evidence", "--given"] in options} == {
        "query", "sample", "logz", "report", "explore",
    }  # fmt: skip
    assert {name for name, options in of_commands.items() if ["--covariates"] in options} == {
        "fit", "structure", "stability", "compare_groups", "power",
    }  # fmt: skip
    spelled = [opts for options in of_commands.values() for opts in options if any("given" in name for name in opts)]
    assert all(opts == ["--evidence", "--given"] for opts in spelled)
