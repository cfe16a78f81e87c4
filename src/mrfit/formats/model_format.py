"""The description of a model file format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from mrfit.model.factor_network import FactorNetwork


class Write(Protocol):
    """Return the content of a file; without ``names`` it has no comments."""

    def __call__(self, network: FactorNetwork, *, names: bool = True) -> bytes: ...


@dataclass(frozen=True)
class ModelFormat:
    """Format of model files: a word, a suffix, and functions from bytes to a network and back.

    Parameters
    ----------
    word : str
        Word that users choose it by, such as ``uai``.
    suffix : str
        Suffix of its files, with the dot.
    meaning : str
        Description in a few words, for help texts.
    read : callable
        Takes the content of a file and its name, for messages; returns a `FactorNetwork`.
    write : callable
        Takes a `FactorNetwork` and ``names``; returns the content of a file, without comments if ``names`` is false.
    holds_conjunctions : bool, default False
        Whether it can write conjunctions of many variables. Otherwise hidden variables replace them, or the network is
        refused.

    See Also
    --------
    register : Make a format known by its word and suffix.
    read_network : Read a file in any registered format.
    mrfit.testing.check_format : Check a format of your own.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.formats import UAI
    >>> domain = mrfit.Domain.from_states({"rain": ["no", "yes"]})
    >>> tables = mrfit.Factors.from_tables((2,), [((0,), [0.0, 0.0])])
    >>> network = mrfit.FactorNetwork(domain, tables)
    >>> UAI.write(network, names=False).decode().split()
    ['MARKOV', '1', '2', '1', '1', '0', '2', '1.0', '1.0']
    """

    word: str  # the word that users choose it by
    suffix: str
    meaning: str
    read: Callable[[bytes, str], FactorNetwork]
    write: Write
    holds_conjunctions: bool = False  # otherwise hidden variables replace conjunctions, or the network is refused
