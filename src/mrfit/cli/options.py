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
from mrfit.cli.full_help import shows_all
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
_LONGEST_METAVAR = 48

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
        listed = f"[{'|'.join(self.choices)}]"
        return listed if len(listed) <= _LONGEST_METAVAR else "NAME"  # the help names them

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        word = str(value) if self.case_sensitive else str(value).lower()
        if word not in self.extra and word not in self.parts:
            self.fail(f"{value!r} is not one of {', '.join(map(repr, self.choices))}.", param, ctx)
        return word

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(word) for word in self.choices if word.startswith(incomplete)]


class PartOption(click.Option):
    """An option whose help text lists all parts of a kind in the place of ``{parts}``, those of plug-ins too.

    ``short`` is its text in short help.
    """

    def __init__(self, *args: Any, parts: Registry[Any], short: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.parts, self.short = parts, short

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record, text = super().get_help_record(ctx), self.help or ""
        shown = text.replace("{parts}", self.parts.help()) if shows_all(ctx) else self.short
        return record and (record[0], record[1].replace(text, shown))


def part_choice(name: str, parts: Registry[Any], *extra: str, help: str, short: str) -> Callable[[Any], Any]:
    """An option that is the word of a part, or one of ``extra``; the first of all by default."""
    settings = {"type": PartChoice(parts, *extra), "default": next(iter((*extra, *NAMES[parts.kind])))}
    return click.option(name, cls=PartOption, parts=parts, **settings, show_default=True, help=help, short=short)


def _followed(command: Command) -> Command:
    """Log at intervals that the command is still at work."""

    @wraps(command)
    def followed(*args: Any, **options: Any) -> Any:
        name = click.get_current_context().info_name or "mrfit"
        with command_progress(name, quiet=options["quiet"] or options["as_json"]):
            return command(*args, **options)

    return cast("Command", followed)


common = stacked(
    click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document to standard output, and nothing else there."
    ),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed."),
    click.option("--jobs", type=int, default=-1, show_default=True, help="Number of threads; -1 uses all processors."),
    click.option("--quiet", is_flag=True, help="Print no progress, notes or summary."),
    click.option(
        "--verbose",
        "-v",
        is_flag=True,
        help="Also print how results are computed: engines, sizes and seconds.",
    ),
    _followed,
)

_NAMES = "NAME[,NAME...]"

unknown_option = choice(
    "--unknown",
    "error",
    "drop",
    help="How to handle values outside the known states: stop with an error, or drop the row.",
)

layout = stacked(
    click.option(
        "--na-values",
        multiple=True,
        metavar="VALUE[,VALUE...]",
        help="Codes for missing values, in addition to empty fields, NA, NaN, null, N/A, ? and *. Repeatable.",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of a text file names the columns; detected by default.",
    ),
    click.option(
        "--separator",
        metavar="CHAR",
        help="Field separator: one character, or tab, space, comma, semicolon, colon or pipe; detected by default.",
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        help="Encoding of text files, such as latin-1; by default UTF-8, or UTF-16 with a byte order mark.",
    ),
    click.option(
        "--format",
        type=click.Choice(["csv", "tsv", "txt", "data", "parquet", "items"]),
        help="Format of DATA; by default taken from its suffix, or csv for standard input (-). items: each line lists "
        "the items of a row, as in market baskets.",
    ),
)

memory_option = click.option(
    "--memory",
    metavar="BYTES",
    help="Memory limit for reading the rows of DATA, such as 2GB; by default 80 % of the free memory.",
)

_MISSING = (
    "How to handle missing values. error: stop. drop: drop the row (listwise deletion). state: add a state 'missing'."
)
_KEPT = ("em", "observed")  # ways to deal with missing values that need them unobserved


def reading_with(*kept: str, help: str = "", default: str = "error") -> Callable[[Any], Any]:
    """Options of reading, with further words for --missing, which ``help`` explains."""
    missing = click.option(
        "--missing",
        type=click.Choice(["error", "drop", "state", *kept]),
        default=default,
        show_default=True,
        help=f"{_MISSING} {help}".rstrip(),
    )
    return stacked(which_columns, missing, unknown_option, layout, memory_option)


which_columns = stacked(
    click.option(
        "--columns",
        multiple=True,
        metavar=_NAMES,
        help="Use only these columns. Repeatable; quote names that contain commas: --columns '\"a, b\",c'.",
    ),
    click.option(
        "--exclude", multiple=True, metavar=_NAMES, help="Leave out these columns, such as --exclude id. Repeatable."
    ),
    click.option(
        "--include",
        multiple=True,
        metavar=_NAMES,
        help="Keep these columns although they are ID-like, with a different value in nearly every row. Repeatable.",
    ),
    click.option("--weight", metavar="COLUMN", help="Column of row weights or counts; it is not a variable."),
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
    """Return the layout of files that the options of `layout` and --weight describe."""
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
    """Return how to parse values, as the options of `reading` describe it."""
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
    """Name of a table in summaries."""
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
    """Print notes on oddities of a table to standard error."""
    for text in () if quiet else notes:
        note(f"note: {as_options(text)}")


states_option = click.option(
    "--states", metavar="FILE", help='JSON file with the states of variables, in order: {"smoker": ["no", "yes"]}.'
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
