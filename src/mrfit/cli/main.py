"""The entry point: one group, commands loaded when they are called, errors as one line."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from mrfit._version import __version__
from mrfit.cli.output import as_options, note, note_error
from mrfit.cli.plugin_commands import PluginCommand, plugin_commands
from mrfit.core.errors import MrfitError

# name: (module, one line for the overview), so that `mrfit --help` imports no command.
_COMMANDS = {
    "advise": ("mrfit.cli.advise", "What a careful analyst would do with a table, as commands."),
    "plan": ("mrfit.cli.plan", "What work on a large table will take, before it is done."),
    "fit": ("mrfit.cli.fit", "Learn a model from a table."),
    "structure": ("mrfit.cli.structure", "Learn which variables interact."),
    "stability": ("mrfit.cli.stability", "Learn again from resamples, and see what stays the same."),
    "compare": ("mrfit.cli.compare", "What two models have in common, and how they differ."),
    "compare-groups": ("mrfit.cli.compare_groups", "Whether groups of rows have the same network."),
    "nodes": ("mrfit.cli.nodes", "How central, predictable and grouped the variables of a model are."),
    "power": ("mrfit.cli.power", "How many rows it takes to find a model."),
    "score": ("mrfit.cli.score", "Score a table under a model."),
    "check": ("mrfit.cli.check", "Whether a model's own rows look like the data."),
    "show": ("mrfit.cli.show", "Print what a model says."),
    "query": ("mrfit.cli.query", "Probabilities under a model, given evidence."),
    "explore": ("mrfit.cli.explore", "See a model as a network, set what you know, watch the rest move."),
    "report": ("mrfit.cli.report", "A model as one page to see and ask, in a file that works offline."),
    "annotate": ("mrfit.cli.annotate", "Put what data and resamples say of a model into its file."),
    "sample": ("mrfit.cli.sample", "Draw rows from a model."),
    "impute": ("mrfit.cli.impute", "Fill in the missing values of a table."),
    "logz": ("mrfit.cli.logz", "The logarithm of the normalising constant of a model."),
    "infer": ("mrfit.cli.infer", "Answers in the form of the UAI competitions: PR, MAR, MAP."),
    "spectrum": ("mrfit.cli.spectrum", "How large interactions are by the number of variables they join."),
    "theory": ("mrfit.cli.theory", "What theory says about a tied model."),
    "convert": ("mrfit.cli.convert", "Write a model in another format: UAI, Libra, libDAI."),
    "data": ("mrfit.cli.data", "List, fetch and locate named data sets."),
    "demo": ("mrfit.cli.demo", "Learn from a real data set that is built in, in seconds, with a picture."),
    "warm-up": ("mrfit.cli.warm_up", "Compile for this machine now what commands would compile when first used."),
}

_INTERRUPTED = 130
_NO_READER = 141
_LONGEST = 2000  # characters of a message


class _LazyGroup(click.Group):
    """The commands of mrfit, then those of plug-ins, which cannot take the place of the former."""

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

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])
        if plugins := _of_plugins():
            with formatter.section("Commands of plug-ins"):
                formatter.write_dl([(name, plugin.summary()) for name, plugin in plugins.items()])


def _of_plugins() -> dict[str, PluginCommand]:
    return {name: plugin for name, plugin in plugin_commands().items() if name not in _COMMANDS}


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mrfit")
def cli() -> None:
    """Learn discrete Markov networks from tables of yes/no or categorical columns.

    \b
    A first session:
      mrfit demo                                          a real example with a picture
      mrfit advise train.csv                              what kind of table it is, and what to do with it
      mrfit structure train.csv --max-degree 5 -o edges.csv --plot network.png
      mrfit fit train.csv --valid valid.csv --strength 1,10,100 -o model.mrf
      mrfit show model.mrf                                the strongest interactions
      mrfit score model.mrf test.csv                      mean pseudo-log-likelihood of new rows
      mrfit check model.mrf train.csv                     does what it would draw look like the data?
      mrfit query model.mrf --evidence smoker=yes         conditional probabilities

    Every command takes --json for one JSON document on standard output; `mrfit COMMAND --help` explains it.
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
        return _fail(error.format_message().rstrip(".") + "." + where)
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
    """What the installed `mrfit` script calls."""
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
