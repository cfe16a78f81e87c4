"""Short help by ``--help``, complete help by ``--help-all``."""

from __future__ import annotations

import inspect
from typing import Any

import click

from mrfit.cli.output import say

_ALL = "mrfit.help_all"  # key of `Context.meta`
_MORE = "\f"  # in a docstring, the text after it appears only in complete help


def shows_all(context: click.Context) -> bool:
    """Whether the user wants complete help."""
    return bool(context.meta.get(_ALL))


def _print_all(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        context.meta[_ALL] = True
        say(*context.get_help().splitlines())
        context.exit()


def _help_all(*, hidden: bool) -> click.Option:
    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_print_all,
        hidden=hidden,
        help="Show all options with all examples, and exit.",
    )


_OPTION, _HIDDEN_OPTION = _help_all(hidden=False), _help_all(hidden=True)


def with_help_all(command: click.Command) -> click.Command:
    """Let a command of a plug-in understand ``--help-all``, which shows the same as ``--help`` there."""
    if not isinstance(command, FullHelp) and all("--help-all" not in parameter.opts for parameter in command.params):
        command.params.append(_HIDDEN_OPTION)
    return command


class FullHelp(click.Command):
    """A command with ``--help-all`` beside ``--help``.

    Parameters
    ----------
    guide
        The name of the how-to page and its file in ``docs``, such as ``("Missing data", "missing.md")``.
    """

    def __init__(self, *args: Any, guide: tuple[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.guide = guide

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), _OPTION]

    def description(self, *, complete: bool) -> str:
        """Return the text of the help above the options."""
        short, _, more = inspect.cleandoc(self.help or "").partition(_MORE)
        return f"{short.rstrip()}\n\n{more.strip()}".rstrip() if complete else short.rstrip()

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(self.description(complete=shows_all(ctx)))

    def lines_at_the_end(self, ctx: click.Context) -> list[str]:
        """Return lines that say where to read on."""
        return [] if self.guide is None else [f"Guide: {self.guide[0]} (docs/{self.guide[1]})"]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if lines := self.lines_at_the_end(ctx):
            formatter.write_paragraph()
            formatter.write("".join(f"{line}\n" for line in lines))


class FullHelpGroup(FullHelp, click.Group):
    """A group of commands, each with ``--help-all``."""
