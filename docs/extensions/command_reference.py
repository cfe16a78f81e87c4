"""The command reference, made from the parameters of commands when the site is built: one page for each command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import click

from mrfit.cli.cluster_options import cluster_option
from mrfit.cli.evidence_options import evidence_option
from mrfit.cli.files import writing
from mrfit.cli.full_help import FullHelp
from mrfit.cli.main import cli, command_groups
from mrfit.cli.model_options import effort_options, engine_option, from_option
from mrfit.cli.options import PartOption, common, reading, states_option
from mrfit.cli.picture_options import layout_options, title_option
from mrfit.cli.sections import SectionedCommand

DOCS = Path(__file__).parents[1]
FOLDER = "generated/commands"
SHARED_PAGE = "shared-options"
CONTEXT = click.Context(cli, info_name="mrfit", help_option_names=["-h", "--help"])

# Options of many commands, by heading, with a sentence about them.
SHARED: dict[str, tuple[str, tuple[Callable[[Any], Any], ...]]] = {
    "Reading tables": (
        "How mrfit reads DATA. [Conventions](../../conventions.md#reading-tables) has the details.",
        (reading, states_option),
    ),
    "Evidence": ("What is known. [Queries](../../queries.md) has examples.", (evidence_option,)),
    "Models and inference": (
        "How mrfit reads MODEL and computes answers. [Inference engines](../../inference.md) explains the engines.",
        (from_option, engine_option, effort_options),
    ),
    "Pictures": (
        "What pictures look like. [Pictures](../../pictures.md) has examples.",
        (title_option, layout_options),
    ),
    "Running and output": (
        "What every command takes. [Large tables and clusters](../../scale.md) explains `--cluster`.",
        (common, cluster_option, writing),
    ),
}


class Row(NamedTuple):
    """An option as a row of a table."""

    names: tuple[str, ...]
    values: str
    default: str
    text: str

    @property
    def name(self) -> str:
        return next(name for name in self.names if name.startswith("--"))

    def anchor(self, page: str) -> str:
        return f"{page.replace(' ', '-')}{self.name}"


def row(option: click.Option) -> Row:
    """Return the names, values, default and text (as Markdown) of an option."""
    text, words = option.help or "", getattr(option.type, "choices", ())
    if isinstance(option, PartOption):
        text, words = text.replace("{parts}", option.parts.help()), words or option.parts.forms
    return Row((*option.opts, *option.secondary_opts), _values(option, words), _default(option), marked(text, words))


def _values(option: click.Option, words: Iterable[str]) -> str:
    if option.is_flag:
        return "yes or no" if option.secondary_opts else "flag"
    if words and option.metavar in (None, "NAME"):
        return ", ".join(f"`{word}`" for word in words)
    metavar = option.metavar or option.type.name.upper()
    return f"`{metavar}`{_limits(option.type)}"


def _limits(kind: click.ParamType[Any]) -> str:
    """Return the range of a number, such as `` ≥ 0``."""
    low, high = getattr(kind, "min", None), getattr(kind, "max", None)
    if low is None:
        return "" if high is None else f" ≤ {high:g}"
    if high is None:
        return f" > {low:g}" if kind.min_open else f" ≥ {low:g}"  # type: ignore[attr-defined]
    return f", {low:g} to {high:g}"


def _default(option: click.Option) -> str:
    if option.required:
        return "required"
    if isinstance(option.show_default, str):
        return f"`{option.show_default}`"
    return f"`{option.default}`" if option.show_default else ""


def options_of(command: click.Command) -> list[click.Option]:
    return [each for each in command.params if isinstance(each, click.Option) and not each.hidden]


@cache
def shared_rows() -> dict[str, list[Row]]:
    """Return the shared options by heading."""
    made = {heading: [_command_with(stack) for stack in stacks] for heading, (_, stacks) in SHARED.items()}
    return {heading: [row(option) for each in made[heading] for option in options_of(each)] for heading in made}


def _command_with(stack: Callable[[Any], Any]) -> click.Command:
    return click.command(cls=SectionedCommand)(stack(lambda **_: None))


def commands() -> dict[str, click.Command]:
    """Return every command by its words, such as ``fit`` and ``data get``."""
    found: dict[str, click.Command] = {}
    for name in cli.list_commands(CONTEXT):
        command = cli.get_command(CONTEXT, name)
        assert command is not None
        found[name] = command
        if isinstance(command, click.Group):
            found |= {f"{name} {below}": command.commands[below] for below in command.list_commands(CONTEXT)}
    return found


# -- pages -------------------------------------------------------------------------------------------------------------


def index() -> str:
    """Return the list of commands, by group, for the page of all commands."""
    parts = []
    for heading, lines in command_groups().items():
        parts.append(f"## {heading}\n")
        parts += [
            f'- <a id="mrfit-{name}"></a>[`mrfit {name}`]({FOLDER}/{name}.md): {line}' for name, line in lines.items()
        ]
        parts.append("")
    names = [SHARED_PAGE, *(name for lines in command_groups().values() for name in lines)]
    tree = "\n".join(f"{FOLDER}/{name}" for name in names)
    shared = f"[Shared options]({FOLDER}/{SHARED_PAGE}.md) explains the options that many commands take."
    return "\n".join([shared, "", *parts, f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{tree}\n```", ""])


def shared_page() -> str:
    """Return the page of the options that many commands share."""
    parts = ["# Shared options", "Many commands take these options, and they mean the same everywhere."]
    for heading, (sentence, _) in SHARED.items():
        parts += [f"## {heading}", sentence, table(shared_rows()[heading], "shared")]
    return "\n\n".join([*parts, ""])


def command_page(name: str) -> str:
    """Return the page of a command, with those of its subcommands."""
    every = commands()
    below = [words for words in every if words.startswith(f"{name} ")]
    parts = [f"# mrfit {name}", *_body(name, every[name], level=2)]
    for words in below:
        parts += [f"## mrfit {words}", *_body(words, every[words], level=3)]
    guide = getattr(every[name], "guide", None)
    if guide is not None:
        parts += ["## See also", f"[{guide[0]}](../../{guide[1]})"]
    return "\n\n".join([*parts, ""])


def _body(words: str, command: click.Command, *, level: int) -> Iterator[str]:
    prose, examples = described(command)
    yield from prose[:1]
    context = click.Context(command, info_name=words, parent=CONTEXT)
    yield f"```text\n{' '.join(['mrfit', words, *command.collect_usage_pieces(context)])}\n```"
    yield from prose[1:]
    if examples:
        yield f"{'#' * level} Examples"
        yield f"```sh\n{examples}\n```"
    if not isinstance(command, click.Group):
        yield from _option_lists(words, command, level=level)


def _option_lists(words: str, command: click.Command, *, level: int) -> Iterator[str]:
    """Yield tables of the options that are explained here, and lists of those that are explained elsewhere."""
    shared = {each: heading for heading, rows in shared_rows().items() for each in rows}
    of_fit = set() if words == "fit" else set(map(row, options_of(commands()["fit"])))
    here: dict[str, list[Row]] = {}
    elsewhere: dict[str, list[Row]] = {}
    for heading, options in _sections(words, command).items():
        for each in map(row, options):
            if each in shared:
                elsewhere.setdefault(shared[each], []).append(each)
            elif each in of_fit:
                elsewhere.setdefault("Learning", []).append(each)
            else:
                here.setdefault(heading, []).append(each)
    for heading, rows in here.items():
        yield f"{'#' * level} {heading}"
        yield table(rows, f"mrfit-{words}")
    yield f"{'#' * level} Options explained elsewhere"
    yield "\n".join(_line(heading, rows, f"mrfit-{words}") for heading, rows in elsewhere.items())


def _sections(words: str, command: click.Command) -> dict[str, list[click.Option]]:
    context = click.Context(command, info_name=words, parent=CONTEXT)
    if not isinstance(command, SectionedCommand):
        return {"Options": options_of(command)}
    known = options_of(command)
    return {
        heading: [option for option in options if option in known]
        for heading, options in command.options_by_heading(context).items()
    }


def _line(heading: str, rows: Iterable[Row], page: str) -> str:
    """Return one line of links to options that another page explains."""
    home, other = ("fit", "mrfit-fit") if heading == "Learning" else (SHARED_PAGE, "shared")
    title = "[`mrfit fit`](fit.md)" if heading == "Learning" else f"[{heading}]({SHARED_PAGE}.md#{_slug(heading)})"
    links = [f'<a id="{each.anchor(page)}" href="{home}.html#{each.anchor(other)}">`{each.name}`</a>' for each in rows]
    return f"- {title}: {', '.join(links)}"


def _slug(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def table(rows: Iterable[Row], page: str) -> str:
    """Return options as a table, each with an anchor such as ``mrfit-fit--strength``."""
    lines = ["```{list-table}", ":class: command-options", ":header-rows: 1", ":widths: 21 20 12 47", ""]
    lines += ["* - Option", "  - Values", "  - Default", "  - Description"]
    for each in rows:
        names = "<br>".join(f"`{name}`" for name in each.names)
        link = f'<a id="{each.anchor(page)}" href="#{each.anchor(page)}">{names}</a>'
        lines += [f"* - {link}", f"  - {each.values}", f"  - {each.default}", f"  - {each.text}"]
    return "\n".join([*lines, "```"])


# -- text --------------------------------------------------------------------------------------------------------------

# Commands, options (with a quoted value), quoted words of the shell, JSON and UAI evidence become code.
_NAMES = "|".join(sorted(map(re.escape, commands()), key=len, reverse=True))
_VALUES = (
    "ebic|strength|theory|valid|degree|gain|joint|graph|standard|likelihood|grown|learned|draw|pairs|none|tree|em"
    "|observed|id"
)
CODE = re.compile(
    rf"mrfit (?:{_NAMES})(?![\w-])(?: --[\w-]+(?: (?:{_VALUES})(?![\w-]))?| -\w\b)*"
    rf"|--[a-z][\w-]*(?: '[^']*'| (?:{_VALUES})(?![\w-]))?"
    r"|'[^' ]*(?:\"[^']*|[*])[^']*'|''|\{.*\}|NAME~\S+|mrfit\[\w+\]|\w+://[\w.]+(?::\d+)?"
)


def marked(text: str, words: Iterable[str] = ()) -> str:
    """Return a text of the help as Markdown; ``words`` are code where the text explains them."""
    text, parts, end = " ".join(text.split()), [], 0
    for found in CODE.finditer(text):
        parts += [_escaped(text[end : found.start()]), f"`{found[0].strip()}`"]
        end = found.end()
    found_words = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    text = "".join([*parts, _escaped(text[end:])])
    return re.sub(rf"(?<=[.,:;] )({found_words})(?=: | \()", r"`\1`", text) if found_words else text


def _escaped(text: str) -> str:
    return re.sub(r"([*_`<>\[\]|\\])", r"\\\1", text)


def described(command: click.Command) -> tuple[list[str], str]:
    """Return the paragraphs of a command's description as Markdown, and its examples."""
    text = command.description(complete=True) if isinstance(command, FullHelp) else (command.help or "")
    prose, examples = [], []
    for paragraph in re.split(r"\n\s*\n", text):
        first, _, rest = paragraph.lstrip("\b\n").partition("\n")
        lines = "\n".join(line.removeprefix("  ") for line in rest.splitlines())
        if not paragraph.startswith("\b"):
            prose.append(marked(paragraph))
        elif first in ("Examples:", "More examples:"):
            examples.append(_commented(lines))
        elif lines:
            prose += [marked(first), f"```text\n{lines}\n```"]
    return prose, "\n".join(examples)


def _commented(lines: str) -> str:
    """Return commands with the words beside them as comments of the shell."""
    return re.sub(r"^(mrfit .*?\S)(  +)(?=[a-z])", r"\1\2# ", lines, flags=re.MULTILINE)


# -- Sphinx ------------------------------------------------------------------------------------------------------------


def write_pages(_: Any) -> None:
    folder = DOCS / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    pages = {SHARED_PAGE: shared_page()} | {name: command_page(name) for name in cli.list_commands(CONTEXT)}
    for path in folder.glob("*.md"):
        if path.stem not in pages:
            path.unlink()
    for name, content in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            path.write_text(content, encoding="utf-8")


def add_index(_: Any, page: str, source: list[str]) -> None:
    if page == "commands":
        source[0] += index()


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    app.connect("source-read", add_index)
    app.add_css_file("commands.css")
    return {"parallel_read_safe": True}
