"""Evidence as users write it: ``a=x`` for a state, ``b~0.2:0.8`` for likelihoods of all states, or a UAI file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.options import STANDARD, names
from mrfit.core.errors import InputError, listed

if TYPE_CHECKING:
    from mrfit.core.domain import Domain

_MOST_JOINT_STATES = 2**20  # that anybody wants to read
_HINT = "write it like --evidence smoker=yes,age=old"

evidence_option = click.option(
    "--evidence",
    "--given",
    multiple=True,
    metavar="NAME=STATE[,...]|FILE",
    help="Known states, or a UAI .evid file. NAME~L1:L2:... is soft evidence, with a likelihood for each state, in "
    "their order. Repeatable; quote names that contain commas: --evidence '\"diet=fish, meat\",age=old'.",
)


def evidence_of(domain: Domain, texts: Sequence[str]) -> dict[str, Any]:
    """States and likelihoods by variable name, from all values of --evidence."""
    typed = [text for text in texts if not _is_file(text)]
    pieces = [piece for file in evidence_files(texts) for piece in from_file(domain, file).items()]
    evidence: dict[str, Any] = {}
    for name, value in [*pieces, *(_parted(piece, domain) for piece in names(typed, "--evidence"))]:
        if name in evidence:
            raise InputError(f"{name!r} has evidence twice, {evidence[name]!r} and {value!r}; give it once.")
        evidence[name] = value
    return evidence


def evidence_files(texts: Sequence[str]) -> tuple[str, ...]:
    """The values of --evidence that name files."""
    return tuple(text for text in texts if _is_file(text))


def _is_file(text: str) -> bool:
    """Whether a value names a file: it has the suffix of one, exists, or is - for standard input."""
    has_suffix = text.removesuffix(".gz").endswith(".evid")
    return has_suffix or text == STANDARD or os.path.exists(text)  # noqa: PTH110 - Path raises where a text is long


def _parted(piece: str, domain: Domain) -> tuple[str, str | list[float]]:
    """Variable and value; names and states may themselves hold = and ~, so a name that exists decides."""
    marks = list(re.finditer("[=~]", piece))
    if not marks:
        raise InputError(f"--evidence {piece!r} is neither an existing file nor NAME=STATE; {_HINT}.")
    ways = [(piece[: mark.start()].strip(), mark[0], piece[mark.end() :].strip()) for mark in marks]
    known = [way for way in ways if way[0] in domain]
    if len(known) > 1:
        raise InputError(f"--evidence {piece!r} could be about {listed(way[0] for way in known)}; rename one of them.")
    if not known:
        raise InputError(f"There is no variable {ways[0][0]!r}; the variables are {listed(domain.names)}; {_HINT}.")
    ((name, mark, value),) = known
    return (name, value) if mark == "=" else (name, _likelihoods(name, value))


def _likelihoods(name: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(":")]
    except ValueError:
        raise InputError(
            f"--evidence '{name}~{text}' is no list of likelihoods; write one for each state, like {name}~0.2:0.8."
        ) from None


def from_file(domain: Domain, path: str, sample: int | None = None) -> dict[str, Any]:
    """The evidence in a UAI file: the only sample, or the one of a number counted from 1."""
    from mrfit.formats.uai_evidence import read_evidence

    samples = read_evidence(path, domain.shape)
    if sample is None and len(samples) > 1:
        raise InputError(
            f"{path!r} holds {len(samples)} samples of evidence, and one is answered at a time; choose it by "
            "`mrfit infer --sample`, or make a file of it."
        )
    if sample is not None and sample > len(samples):
        raise InputError(f"{path!r} has no sample {sample}; it holds {len(samples)}, counted from 1.")
    return {domain.names[i]: domain[i].states[state] for i, state in samples[(sample or 1) - 1].items()}


def asked_of(domain: Domain, options: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the variables that --ask names, and the sets of variables whose joint states it asks for; each once."""
    asked = list(dict.fromkeys(names([text], "--ask") for text in options["ask"]))
    for several in asked:
        for name in several:
            domain.index(name)
        if len(set(several)) < len(several):
            raise InputError(f"--ask {','.join(several)!r} names a variable twice; name each once.")
        if (n_states := prod(domain.shape[domain.index(name)] for name in several)) > _MOST_JOINT_STATES:
            raise InputError(
                f"--ask names {len(several)} variables with {float(n_states):.2g} joint states; the limit is "
                f"{_MOST_JOINT_STATES:,}. Ask for fewer together, or draw rows with `mrfit sample`."
            )
    return asked
