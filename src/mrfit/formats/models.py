"""One door to all files of models: the suffix says the format, or the caller does."""

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
        ``mrf``, ``uai``, ``lg``, ``mn``, ``fg``, a registered word or a `ModelFormat`; by default the suffix says it.
    """
    kind = format_of(path, format)
    return kind.read(read_input(path), here(path).name)


def write_network(
    path: str | Path, network: FactorNetwork, *, format: str | ModelFormat | None = None, names: bool = True
) -> None:
    """Write a model, whole or not at all; a path that ends in ``.gz`` is gzipped.

    ``names`` of variables and states that a format has no place for stand in one comment, where it knows comments.
    """
    kind = format_of(path, format)
    check_writable(path)
    write_output(path, network_bytes(network, kind, path, names=names))


def network_bytes(network: FactorNetwork, kind: ModelFormat, path: str | Path, *, names: bool = True) -> bytes:
    """The content of a model file of a name."""
    network.check_unconditional()
    content = kind.write(network, names=names)
    if Path(path).suffix.lower() != ".gz":
        return content
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", filename="", mtime=0) as file:  # equal models are equal files
        file.write(content)
    return packed.getvalue()


def format_of(path: str | Path, choice: str | ModelFormat | None = None) -> ModelFormat:
    """The format a user names or gives, else the one that a suffix says."""
    if choice is not None:
        return FORMATS.called(choice.lower() if isinstance(choice, str) else choice)
    suffix = Path(Path(path).name.lower().removesuffix(".gz")).suffix
    for kind in FORMATS.values():
        if kind.suffix.lower() == suffix:
            return kind
    named = "Standard input" if is_standard_input(path) else f"The name {Path(path).name!r}"
    raise InputError(
        f"{named} does not say which format of models it is; known are "
        f"{', '.join(kind.suffix for kind in FORMATS.values())}, each also .gz. Say the format, or rename the file."
    )
