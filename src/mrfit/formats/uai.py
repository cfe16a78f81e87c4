"""Models of the UAI competitions: ``.uai`` with potentials, ``.LG`` (toulbar2) with their natural logarithms.

    MARKOV          or BAYES, which is read as the Markov network it is
    3               variables
    2 2 3           their numbers of states
    2               tables
    1 0             scopes: how many variables, and which
    2 2 1
    2 0.4 0.6       tables: how many values, and which, last variable of the scope fastest
    6 1 0 1 2 1 1

Line breaks mean nothing. A scope without variables is a constant. The specification has no comments, but several
readers support them. The comment of mrfit therefore comes at the end, after everything that a reader looks for.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from mrfit._typing import Floats, Scope
from mrfit.core.factors import Factors
from mrfit.formats.annotation import Annotation, names_worth_telling
from mrfit.formats.model_format import ModelFormat
from mrfit.formats.potentials import logarithms, potentials
from mrfit.formats.tokens import Tokens, numbered_domain
from mrfit.model.factor_network import FactorNetwork

_INSTEAD = "Write a .LG file, which holds logarithms."


def read_uai(content: bytes, name: str) -> FactorNetwork:
    return _read(content, name, logs=False)


def read_lg(content: bytes, name: str) -> FactorNetwork:
    return _read(content, name, logs=True)


def uai_bytes(network: FactorNetwork, *, names: bool = True) -> bytes:
    plain = network.with_hidden_named()
    values, shift = potentials(plain.tables, _INSTEAD)
    return _written(plain, values, Annotation(names_worth_telling(plain.domain) if names else None, shift))


def lg_bytes(network: FactorNetwork, *, names: bool = True) -> bytes:
    plain = network.with_hidden_named()
    return _written(plain, plain.tables.values, Annotation(names_worth_telling(plain.domain) if names else None))


def _read(content: bytes, name: str, *, logs: bool) -> FactorNetwork:
    tokens = Tokens(content, name)
    tokens.word("MARKOV", "BAYES")
    n_variables = tokens.integer("the number of variables", least=1)
    shape = tuple(tokens.integers(n_variables, "the number of states of a variable", least=1))
    domain = numbered_domain(shape, name)
    n_tables = tokens.integer("the number of tables")
    scopes = tuple(_scope(tokens, len(shape)) for _ in range(n_tables))
    sizes = [prod(shape[i] for i in scope) for scope in scopes]
    if logs:
        values = tokens.tables(sizes, "the logarithm of a potential")
    else:
        values = logarithms(tokens.tables(sizes, "a potential", least=0.0))
    tokens.finish()
    return Annotation.of(content, name).named(Factors(shape, scopes, values), name, domain)


def _scope(tokens: Tokens, n_variables: int) -> Scope:
    size = tokens.integer("the number of variables in a scope", most=n_variables)
    scope = tuple(tokens.integers(size, "a variable", most=n_variables - 1))
    if len(set(scope)) < size:
        raise tokens.wrong("a scope must name each of its variables once, and this one repeats a variable")
    return scope


def _written(network: FactorNetwork, values: Floats, annotation: Annotation) -> bytes:
    factors = network.tables
    lines = ["MARKOV", str(len(factors.shape)), _joined(factors.shape), str(len(factors.scopes))]
    lines += [_joined((len(scope), *scope)) for scope in factors.scopes]
    # The shortest digits that restore the same double, at most 17.
    text, start = list(map(repr, values.tolist())), 0
    for table in factors.tables:
        lines += [str(len(table)), " ".join(text[start : start + len(table)])]
        start += len(table)
    return "\n".join([*lines, ""]).encode() + annotation.line()


def _joined(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers))


UAI = ModelFormat("uai", ".uai", "UAI competition, potentials", read_uai, uai_bytes)
LG = ModelFormat("lg", ".LG", "UAI layout, natural logarithms (toulbar2)", read_lg, lg_bytes)
