"""Options that several commands share, and the words in them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from click.shell_completion import CompletionItem

from mrfit._names import NAMES
from mrfit.cli.output import as_options, note
from mrfit.cli.progress import command_progress, reading_progress
from mrfit.core.errors import InputError

if TYPE_CHECKING:
    from mrfit.core.domain import Domain
    from mrfit.data.encoding import ParseOptions
    from mrfit.data.file_layout import LayoutOptions
    from mrfit.data.partitioned_table import PartitionedTable
    from mrfit.data.sources import Source
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.registry import Registry

STANDARD = "-"  # in the place of a file: standard input or output

Command = TypeVar("Command", bound=Callable[..., Any])


def stacked(*decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    def decorate(function: Command) -> Command:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def parameters_of(options: Callable[[Any], Any]) -> set[str]:
    """Names of the parameters that a stack of options makes."""
    return {str(parameter.name) for parameter in click.command()(options(lambda **_: None)).params}


def choice(name: str, *words: str, help: str) -> Callable[[Any], Any]:
    """An option that is one of ``words``, the first by default."""
    return click.option(name, type=click.Choice(words), default=words[0], show_default=True, help=help)


class PartChoice(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3
    """The words of a kind of parts, those of plug-ins too, which are looked for only where they are needed.

    ``extra`` words come first.
    """

    name = "choice"

    def __init__(self, parts: Registry[Any], *extra: str, case_sensitive: bool = True) -> None:
        self.parts, self.extra, self.case_sensitive = parts, extra, case_sensitive

    @property
    def choices(self) -> tuple[str, ...]:
        return (*self.extra, *self.parts)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{'|'.join(self.choices)}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        word = str(value) if self.case_sensitive else str(value).lower()
        if word not in self.extra and word not in self.parts:
            self.fail(f"{value!r} is not one of {', '.join(map(repr, self.choices))}.", param, ctx)
        return word

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(word) for word in self.choices if word.startswith(incomplete)]


def part_choice(name: str, parts: Registry[Any], *extra: str, help: str) -> Callable[[Any], Any]:
    """An option that is the word of a part, or one of ``extra``; the first of all by default."""
    first = next(iter((*extra, *NAMES[parts.kind])))
    return click.option(name, type=PartChoice(parts, *extra), default=first, show_default=True, help=help)


def _followed(command: Command) -> Command:
    """Have a log say every now and then that the command is still at work."""

    @wraps(command)
    def followed(*args: Any, **options: Any) -> Any:
        name = click.get_current_context().info_name or "mrfit"
        with command_progress(name, quiet=options["quiet"] or options["as_json"]):
            return command(*args, **options)

    return cast("Command", followed)


common = stacked(
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."),
    click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of whatever is random."
    ),
    click.option("--jobs", type=int, default=-1, show_default=True, help="Threads; -1 takes all processors."),
    click.option("--quiet", is_flag=True, help="No progress, notes or summary."),
    click.option("--verbose", "-v", is_flag=True, help="Say also how it is computed: engines, sizes, seconds."),
    _followed,
)

_NAMES = "NAME[,NAME...]"

unknown_option = choice(
    "--unknown",
    "error",
    "drop",
    help="What a value outside the known or declared states does: stop, or drop its row.",
)

layout = stacked(
    click.option(
        "--na-values",
        multiple=True,
        metavar="VALUE[,VALUE...]",
        help="Values that mean missing, besides NA, ? and so on.",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of text files names the columns; found out by default.",
    ),
    click.option(
        "--separator", metavar="CHAR", help="What separates fields: a character, or tab, space, ...; found by default."
    ),
    click.option("--encoding", help="Of text files, for instance latin-1; by default UTF-8, or UTF-16 if marked so."),
    click.option(
        "--format",
        type=click.Choice(["csv", "tsv", "txt", "data", "parquet", "items"]),
        help="What DATA is, whatever its name; standard input (-) is csv by default, items are lists of what is on.",
    ),
)

memory_option = click.option(
    "--memory",
    metavar="BYTES",
    help="What the rows of DATA may take while they are read, such as 2GB; by default most of what is free.",
)

_MISSING = "What a missing value does: stop, drop its row, or be a state of its own"
_KEPT = ("em", "observed")  # ways to deal with missing values that need them unobserved


def reading_with(*kept: str, help: str = "") -> Callable[[Any], Any]:
    """Options of reading, with further words for --missing."""
    missing = choice("--missing", "error", "drop", "state", *kept, help=f"{_MISSING}{help}.")
    return stacked(which_columns, missing, unknown_option, layout, memory_option)


which_columns = stacked(
    click.option(
        "--columns", multiple=True, metavar=_NAMES, help='Use only these columns; may be repeated, and "quoted, so".'
    ),
    click.option(
        "--exclude", multiple=True, metavar=_NAMES, help="Leave out these columns, for instance --exclude id."
    ),
    click.option(
        "--include",
        multiple=True,
        metavar=_NAMES,
        help="Keep these columns though they have another value in nearly every row.",
    ),
    click.option("--weight", metavar="COLUMN", help="Column that holds row weights or counts."),
)

reading = reading_with()


def names(texts: Sequence[str], option: str) -> tuple[str, ...]:
    """``a,b`` and ``"c, d"``, from an option that may be repeated."""
    try:
        rows = [next(csv.reader([text], skipinitialspace=True)) or [""] for text in texts]
    except csv.Error as error:
        raise InputError(f"{option} cannot be read: {error}; write it like {option} a,b.") from None
    found = tuple(name.strip() for row in rows for name in row)
    if not all(found):
        raise InputError(f"{option} {','.join(texts)!r} holds an empty name; write it like {option} a,b.")
    return found


def numbers(text: str, option: str) -> tuple[float, ...]:
    """``1,10,30`` as numbers."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"{option} {text!r} is not a number or a list of numbers; write it like 1 or 1,10,30."
        ) from None


