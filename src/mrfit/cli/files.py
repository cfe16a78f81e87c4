"""The files a command reads and writes: no output is one of its inputs, and "-" is a standard stream."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.options import STANDARD, data_path
from mrfit.core.errors import InputError

if TYPE_CHECKING:
    from mrfit.model.markov_network import MarkovNetwork

writing = click.option("--no-clobber", is_flag=True, help="Refuse to overwrite existing files.")

Named = Mapping[str, str | tuple[str, ...] | None]  # what the user gave, by the name of the option or argument


def check_files(inputs: Named, outputs: Mapping[str, str | None], options: Mapping[str, Any]) -> None:
    """Complain before any work about outputs that cannot be written, or would replace an input or each other.

    Inputs are files, named data sets, ``edges:FILE`` or ``-``; links are followed on both sides.
    """
    from mrfit.formats.output_file import check_writable

    written: dict[object, str] = {}
    for option, path in outputs.items():
        if path == STANDARD:
            _check_standard_output(option, options)
        elif path is not None:
            if not path:
                raise InputError(f"{option} is given without a file name.")
            check_writable(path, clobber=not options["no_clobber"])
            for name, source in _sources(inputs):
                if _is_part_of(Path(path), source):
                    raise InputError(f"{option} {path} is what {name} reads; choose another name.")
            other = written.setdefault(_identity(Path(path)), option)
            if other != option:
                raise InputError(f"{other} and {option} name the same file, {path}; choose another name for one.")


def check_resumable(inputs: Named, outputs: Mapping[str, str | None], options: Mapping[str, Any]) -> None:
    """Check files as `check_files` does, with that of --resume, which is appended to if it exists and is no stream."""
    check_files(inputs, outputs, options)
    if options["resume"] == STANDARD:
        raise InputError("--resume needs a file that can be read again, and - is a stream; name a file.")
    check_files(inputs, {**outputs, "--resume": options["resume"]}, {**options, "no_clobber": False})


def send(output: str, content: bytes) -> None:
    """Write an output to its file, or to standard output."""
    from mrfit.formats.output_file import write_output

    if output == STANDARD:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        write_output(output, content)


def csv_bytes(names: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A table with a line of names, for `send`."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *rows])
    return text.getvalue().encode()


def summary_beside(output: str | None) -> AbstractContextManager[Any]:
    """Redirect standard output to standard error if ``output`` itself goes to standard output."""
    return redirect_stdout(sys.stderr) if output == STANDARD else nullcontext()


def load_model(text: str) -> MarkovNetwork:
    """The model in a file, or on standard input."""
    from mrfit.data.storage import standard_input
    from mrfit.formats.mrf import from_stream, load

    return from_stream(standard_input(), "standard input") if text == STANDARD else load(text)


def _check_standard_output(option: str, options: Mapping[str, Any]) -> None:
    if options["as_json"]:
        raise InputError(f"{option} - and --json both want standard output; name a file, or leave one of them out.")
    if sys.stdout.isatty():
        raise InputError(f"{option} - would write to the terminal; send it to a file or another program with > or |.")


def _sources(inputs: Named) -> Iterator[tuple[str, Path]]:
    """Every input with its path."""
    for name, given in inputs.items():
        for text in (given,) if isinstance(given, str) else given or ():
            if text == STANDARD:
                yield name, Path("/dev/stdin")
            elif text:
                yield name, data_path(text.removeprefix("edges:"))


def _is_part_of(output: Path, source: Path) -> bool:
    """Whether the output is the source, or a file in the folder that the source is."""
    if not output.exists():
        return False
    return _identity(output) == _identity(source) or (source.is_dir() and source.resolve() in output.resolve().parents)


def _identity(path: Path) -> object:
    """Return a key that is equal for all names of one file, links included, whether it exists or not."""
    if path.exists():
        status = path.stat()
        return status.st_dev, status.st_ino
    return os.path.realpath(path)
