"""Commands with sections of options, bare options, and options by their earlier names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from mrfit._renamed import OPTIONS, message
from mrfit.cli.bare_options import with_bare_values
from mrfit.cli.full_help import FullHelp, shows_all
from mrfit.cli.output import note

MAIN = "Main options"  # the section that `--help` shows
_METAVARS = ((click.types.IntParamType, "N"), (click.types.FloatParamType, "X"))  # "INTEGER RANGE" is long
_WORDS = "mrfit.words"  # in the `click.Context.meta` of a command


def words_of(context: click.Context) -> tuple[str, ...]:
    """The words that a command was called with, as they were written."""
    words: tuple[str, ...] = context.meta[_WORDS]
    return words


def _help_record(option: click.Option, ctx: click.Context) -> tuple[str, str] | None:
    """Return an option and its help, without the parentheses that click puts around a default given as text."""
    record, default = option.get_help_record(ctx), option.show_default
    if record is None or not isinstance(default, str):
        return record
    return record[0], record[1].replace(f"[default: ({default})", f"[default: {default}")


class SectionedCommand(FullHelp):
    """A command whose short help shows its main options, and whose complete help shows all of them in sections.

    Parameters
    ----------
    sections
        Names of parameters by heading, in the order of the help; `MAIN` is the first. An option belongs to the first
        heading that names it, or to "Other". The options of `MAIN` are in the order of their names there, all others as
        declared. Without sections, short help shows all options.
    defaults
        Defaults that the command itself sets, as the help shows them, by the names of parameters.
    """

    def __init__(
        self,
        *args: Any,
        sections: Mapping[str, Iterable[str]] | None = None,
        defaults: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.sections = {heading: tuple(names) for heading, names in (sections or {}).items()}
        shown = defaults or {}
        for option in self.params:
            if not isinstance(option, click.Option):
                continue
            if str(option.name) in shown:
                option.show_default = shown[str(option.name)]
            if option.metavar is None and not option.is_flag:
                option.metavar = next((name for kind, name in _METAVARS if isinstance(option.type, kind)), None)

    def options_by_heading(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """Return all visible options by heading, without empty headings."""
        visible = [each for each in self.get_params(ctx) if isinstance(each, click.Option) and not each.hidden]
        if not self.sections:
            return {"Options": visible}
        found: dict[str, list[click.Option]] = {heading: [] for heading in (*self.sections, "Other")}
        for option in visible:
            found[self._heading_of(str(option.name))].append(option)
        main = self.sections[MAIN]
        found[MAIN].sort(key=lambda option: main.index(str(option.name)))
        return {heading: options for heading, options in found.items() if options}

    def _heading_of(self, name: str) -> str:
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
        for heading, options in self._shown(ctx).items():
            with formatter.section(heading):
                records = [record for option in options if (record := _help_record(option, ctx))]
                formatter.write_dl(records, col_max=24)

    def _shown(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """Return the options to show by heading: in short help, the main ones or all of a command without sections."""
        headings = self.options_by_heading(ctx)
        if shows_all(ctx):
            return headings
        if self.sections:
            ways_to_help = [option for option in headings["Other"] if set(option.opts) & set(ctx.help_option_names)]
            return {MAIN: headings[MAIN] + ways_to_help}
        return {"Options": [option for option in headings["Options"] if option.name != "help_all"]}

    def lines_at_the_end(self, ctx: click.Context) -> list[str]:
        more = [f"All options: {ctx.command_path} --help-all"] if self.sections and not shows_all(ctx) else []
        return [*more, *super().lines_at_the_end(ctx)]
