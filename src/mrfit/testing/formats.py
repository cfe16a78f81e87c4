"""Promises of every model format: what is written and read again is the same distribution."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.formats.model_format import ModelFormat
from mrfit.formats.models import read_network, write_network
from mrfit.model.factor_network import FactorNetwork
from mrfit.testing.assertions import close
from mrfit.testing.promises import check_promises
from mrfit.testing.samples import FACTORS, domain_of, joint_states, random_factors

Generator = np.random.Generator


def check_format(kind: ModelFormat, *, keeps_names: bool = True, keeps_constant: bool = True, seed: int = 0) -> None:
    """Check that a format of model files keeps every promise: what is written comes back.

    Parameters
    ----------
    kind : ModelFormat
        Format to check.
    keeps_names : bool, default True
        Whether names of variables and states survive.
    keeps_constant : bool, default True
        Whether log Z survives; otherwise tables may come back normalized.
    seed : int, default 0
        Random seed of the networks.

    Raises
    ------
    AssertionError
        If a network does not come back, or another promise is broken; the message names it.

    See Also
    --------
    ModelFormat : The interface.
    register : Make the format known by its word.

    Examples
    --------
    >>> from mrfit.formats import UAI
    >>> from mrfit.testing import check_format
    >>> check_format(UAI)
    """
    check_promises(PROMISES, (kind, keeps_constant), seed=seed)
    if keeps_names:
        check_promises((odd_names_come_back,), (kind, keeps_constant), seed=seed)


Case = tuple[ModelFormat, bool]


def back(kind: ModelFormat, network: FactorNetwork) -> FactorNetwork:
    return kind.read(kind.write(network), f"model{kind.suffix}")


def check_same(found: FactorNetwork, expected: FactorNetwork, *, constant: bool) -> None:
    """Compare two networks at all joint states, up to a constant if one may be lost."""
    assert found.domain.shape == expected.domain.shape, f"states {found.domain.shape}, not {expected.domain.shape}"
    codes = joint_states(expected.domain.shape)
    q, r = expected.log_potential(codes), found.log_potential(codes)
    if not constant:
        q, r = q - q.max(), r - r.max()
    close(r, q, "log potentials", rtol=1e-12, atol=1e-12)


def any_tables_come_back(case: Case, rng: Generator) -> None:
    """Transposed, repeated, nested and empty scopes, one-state or isolated variables, and impossible states survive."""
    kind, constant = case
    for shape, scopes in (each for each in FACTORS.values() if each[0]):
        for zeros in (0.0, 0.3):
            network = FactorNetwork(domain_of(shape), random_factors(rng, shape, scopes, zeros=zeros))
            check_same(back(kind, network), network, constant=constant)


def many_variables_of_one_state_come_back(case: Case, rng: Generator) -> None:
    """More variables than numpy arrays can have axes survive."""
    kind, _ = case
    shape = (1,) * 70 + (2, 3)
    network = FactorNetwork(domain_of(shape), random_factors(rng, shape, [(*range(70), 71, 70), (3, 5)]))
    codes = np.array([(*(0,) * 70, a, b) for a in range(2) for b in range(3)])
    difference = back(kind, network).log_potential(codes) - network.log_potential(codes)
    close(difference, np.full(6, difference[0]), "log potentials but for a constant", atol=1e-12)


def large_values_come_back(case: Case, rng: Generator) -> None:
    """Values whose exponentials overflow survive."""
    kind, constant = case
    table = np.array([1000.0, 400.0, -np.inf, 1.0])
    tables = Factors.from_tables((2, 2), [((1, 0), table), ((0,), [-5000.0, -5000.5]), ((), [1e-300])])
    network = FactorNetwork(domain_of((2, 2)), tables)
    check_same(back(kind, network), network, constant=constant)


def damage_is_one_input_error(case: Case, rng: Generator) -> None:
    """A truncated or overwritten file is refused, or read as another network, but never a crash."""
    kind, _ = case
    content = kind.write(FactorNetwork(domain_of((2, 3, 2)), random_factors(rng, (2, 3, 2), [(0, 1), (2, 1)])))
    for _ in range(60):
        at, until = sorted(rng.integers(0, len(content) + 1, 2).tolist())
        junk = rng.choice([b"", b"-1", b"x", b"\xff\x00", b"99999999999", b" "])
        try:
            found = kind.read(content[:at] + bytes(junk) + content[until:], "model")
        except InputError:
            continue
        assert isinstance(found, FactorNetwork), "read() must give a Network"


def files_are_found_by_suffix_and_given_the_format(case: Case, rng: Generator) -> None:
    """Any file works, gzipped or not, if the format is given as an object; equal models give equal files."""
    kind, constant = case
    assert kind.suffix.startswith("."), f"the suffix {kind.suffix!r} must start with a dot"
    network = FactorNetwork(domain_of((2, 3)), random_factors(rng, (2, 3), [(1, 0), (0,)]))
    with TemporaryDirectory() as folder:
        for name in (f"a{kind.suffix}", f"b{kind.suffix}.gz", "c.txt"):
            path = Path(folder) / name
            write_network(path, network, format=kind)
            check_same(read_network(path, format=kind), network, constant=constant)
            before = path.read_bytes()
            write_network(path, network, format=kind)
            assert path.read_bytes() == before, "equal models give other files"


def odd_names_come_back(case: Case, rng: Generator) -> None:
    """Quotes, line ends, hashes and empty names survive."""
    kind, _ = case
    domain = Domain.from_states({'a "b"\n#': ["x y", "\u00e9"], "": ["#", "\\"], "v9": ["0", "1"]})
    found = back(kind, FactorNetwork(domain, Factors.from_tables((2, 2, 2), [((2, 0), np.arange(4.0))])))
    assert found.domain == domain, f"{found.domain} came back for {domain}"


PROMISES = (
    any_tables_come_back,
    many_variables_of_one_state_come_back,
    large_values_come_back,
    damage_is_one_input_error,
    files_are_found_by_suffix_and_given_the_format,
)
