"""Reading and writing of all model files; the format follows the suffix or the caller's choice."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import TYPE_CHECKING

from mrfit.core.errors import InputError
from mrfit.data.storage import here, is_standard_input
from mrfit.formats.input_file import read_input
from mrfit.formats.model_format import ModelFormat
from mrfit.formats.mrf_network import network_of
from mrfit.formats.output_file import check_writable, write_output
from mrfit.model.factor_network import FactorNetwork
from mrfit.registry import FORMATS

if TYPE_CHECKING:
    from mrfit.model.markov_network import MarkovNetwork


def read_network(path: str | Path, *, format: str | ModelFormat | None = None) -> FactorNetwork:
    """Read a model file: tables over named variables.

    Parameters
    ----------
    path : str or Path
        A ``.mrf``, ``.uai``, ``.LG``, ``.mn`` or ``.fg`` file, each also gzipped; ``-`` is standard input.
    format : str or ModelFormat, default None
        ``mrf``, ``uai``, ``lg``, ``mn``, ``fg``, a registered word or a `ModelFormat`. None follows the suffix.

    Returns
    -------
    FactorNetwork
        The distribution, without the parameters of a ``.mrf`` file; `MarkovNetwork.load` reads these too.

    Raises
    ------
    MrfitError
        If the file does not exist or does not follow the format, or if the suffix is unknown.

    See Also
    --------
    write_network : The opposite.
    MarkovNetwork.load : Read a fitted model with its parameters.

    Examples
    --------
    >>> import mrfit, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/coin.uai", "w") as file:
    ...         _ = file.write("MARKOV 1 2 1 1 0 2 1.0 3.0")
    ...     network = mrfit.read_network(f"{folder}/coin.uai")
    >>> [round(p, 2) for p in network.joint(network.domain.names).table.tolist()]
    [0.25, 0.75]
    """
    kind = format_of(path, format)
    return kind.read(read_input(path), here(path).name)


def write_network(
    path: str | Path,
    network: FactorNetwork | MarkovNetwork,
    *,
    format: str | ModelFormat | None = None,
    names: bool = True,
) -> None:
    """Write a model file that other programs read, whole or not at all.

    Parameters
    ----------
    path : str or Path
        File to write; one that ends in ``.gz`` is gzipped.
    network : FactorNetwork or MarkovNetwork
        Distribution to write. A fitted model is written as its tables; `MarkovNetwork.save` keeps its parameters.
    format : str or ModelFormat, default None
        ``mrf``, ``uai``, ``lg``, ``mn``, ``fg``, a registered word or a `ModelFormat`. None follows the suffix.
    names : bool, default True
        Whether names of variables and states go into a comment, if the format has comments but cannot hold names
        itself.

    Raises
    ------
    MrfitError
        If the format or the folder does not exist, or the format cannot hold the network, as one with covariates.

    See Also
    --------
    read_network : The opposite.
    MarkovNetwork.save : Write a fitted model with its parameters.

    Examples
    --------
    >>> import mrfit, tempfile
    >>> domain = mrfit.Domain.from_states({"rain": ["no", "yes"]})
    >>> tables = mrfit.Factors.from_tables((2,), [((0,), [0.0, 1.0])])
    >>> network = mrfit.FactorNetwork(domain, tables)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mrfit.write_network(f"{folder}/rain.uai", network)
    ...     again = mrfit.read_network(f"{folder}/rain.uai")
    >>> again.domain == domain
    True
    """
    kind = format_of(path, format)
    check_writable(path)
    tables = network if isinstance(network, FactorNetwork) else network_of(network)
    write_output(path, network_bytes(tables, kind, path, names=names))


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
