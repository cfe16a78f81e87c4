"""Every format of models: what is written and read back is the same distribution."""

from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mrfit
from mrfit import FactorNetwork, MarkovNetwork, read_network, write_network
from mrfit.cli import convert
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.formats.models import format_of
from mrfit.registry import FORMATS
from populations import domain_of, factors, networks, random_factors
from reference.features import joint_states

EVERY = pytest.mark.parametrize("word", FORMATS)
KEEPS_NAMES = ("mrf", "uai", "lg", "fg")
NORMALISED = ("mrf",)


def back(network: FactorNetwork, word: str, **options: bool) -> FactorNetwork:
    return FORMATS[word].read(FORMATS[word].write(network, **options), f"model.{word}")


def assert_same(found: FactorNetwork, expected: FactorNetwork, *, constant: bool) -> None:
    """Compare two networks at all joint states, up to a constant if the format loses it."""
    codes = joint_states(expected.domain.shape)
    q, r = expected.log_potential(codes), found.log_potential(codes)
    if not constant:
        q, r = q - q.max(), r - r.max()
    np.testing.assert_allclose(r, q, rtol=1e-12, atol=1e-12)


@EVERY
@given(factors())
@settings(max_examples=60)
def test_any_tables_come_back(word: str, product: Factors) -> None:
    """Unsorted, repeated, nested and empty scopes, variables of one state and in no table, impossible states."""
    network = FactorNetwork(domain_of(product.shape), product)
    found = back(network, word)
    assert found.domain.shape == product.shape
    assert (found.domain == network.domain) == (word in KEEPS_NAMES) or product.shape == ()
    assert_same(found, network, constant=word not in NORMALISED)
    if word in ("uai", "lg"):
        assert found.tables.scopes == product.scopes


@pytest.mark.parametrize("word", ["mn"])
@given(networks())
@settings(max_examples=60)
def test_conjunctions_come_back(word: str, network: FactorNetwork) -> None:
    assert_same(back(network, word), network, constant=True)


@pytest.mark.parametrize("word", ["uai", "lg", "fg"])
@given(networks())
@settings(max_examples=30)
def test_conjunctions_become_hidden_variables(word: str, network: FactorNetwork) -> None:
    """Formats that have tables only are tested."""
    found = back(network, word)
    assert found.tables.shape == network.factors.shape
    assert_same(found, network.with_hidden_named(), constant=True)


@EVERY
def test_large_and_small_values(word: str) -> None:
    """Values exceed the range of doubles, up to the constant that is recorded."""
    table = np.array([1000.0, 400.0, -np.inf, 1.0])
    product = Factors.from_tables((2, 2), [((1, 0), table), ((0,), [-5000.0, -5000.5]), ((), [1e-300])])
    network = FactorNetwork(domain_of((2, 2)), product)
    assert_same(back(network, word), network, constant=word not in NORMALISED)


@pytest.mark.parametrize("word", ["uai", "fg"])
def test_a_table_that_no_doubles_hold_is_refused(word: str) -> None:
    network = FactorNetwork(domain_of((2,)), Factors.from_tables((2,), [((0,), [0.0, -5000.0])]))
    with pytest.raises(InputError, match=r"spans 5000 nats.*\.LG"):
        back(network, word)


@EVERY
def test_no_tables_at_all(word: str) -> None:
    network = FactorNetwork(domain_of((2, 1, 3)), Factors((2, 1, 3), (), np.empty(0)))
    assert_same(back(network, word), network, constant=True)


@EVERY
def test_many_variables_of_one_state_in_a_scope(word: str, rng: np.random.Generator) -> None:
    """More than arrays have axes."""
    shape = (1,) * 70 + (2, 3)
    network = FactorNetwork(domain_of(shape), random_factors(rng, shape, [(*range(70), 71, 70), (3, 5)]))
    found = back(network, word)
    codes = np.array([(*(0,) * 70, a, b) for a in range(2) for b in range(3)])
    difference = found.log_potential(codes) - network.log_potential(codes)
    np.testing.assert_allclose(difference, difference[0], atol=1e-12)


@pytest.mark.parametrize("word", KEEPS_NAMES)
def test_odd_names_come_back(word: str) -> None:
    domain = Domain.from_states({'a "b"\n#': ["x y", "\u00e9"], "": ["#", "\\"], "v9": ["0", "1"]})
    network = FactorNetwork(domain, Factors.from_tables((2, 2, 2), [((2, 0), np.arange(4.0))]))
    assert back(network, word).domain == domain


@pytest.mark.parametrize("word", ["uai", "lg", "fg"])
def test_no_comment_without_need(word: str) -> None:
    """Numbered names are what a reader gives by itself, and names may be left out."""
    product = Factors.from_tables((2, 2), [((1, 0), np.arange(4.0))])
    plain = back(FactorNetwork(domain_of((2, 2)), product), word, names=False)
    assert plain.domain == Domain.from_states({"v0": "01", "v1": "01"})
    assert b"#" not in FORMATS[word].write(plain)


def test_labels_of_factor_graphs_come_back() -> None:
    domain = Domain.from_states({"v3": "01", "v12": "012"})
    network = FactorNetwork(domain, Factors.from_tables((2, 3), [((1, 0), np.arange(6.0))]))
    content = FORMATS["fg"].write(network)
    assert b"#" not in content
    assert FORMATS["fg"].read(content, "x").domain == domain


# --- the door


