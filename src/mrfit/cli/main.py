"""The entry point: one group, commands loaded when they are called, errors as one line."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from mrfit._version import __version__
from mrfit.cli.full_help import FullHelpGroup
from mrfit.cli.output import as_options, note, note_error
from mrfit.cli.plugin_commands import PluginCommand, plugin_commands
from mrfit.core.errors import MrfitError

# Commands by group, each with its module and a line for the overview, so that `mrfit --help` imports no command.
GROUPS = {
    "Learn": {
        "demo": ("mrfit.cli.demo", "Learn and draw a network from a built-in data set"),
        "advise": ("mrfit.cli.advise", "Suggest an analysis of a table, as commands to copy"),
        "plan": ("mrfit.cli.plan", "Forecast memory and time of learning from a large table"),
        "fit": ("mrfit.cli.fit", "Learn a network and its parameters from a table"),
        "structure": ("mrfit.cli.structure", "Learn which variables are directly associated"),
    },
    "Trust": {
        "check": ("mrfit.cli.check", "Test whether a model reproduces the data"),
        "score": ("mrfit.cli.score", "Compute the log-likelihood of a table under a model"),
        "stability": ("mrfit.cli.stability", "Bootstrap an analysis to see how stable its edges are"),
        "compare": ("mrfit.cli.compare", "Compare two models of the same variables"),
        "compare-groups": ("mrfit.cli.compare_groups", "Test whether groups have the same network"),
        "power": ("mrfit.cli.power", "Estimate how many rows a model needs"),
    },
    "Ask": {
        "show": ("mrfit.cli.show", "Print the edges and parameters of a model"),
        "query": ("mrfit.cli.query", "Compute probabilities, given evidence"),
        "nodes": ("mrfit.cli.nodes", "Measure centrality, predictability and communities"),
        "sample": ("mrfit.cli.sample", "Draw rows from a model"),
        "impute": ("mrfit.cli.impute", "Fill in the missing values of a table"),
        "logz": ("mrfit.cli.logz", "Compute the log partition function of a model"),
        "infer": ("mrfit.cli.infer", "Solve a task of the UAI competitions: PR, MAR or MAP"),
        "spectrum": ("mrfit.cli.spectrum", "Measure interactions by their number of variables"),
        "theory": ("mrfit.cli.theory", "Bound the rows that recover the groups of a tied model"),
    },
    "Share": {
        "report": ("mrfit.cli.report", "Write a model as an interactive page in one file"),
        "explore": ("mrfit.cli.explore", "Explore a model interactively in the browser"),
        "annotate": ("mrfit.cli.annotate", "Store data summaries and stability in a model file"),
        "convert": ("mrfit.cli.convert", "Convert a model to another file format"),
    },
    "Set up": {
        "data": ("mrfit.cli.data", "List, download and locate named data sets"),
        "warm-up": ("mrfit.cli.warm_up", "Compile in advance what commands need"),
    },
}
_COMMANDS = {name: entry for commands in GROUPS.values() for name, entry in commands.items()}
_DISTRIBUTION = "mrfit"  # its own commands from entry points are about papers

_INTERRUPTED = 130
_NO_READER = 141
_LONGEST = 2000  # characters of a message


class _LazyGroup(FullHelpGroup):
    """The commands of mrfit, then those of plug-ins, which cannot replace the former."""

    def list_commands(self, context: click.Context) -> list[str]:
        return [*_COMMANDS, *_of_plugins()]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            plugin = _of_plugins().get(name)
            return None if plugin is None else plugin.load()
        module = importlib.import_module(_COMMANDS[name][0])
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args[:1] == ["help"]:  # as git and others have it
            args = [*args[1:], "--help"]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0].startswith("-") or self.get_command(ctx, args[0]) is not None:
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches

        close = get_close_matches(args[0], self.list_commands(ctx), 1)
        hint = "".join(f" Did you mean {name!r}?" for name in close)
        raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(context, formatter)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        groups = command_groups()
        widest = max(len(name) for lines in groups.values() for name in lines)
        for heading, lines in groups.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:<{widest}}", line) for name, line in lines.items()])


def command_groups() -> dict[str, dict[str, str]]:
    """Return the line of every command, by group: those of mrfit, its papers, and plug-ins."""
    groups = {heading: {name: line for name, (_, line) in commands.items()} for heading, commands in GROUPS.items()}
    groups |= {"Papers": {}, "Plug-ins": {}}
    for name, plugin in _of_plugins().items():
        heading = "Papers" if plugin.package == _DISTRIBUTION else "Plug-ins"
        groups[heading][name] = plugin.summary().rstrip(".")
    return {heading: lines for heading, lines in groups.items() if lines}


def _of_plugins() -> dict[str, PluginCommand]:
    return {name: plugin for name, plugin in plugin_commands().items() if name not in _COMMANDS}


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mrfit")
def cli() -> None:
    """Learn networks from tables of yes/no, categorical or Likert columns, and query them.

    \b
    A first session:
      mrfit demo                                     a real example with a picture
      mrfit advise survey.csv                        suggests an analysis
      mrfit fit survey.csv -o survey.mrf             learns a network
      mrfit check survey.mrf survey.csv              does it fit the data?
      mrfit show survey.mrf                          the strongest edges
      mrfit query survey.mrf --evidence smoker=yes   conditional probabilities
      mrfit report survey.mrf -o survey.html         an interactive page

    \b
    mrfit COMMAND --help shows the main options, --help-all every option.
    Every command takes --json. mrfit --version prints the version.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, or 2 with one line on stderr for whatever went wrong.

    130 means interrupted, 141 that the reader of our output has left.
    """
    try:
        cli.main(args=None if arguments is None else list(arguments), prog_name="mrfit", standalone_mode=False)
        sys.stdout.flush()
    except MrfitError as error:
        return _fail(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        where = error.ctx.command_path if error.ctx else "mrfit"
        return _fail(f"A command is needed after `{where}`; `{where} --help` lists them.")
    except click.UsageError as error:
        where = f" See `{error.ctx.command_path} --help`." if error.ctx else ""
        message = error.format_message()
        return _fail((message if message.endswith("?") else message.rstrip(".") + ".") + where)
    except click.ClickException as error:
        return _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        note("interrupted; nothing was written.")
        return _INTERRUPTED
    except MemoryError as error:
        asked = f" ({error})" if str(error) else ""
        return _fail(f"There is not enough memory{asked}. Use fewer columns, a sparser structure or a larger machine.")
    except (BrokenPipeError, SystemExit):  # the second is what click makes of the first
        _abandon_stdout()
        return _NO_READER
    except OSError as error:
        if error.filename is None:
            _abandon_stdout()
        return _fail(f"Cannot use {error.filename or 'standard output'}: {error.strerror or error}.")
    return 0


def _fail(message: str) -> int:
    message = as_options(" ".join(message.split()))
    if len(message) > _LONGEST:  # a value or a name is; what was wrong stands before it, and what to do after it
        message = f"{message[: _LONGEST // 2]} ... {message[-_LONGEST // 2 :]}"
    note_error(message)
    return 2


def _abandon_stdout() -> None:
    """Keep Python from complaining at exit about what standard output did not take."""
    if sys.__stdout__ is not None and sys.stdout is sys.__stdout__:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())


def run() -> None:
    """Entry point of the installed `mrfit` script."""
    # A stream that is closed (`mrfit ... >&-`) is None in Python; nobody wants what would go there.
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    code = main()
    if code == _INTERRUPTED:
        # Python would end itself by the signal, not with this code, if the interrupt came inside of `exec`.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
