"""What is known, as users write it: ``a=x`` for a state, ``b~0.2:0.8`` for likelihoods of all states."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.options import names, stacked
from mrfit.core.errors import InputError, listed

if TYPE_CHECKING:
    from mrfit.core.domain import Domain

_MOST_JOINT_STATES = 2**20  # that anybody wants to read
_HINT = "write it like --given smoker=yes,age=old"

given_options = stacked(
    click.option(
        "--given",
        multiple=True,
        metavar="NAME=STATE[,...]",
        help="What is known; may be repeated. NAME~L1:L2:... is uncertain: how likely what was seen is in each state, "
        "in their order. A piece with a comma stands in quotes: --given '\"diet=fish, meat\",age=old'.",
    ),
    click.option(
        "--evidence", metavar="FILE", help="A UAI .evid file with what is known, by numbers of variables and states."
    ),
)


def given_of(domain: Domain, options: Mapping[str, Any], *, sample: int | None = None) -> dict[str, Any]:
    """States and likelihoods by variable, from --given and --evidence."""
    given = _from_file(domain, options["evidence"], sample)
    for piece in names(options.get("given", ()), "--given"):
        name, value = _parted(piece, domain)
        if name in given:
            raise InputError(f"{name!r} is given twice, as {given[name]!r} and as {value!r}; say it once.")
        given[name] = value
    return given


def _parted(piece: str, domain: Domain) -> tuple[str, str | list[float]]:
    """Variable and value; names and states may themselves hold = and ~, so a name that exists decides."""
    marks = list(re.finditer("[=~]", piece))
    if not marks:
        raise InputError(f"--given {piece!r} says no state; {_HINT}.")
    ways = [(piece[: mark.start()].strip(), mark[0], piece[mark.end() :].strip()) for mark in marks]
    known = [way for way in ways if way[0] in domain]
    if len(known) > 1:
        raise InputError(f"--given {piece!r} could speak of {listed(way[0] for way in known)}; rename one of them.")
    if not known:
        raise InputError(f"There is no variable {ways[0][0]!r}; the variables are {listed(domain.names)}; {_HINT}.")
    ((name, mark, value),) = known
    return (name, value) if mark == "=" else (name, _likelihoods(name, value))


def _likelihoods(name: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(":")]
    except ValueError:
        raise InputError(
            f"--given '{name}~{text}' is no list of likelihoods; write one for each state, like {name}~0.2:0.8."
        ) from None


def _from_file(domain: Domain, path: str | None, sample: int | None) -> dict[str, Any]:
    if path is None:
        return {}
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
    """What --ask names: variables, and sets of them whose joint states are asked for; each once."""
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