def whole_numbers(text: str, option: str) -> tuple[int, ...]:
    """``1,2`` as integers; an empty text is none."""
    values = numbers(text, option) if text else ()
    if not all(value.is_integer() for value in values):
        raise InputError(f"{option} {text!r} must hold whole numbers; write it like 1 or 1,2.")
    return tuple(int(value) for value in values)


def data_path(text: str) -> Path:
    """A file, or a named data set such as ``nltcs:train``."""
    from mrfit.data.named_datasets import resolved

    return resolved(text)


def layout_of(options: Mapping[str, Any]) -> LayoutOptions:
    """How files are laid out, as the options of `layout` and --weight say."""
    return {
        "weight": options.get("weight"),
        "header": "auto" if options["header"] is None else bool(options["header"]),
        "separator": options["separator"],
        "encoding": options["encoding"],
        "na_values": names(options["na_values"], "--na-values"),
        "format": options["format"],
    }


def reading_of(
    options: Mapping[str, Any], *, domain: Domain | None = None, states: dict[str, list[str]] | None = None
) -> ParseOptions:
    """How values are understood, as the options of `reading` say."""
    from mrfit.data.encoding import ParseOptions

    return ParseOptions(
        domain,
        states,
        "keep" if options["missing"] in _KEPT else options["missing"],
        options["unknown"],
        names(options["columns"], "--columns") or None,
        names(options["exclude"], "--exclude"),
        names(options["include"], "--include"),
        memory=options.get("memory"),
    )


data_argument = click.argument("data", nargs=-1, required=True, metavar="DATA...")


def source_of(data: tuple[str, ...]) -> str | tuple[str, ...]:
    """One name, or several that are one table."""
    return data[0] if len(data) == 1 else data


def called(data: str | tuple[str, ...]) -> str:
    """What a summary calls a table."""
    return data if isinstance(data, str) else f"{data[0]} and {len(data) - 1} more"


def read_rows(
    text: Source,
    options: Mapping[str, Any],
    *,
    domain: Domain | None = None,
    states: dict[str, list[str]] | None = None,
) -> UniqueRows:
    """The distinct rows of a file or named data set, read as the options of `reading` say."""
    from mrfit.data.item_lists import is_item_list, read_items
    from mrfit.data.unique_rows import UniqueRows

    reading = reading_of(options, domain=domain, states=states)
    read = read_items if is_item_list(text, options["format"]) else UniqueRows.from_file
    with reading_progress(quiet=options["quiet"] or options["as_json"]) as progress:
        rows = read(text, reading, progress=progress, **layout_of(options))
    tell_notes(rows.notes, quiet=options["quiet"])
    return rows


def read_parts(
    source: Source, options: Mapping[str, Any], *, states: dict[str, list[str]] | None = None
) -> PartitionedTable:
    """The files of a table, and the states in them; rows stay where they are."""
    from mrfit.data.partitioned_table import PartitionedTable

    reading = reading_of(options, states=states)
    with reading_progress(quiet=options["quiet"] or options["as_json"]) as progress:
        parts = PartitionedTable.of(source, reading, progress=progress, **layout_of(options))
    tell_notes(parts.notes, quiet=options["quiet"])
    return parts


def check_one_stream(*inputs: str | None) -> None:
    """Refuse a second input that is standard input, before the first is read."""
    if inputs.count(STANDARD) > 1:
        raise InputError(
            f"Two inputs cannot both be standard input ({STANDARD}), which can be read once; name a file for one of "
            "them."
        )


def tell_notes(notes: Sequence[str], *, quiet: bool) -> None:
    """What is odd about a table, on stderr."""
    for text in () if quiet else notes:
        note(f"note: {as_options(text)}")


states_option = click.option(
    "--states", metavar="FILE", help='JSON file that declares states, in order: {"smoker": ["no", "yes"]}.'
)


def declared_states(path: str | None) -> dict[str, list[str]] | None:
    """States of some columns from a JSON file ``{"smoker": ["no", "yes"], ...}``."""
    if path is None:
        return None
    try:
        states = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"Cannot read the states file {path!r}: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"The states file {path!r} is not JSON ({error}).") from error
    if not isinstance(states, dict) or not all(isinstance(value, list) for value in states.values()):
        raise InputError(f'The states file {path!r} must look like {{"smoker": ["no", "yes"]}}.')
    return states
