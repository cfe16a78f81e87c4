"""Reading and writing of all model files; the format follows the suffix or the caller's choice."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

from mrfit.core.errors import InputError
from mrfit.data.storage import here, is_standard_input
from mrfit.formats.input_file import read_input
from mrfit.formats.model_format import ModelFormat
from mrfit.formats.output_file import check_writable, write_output
from mrfit.model.factor_network import FactorNetwork
from mrfit.registry import FORMATS


def read_network(path: str | Path, *, format: str | ModelFormat | None = None) -> FactorNetwork:
    """Read a model: tables over named variables.

    Parameters
    ----------
    path
        A ``.mrf``, ``.uai``, ``.LG``, ``.mn`` or ``.fg`` file, each also gzipped; ``-`` is standard input.
    format
        ``mrf``, ``uai``, ``lg``, ``mn``, ``fg``, a registered word or a `ModelFormat`; by default it follows the
        suffix.
    """
    kind = format_of(path, format)
    return kind.read(read_input(path), here(path).name)


def write_network(
    path: str | Path, network: FactorNetwork, *, format: str | ModelFormat | None = None, names: bool = True
) -> None:
    """Write a model atomically; a path that ends in ``.gz`` is gzipped.

    If the format cannot hold the ``names`` of variables and states, they go into a comment, provided the format has
    comments.
    """
    kind = format_of(path, format)
    check_writable(path)
    write_output(path, network_bytes(network, kind, path, names=names))


def network_bytes(network: FactorNetwork, kind: ModelFormat, path: str | Path, *, names: bool = True) -> bytes:
    """Return the content of a model file for a path, gzipped if the path ends in ``.gz``."""
    network.check_unconditional()
    content = kind.write(network, names=names)
    if Path(path).suffix.lower() != ".gz":
        return content
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", filename="", mtime=0) as file:  # equal models give equal files
        file.write(content)
    return packed.getvalue()


def format_of(path: str | Path, choice: str | ModelFormat | None = None) -> ModelFormat:
    """Return the format of a user's choice, or else of the suffix."""
    if choice is not None:
        return FORMATS.called(choice.lower() if isinstance(choice, str) else choice)
    suffix = Path(Path(path).name.lower().removesuffix(".gz")).suffix
    for kind in FORMATS.values():
        if kind.suffix.lower() == suffix:
            return kind
    named = "Standard input" if is_standard_input(path) else f"The name {Path(path).name!r}"
    raise InputError(
        f"{named} does not end in the suffix of a model format; known are "
        f"{', '.join(kind.suffix for kind in FORMATS.values())}, each also .gz. Pass the format, or rename the file."
    )