@EVERY
def test_suffixes(word: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """Suffixes are recognised in any case, gzipped or not; gzipped files contain no date."""
    suffix = FORMATS[word].suffix
    network = FactorNetwork(domain_of((2, 3)), random_factors(rng, (2, 3), [(1, 0), (0,)]))
    for name in (f"a{suffix}", f"a{suffix.upper()}", f"a.b{suffix}.gz", f"c{suffix}.gz"):
        write_network(tmp_path / name, network)
        assert_same(read_network(str(tmp_path / name)), network, constant=word not in NORMALISED)
    packed = (tmp_path / f"c{suffix}.gz").read_bytes()
    assert packed == (tmp_path / f"a.b{suffix}.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / f"a{suffix}").read_bytes()


def test_a_format_by_its_word(tmp_path: Path, rng: np.random.Generator) -> None:
    network = FactorNetwork(domain_of((2, 3)), random_factors(rng, (2, 3), [(1, 0)]))
    write_network(tmp_path / "model.txt", network, format="LG")
    assert read_network(tmp_path / "model.txt", format="lg") == network
    with pytest.raises(InputError, match="choose one of 'mrf', 'uai', 'lg', 'mn', 'fg'"):
        read_network(tmp_path / "model.txt", format="xyz")


@pytest.mark.parametrize("name", ["model", "model.txt", "model.gz", ".uai.bak", "uai"])
def test_an_unknown_suffix(name: str) -> None:
    with pytest.raises(InputError, match=r"known are \.mrf, \.uai, \.LG, \.mn, \.fg, each also \.gz"):
        format_of(name)


def test_the_command_line_lists_every_format() -> None:
    assert all(kind.suffix in (convert.command.help or "") for kind in FORMATS.values())


def test_a_learned_model_is_a_network(tmp_path: Path) -> None:
    """Names, states and scores; and tables become a model that scores rows."""
    table = {"a": ["x", "y", "y", "x", "y"], "b": [0, 1, 1, 1, 0], "c": [2, 0, 1, 2, 2]}
    model = mrfit.learn(table, structure="complete").model
    model.save(tmp_path / "model.mrf")
    network = read_network(tmp_path / "model.mrf")
    assert network == FactorNetwork(model.domain, model.factors)
    for suffix in (".uai", ".LG", ".fg"):
        write_network(tmp_path / f"other{suffix}", network)
        write_network(tmp_path / "back.mrf", read_network(tmp_path / f"other{suffix}"))
        found = MarkovNetwork.load(tmp_path / "back.mrf")
        assert found.domain == model.domain
        np.testing.assert_allclose(found.ll_rows(table), model.ll_rows(table), atol=1e-12)
        np.testing.assert_allclose(found.pll_rows(table), model.pll_rows(table), atol=1e-12)


@EVERY
def test_a_fitted_model_is_written_as_its_tables(word: str, tmp_path: Path) -> None:
    model = mrfit.learn({"rain": ["no", "no", "yes", "yes"], "wet": ["no", "yes", "yes", "yes"]}).model
    path = tmp_path / f"model{FORMATS[word].suffix}"
    write_network(path, model)
    again = read_network(path)
    states = joint_states(model.domain.shape)
    ours, theirs = (each.log_potential(states) for each in (model.factors, again.factors))
    np.testing.assert_allclose(theirs - theirs[0], ours - ours[0], atol=1e-12)


def test_a_learned_model_holds_no_conjunctions_and_needs_a_possible_state() -> None:
    wide = back(FactorNetwork(domain_of((2,)), Factors((2,), (), np.empty(0))), "mn")
    many = FORMATS["mn"].read(
        b"2" + b",2" * 19 + b"\nMN {\n1 " + b" ".join(b"+v%d_1" % i for i in range(20)) + b"\n}", "x"
    )
    assert len(wide.conjunctions) == 0
    with pytest.raises(InputError, match=r"conjunction of 20 variables.*\.mn"):
        FORMATS["mrf"].write(many)
    with pytest.raises(InputError, match="no state possible"):
        FORMATS["mrf"].write(FactorNetwork(domain_of((2,)), Factors.from_tables((2,), [((), [-np.inf])])))


# --- files that are not what they seem


@pytest.mark.parametrize("word", ["uai", "lg", "mn", "fg"])
@given(data=st.data())
@settings(max_examples=150)
def test_damage_is_one_error_or_another_model(word: str, data: st.DataObject) -> None:
    """Bytes cut, dropped, doubled or replaced: nothing but `InputError`."""
    rng = np.random.default_rng(3)
    content = FORMATS[word].write(
        FactorNetwork(domain_of((2, 3)), random_factors(rng, (2, 3), [(1, 0), (0,), ()], zeros=0.3))
    )
    at = data.draw(st.integers(0, len(content) - 1))
    until = data.draw(st.integers(at, min(at + 6, len(content))))
    junk = data.draw(
        st.sampled_from([b"", b"9", b"-1", b" 2 ", b"{", b"}", b"(", b"#", b"nan", b"1e999", b"\xff", b"_", b"\n"])
    )
    complaint = None
    try:
        FORMATS[word].read(content[:at] + junk + content[until:], "model")
    except InputError as error:
        complaint = str(error)
    assert complaint is None or ("\n" not in complaint and "'model'" in complaint)


@pytest.mark.parametrize("word", FORMATS)
def test_nothing_where_a_model_should_be(word: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"model.{word}"
        for content in (b"", b"\x1f\x8b\x08", gzip.compress(b"MARKOV 1 2")[:-6], b"\x00\x01"):
            path.write_bytes(content)
            with pytest.raises(InputError):
                read_network(path)
        with pytest.raises(InputError, match="check the path"):
            read_network(Path(folder) / f"absent.{word}")
        with pytest.raises(InputError):
            read_network(folder, format=word)
