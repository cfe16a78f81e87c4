"""The entry point: one group, commands loaded when they are called, errors as one line."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from mrfit._version import __version__
from mrfit.cli.output import as_options
from mrfit.errors import MrfitError

# name: (module, one line for the overview), so that `mrfit --help` imports no command.
_COMMANDS = {
    "fit": ("mrfit.cli.fit", "Learn a model from a table."),
    "structure": ("mrfit.cli.structure", "Learn which variables interact."),
    "score": ("mrfit.cli.score", "Score a table under a model."),
    "show": ("mrfit.cli.show", "Print what a model says."),
    "spectrum": ("mrfit.cli.spectrum", "How large interactions are by the number of variables they join."),
    "theory": ("mrfit.cli.theory", "What theory says about a tied model."),
    "data": ("mrfit.cli.data", "List, fetch and locate named data sets."),
    "demo": ("mrfit.cli.demo", "Learn from a real data set that is built in, in seconds, with a picture."),
}


class _LazyGroup(click.Group):
    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module = importlib.import_module(_COMMANDS[name][0])
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mrfit")
def cli() -> None:
    """Learn discrete Markov networks from tables of yes/no or categorical columns.

    \b
    A first session:
      mrfit demo                                          a real example with a picture
      mrfit structure train.csv --max-degree 5 -o edges.csv --plot network.png
      mrfit fit train.csv --valid valid.csv --strength 1,10,100 -o model.mrf
      mrfit show model.mrf                                the strongest interactions
      mrfit score model.mrf test.csv                      mean pseudo-log-likelihood of new rows

    Every command takes --json for one JSON document on standard output; `mrfit COMMAND --help` explains it.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, or 2 with one line on stderr for wrong usage or input."""
    try:
        cli.main(args=None if arguments is None else list(arguments), prog_name="mrfit", standalone_mode=False)
    except MrfitError as error:
        return _fail(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        where = error.ctx.command_path if error.ctx else "mrfit"
        return _fail(f"A command is needed after `{where}`; `{where} --help` lists them.")
    except click.UsageError as error:
        where = f" See `{error.ctx.command_path} --help`." if error.ctx else ""
        return _fail(error.format_message().rstrip(".") + "." + where)
    except click.ClickException as error:
        return _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        click.echo("mrfit: interrupted; nothing was written.", err=True)
        return 130
    except BrokenPipeError:
        # The reader of our output has left (`mrfit ... | head`); keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return 0


def _fail(message: str) -> int:
    click.echo(f"mrfit: {as_options(' '.join(message.split()))}", err=True)
    return 2


def run() -> None:
    """What the installed `mrfit` script calls."""
    sys.exit(main())
