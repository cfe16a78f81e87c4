"""Commands with many options: their help under headings, bare options, and options by their earlier names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from mrfit._renamed import OPTIONS, message
from mrfit.cli.bare_options import with_bare_values
from mrfit.cli.output import note

_WORDS = "mrfit.words"  # in the `click.Context.meta` of a command


def words_of(context: click.Context) -> tuple[str, ...]:
    """The words that a command was called with, as they were written."""
    words: tuple[str, ...] = context.meta[_WORDS]
    return words


class SectionedCommand(click.Command):
    """Lists its options under headings.

    Parameters
    ----------
    sections
        Names of parameters by heading, in the order of the page. A parameter stands under the first heading that names
        it; those that none names stand under "Other".
    """

    def __init__(self, *args: Any, sections: Mapping[str, Iterable[str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = {heading: frozenset(names) for heading, names in sections.items()}

    def heading_of(self, name: str) -> str:
        return next((heading for heading, names in self.sections.items() if name in names), "Other")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_WORDS] = tuple(args)
        return super().parse_args(ctx, with_bare_values(self, ctx, self._by_new_names(ctx, args)))

    def _by_new_names(self, ctx: click.Context, words: list[str]) -> list[str]:
        """The words of a command, with options of earlier versions under their new names, and a line on each."""
        known = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        end = words.index("--") if "--" in words else len(words)  # what follows is no option
        found, told = list(words), set[str]()
        for place, word in enumerate(words[:end]):
            option, equals, value = word.partition("=")
            if option in OPTIONS and option not in known and OPTIONS[option] in known:
                found[place] = OPTIONS[option] + equals + value
                told.add(option)
        for option in sorted(told):
            note(message(option, OPTIONS[option]))
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        lists: dict[str, list[tuple[str, str]]] = {heading: [] for heading in (*self.sections, "Other")}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                lists[self.heading_of(str(parameter.name))].append(record)
        for heading, records in lists.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
