"""Model files: what was saved comes back, and nothing else passes for a model."""

from __future__ import annotations

import os
import threading
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from model_files import npy, npy_header, parts_of, rewrite, write_parts
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError, ModelFileError
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.formats import mrf
from mrfit.learning import Learner
from mrfit.learning.specification import learn
from mrfit.model.markov_network import MarkovNetwork
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.structure import Structure
from populations import SHAPES, STRUCTURES, domain_of, problems, random_codes, random_rows
from words import learner


@pytest.fixture
def model(rng: np.random.Generator) -> MarkovNetwork:
    """A fitted model of mixed states."""
    rows = random_rows(rng, SHAPES["mixed"], 50)
    return learn(rows, Structure.complete(4)).best.model


def _same(one: MarkovNetwork, other: MarkovNetwork) -> bool:
    return (
        one.domain == other.domain
        and one.structure == other.structure
        and one.w.tobytes() == other.w.tobytes()
        and one.provenance == other.provenance
    )


def test_a_fitted_model_comes_back_bit_for_bit(model: MarkovNetwork, tmp_path: Path, rng: np.random.Generator) -> None:
    """Parameters, provenance and scores."""
    path = tmp_path / "model.mrf"
    model.save(path)
    loaded = MarkovNetwork.load(str(path))
    assert _same(model, loaded)
    data = Dataset(model.domain, random_codes(rng, SHAPES["mixed"], 30))
    np.testing.assert_array_equal(model.pll_rows(data), loaded.pll_rows(data))
    assert model.pll(data) == loaded.pll(data)


@given(problems())
@hypothesis_settings(max_examples=50)
def test_any_model_comes_back(problem: tuple[UniqueRows, Canonical, np.ndarray]) -> None:
    """Any shape and structure, without parameters too."""
    _, parameters, w = problem
    model = MarkovNetwork(parameters, w, {"note": [1, None, "é"]})
    with TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.mrf")
        assert _same(model, MarkovNetwork.load(Path(folder) / "model.mrf"))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_every_structure_comes_back(structure: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """Scopes of all sizes, closed or not."""
    parameters = Canonical(domain_of(SHAPES["mixed"]), STRUCTURES[structure](4))
    model = MarkovNetwork(parameters, rng.standard_normal(parameters.n_parameters))
    model.save(tmp_path / "model.mrf")
    assert _same(model, MarkovNetwork.load(tmp_path / "model.mrf"))


def test_many_variables_come_back(tmp_path: Path) -> None:
    """Numbers of variables beyond a byte."""
    structure = Structure.from_edges(40_000, [(0, 39_999), (127, 128), (32_767, 32_768)])
    model = MarkovNetwork(Canonical(domain_of((2,) * 40_000), structure), np.arange(40_003) / 7)
    model.save(tmp_path / "model.mrf")
    assert _same(model, MarkovNetwork.load(tmp_path / "model.mrf"))


def test_extreme_parameters_come_back(tmp_path: Path) -> None:
    """Signed zeros, denormals and the largest number."""
    parameters = Canonical(domain_of((2, 2, 2)), Structure.complete(3))
    w = np.array([0.0, -0.0, 5e-324, -1e308, np.pi, 1 / 3])
    MarkovNetwork(parameters, w).save(tmp_path / "model.mrf")
    assert MarkovNetwork.load(tmp_path / "model.mrf").w.tobytes() == w.tobytes()


def test_equal_models_are_equal_files(model: MarkovNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the time of day."""
    model.save(tmp_path / "one.mrf")
    monkeypatch.setattr("time.time", lambda: 2e9)
    MarkovNetwork(model.parameters, model.w.copy(), model.provenance).save(tmp_path / "two.mrf")
    assert (tmp_path / "one.mrf").read_bytes() == (tmp_path / "two.mrf").read_bytes()


def test_awkward_names_come_back(tmp_path: Path) -> None:
    """Unicode, commas, spaces, quotes, line breaks and empty strings, in names, states and the file's own name."""
    states = ["", " ", "a,b", 'say "x"', "línea\nnueva", "日本語", "🙂", "a=b & c", "None", "\\", "w", "scopes_1"]
    domain = Domain.from_states({name: [name, *(s for s in states[:3] if s != name)] for name in states})
    parameters = Canonical(domain, Structure.independent(len(domain)))
    model = MarkovNetwork(parameters, np.arange(parameters.n_parameters) / 3)
    path = tmp_path / "mödel, with spaces"
    model.save(path)
    assert _same(model, MarkovNetwork.load(path))


def test_saving_over_a_file_replaces_it_whole(model: MarkovNetwork, tmp_path: Path) -> None:
    """The old content is gone and nothing else is in the folder."""
    path = tmp_path / "model.mrf"
    path.write_bytes(b"old" * 10_000)
    model.save(path)
    assert _same(model, MarkovNetwork.load(path))
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_written_where_there_is_no_folder(model: MarkovNetwork, tmp_path: Path) -> None:
    """The message names the folder."""
    with pytest.raises(InputError, match=r"Cannot write .*absent does not exist; make it first"):
        model.save(tmp_path / "absent" / "model.mrf")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_is_not_a_target(model: MarkovNetwork, tmp_path: Path) -> None:
    """And nothing is left in it."""
    with pytest.raises(InputError, match="it is a directory"):
        model.save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(
    model: MarkovNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fills up costs neither the old model nor a stray file."""
    path = tmp_path / "model.mrf"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match=r"Cannot write .*: No space left on device"):
        model.save(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_every_truncation_is_noticed(model: MarkovNetwork, tmp_path: Path) -> None:
    """Every length is tried, from the empty file to one byte short."""
    path = tmp_path / "model.mrf"
    model.save(path)
    whole = path.read_bytes()
    for length in [*range(0, len(whole), 37), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError, match=r"model\.mrf"):
            MarkovNetwork.load(path)


@pytest.mark.parametrize("mask", [0xFF, 0x01, 0x20])
def test_a_flipped_byte_is_noticed_or_harmless(model: MarkovNetwork, tmp_path: Path, mask: int) -> None:
    """Every byte in turn: an error of ours, or the same model (a date, an unused field)."""
    path = tmp_path / "model.mrf"
    model.save(path)
    whole = path.read_bytes()
    noticed, surprises = 0, {}
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ mask]) + whole[position + 1 :])
        try:
            assert _same(model, MarkovNetwork.load(path)), f"byte {position} changed the model unnoticed"
        except ModelFileError:
            noticed += 1
        except Exception as error:
            surprises[position] = repr(error)
    assert not surprises
    assert noticed > len(whole) / 2


@pytest.mark.parametrize(
    "settings",
    [learner(tuple(np.arange(1, 3))), learner((np.float32(1.0),)), learner((1.0,), free_orders=np.array([1]))],
    ids=["integers", "single precision", "orders"],
)
def test_a_model_learned_with_numpy_settings_can_be_saved(
    settings: Learner, tmp_path: Path, rng: np.random.Generator
) -> None:
    """Numbers are numbers, whichever library made them."""
    learn(random_rows(rng, (2, 2), 10), Structure.complete(2), settings).best.model.save(tmp_path / "model.mrf")
    MarkovNetwork.load(tmp_path / "model.mrf")


def _rewritten(model: MarkovNetwork, path: Path, change: Callable[[dict, dict], None]) -> None:
    """Save the model with its description and arrays changed, in a sound archive."""
    model.save(path)
    rewrite(path, change)


def test_an_unchanged_rewrite_loads(model: MarkovNetwork, tmp_path: Path) -> None:
    """So that the changes below are what is refused."""
    _rewritten(model, tmp_path / "model.mrf", lambda description, arrays: None)
    assert _same(model, MarkovNetwork.load(tmp_path / "model.mrf"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d, a: d.update(schema=mrf.SCHEMA + 1, mrfit="99.0"), r"schema 3, written by mrfit 99\.0.*Upgrade"),
        (lambda d, a: d.update(format="something else"), "not a model file of mrfit"),
        (lambda d, a: d.pop("domain"), "do not fit together"),
        (lambda d, a: d["domain"].popitem(), "do not fit together"),
        (lambda d, a: d["domain"]["x0"].append("s9"), "do not fit together"),
        (lambda d, a: d["domain"].update(x0=[]), "do not fit together"),
        (lambda d, a: a.pop("w"), "do not fit together"),
        (lambda d, a: a.update(w=a["w"][:-1]), "do not fit together"),
        (lambda d, a: a.update(w=a["w"] * np.nan), "do not fit together"),
        (lambda d, a: a.update(scopes_2=a["scopes_2"] + 90), "do not fit together"),
        (lambda d, a: a.update(scopes_x=a["scopes_2"]), "do not fit together"),
        (lambda d, a: a.update(scopes_2=a["scopes_2"][::-1]), "do not fit together"),
        (lambda d, a: a.update(scopes_2=a["scopes_2"] - 1), "do not fit together"),
        (lambda d, a: a.update(w=a["w"].astype(str)), "no array of numbers"),
        (lambda d, a: d.update(parameterization={"name": "astral"}), "do not fit together"),
        (lambda d, a: d.update(provenance=3), "do not fit together"),
    ],
    ids=[
        "newer schema",
        "other format",
        "no domain",
        "a variable less",
        "a state more",
        "no states",
        "no parameters",
        "a parameter less",
        "not a number",
        "scopes out of range",
        "an unknown array",
        "scopes out of order",
        "a negative variable",
        "parameters as words",
        "other coordinates",
        "provenance of another kind",
    ],
)
def test_an_altered_model_is_refused(
    model: MarkovNetwork, tmp_path: Path, change: Callable[[dict, dict], None], message: str
) -> None:
    """Sound archives whose parts do not fit."""
    _rewritten(model, tmp_path / "model.mrf", change)
    with pytest.raises(ModelFileError, match=message):
        MarkovNetwork.load(tmp_path / "model.mrf")


def test_pickles_are_never_opened(model: MarkovNetwork, tmp_path: Path) -> None:
    """An array of objects is refused, not executed."""
    path = tmp_path / "model.mrf"
    _rewritten(model, path, lambda description, arrays: arrays.update(w=np.array([print], object)))
    with pytest.raises(ModelFileError, match=r"model\.mrf"):
        MarkovNetwork.load(path)


def test_an_older_schema_says_what_to_do(model: MarkovNetwork, tmp_path: Path) -> None:
    _rewritten(model, tmp_path / "model.mrf", lambda description, arrays: description.update(schema=1))
    with pytest.raises(ModelFileError, match=r"schema 1, .* reads schema 2\. Fit the model again"):
        MarkovNetwork.load(tmp_path / "model.mrf")


def test_a_change_that_fits_is_found_by_the_checksum(model: MarkovNetwork, tmp_path: Path) -> None:
    """One bit of one parameter, in an archive whose own checks agree."""
    path = tmp_path / "model.mrf"
    model.save(path)
    parts = parts_of(path)
    flipped = bytearray(parts["w.npy"])
    flipped[-1] ^= 1
    write_parts(path, {**parts, "w.npy": bytes(flipped)}, checksum=mrf._checksum(parts))
    with pytest.raises(ModelFileError, match="its checksum differs"):
        MarkovNetwork.load(path)


def _compressed(path: Path, parts: dict[str, bytes]) -> None:
    write_parts(path, {**parts, "w.npy": npy(np.zeros(2_000_000))}, compression=zipfile.ZIP_DEFLATED)


def _overlapping(path: Path, parts: dict[str, bytes]) -> None:
    """A directory that points many times at the same bytes (Fifield 2019)."""
    write_parts(path, parts | {f"scopes_{size}.npy": npy(np.zeros(10_000)) for size in range(3, 30)})
    with zipfile.ZipFile(path, "a") as archive:
        first = archive.getinfo("scopes_3.npy")
        for size in range(4, 30):
            archive.getinfo(f"scopes_{size}.npy").header_offset = first.header_offset
        archive.writestr("last", b"")
    content = path.read_bytes()
    second = content.index(b"PK\x03\x04", first.header_offset + 4)
    directory = content.index(b"PK\x01\x02")
    shifted = bytearray(content[:second] + content[directory:])
    shifted[-6:-2] = second.to_bytes(4, "little")  # where the directory begins
    path.write_bytes(shifted)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (_compressed, "is compressed"),
        (_overlapping, "larger than the file|not a model file"),
        (lambda path, parts: write_parts(path, parts | {"w.npy": npy_header((10**12,))}), "declares float64 of shape"),
        (lambda path, parts: write_parts(path, parts | {"w.npy": npy_header((2**62, 2**62))}), "declares float64"),
        (lambda path, parts: write_parts(path, parts | {"w.npy": npy_header((0, 10**18))}), "do not fit together"),
        (lambda path, parts: write_parts(path, parts | {"w.npy": npy_header((10**12,), "|S0")}), "model.mrf"),
        (lambda path, parts: write_parts(path, parts | {"../../evil.npy": npy([1])}), "unknown arrays"),
        (lambda path, parts: write_parts(path, parts | {"/tmp/evil": b"x"}), "not a model file"),
    ],
    ids=["bomb", "overlap", "huge shape", "overflowing shape", "empty shape", "no width", "traversal", "foreign part"],
)
def test_what_claims_to_be_large_is_refused_before_it_is_allocated(
    model: MarkovNetwork, tmp_path: Path, write: Callable[[Path, dict[str, bytes]], None], message: str
) -> None:
    """Opening takes a few times the size of the file, whatever is declared in it."""
    path = tmp_path / "model.mrf"
    model.save(path)
    write(path, parts_of(path))
    before = [sorted(folder.iterdir()) for folder in (tmp_path, *tmp_path.parents[:2])]
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=message):
            MarkovNetwork.load(path)
        assert tracemalloc.get_traced_memory()[1] < 4 * path.stat().st_size + 1e6
    finally:
        tracemalloc.stop()
    assert [sorted(folder.iterdir()) for folder in (tmp_path, *tmp_path.parents[:2])] == before


@pytest.mark.parametrize("states", [300, 2000])
def test_a_scope_with_more_states_than_numbers_is_refused(states: int, tmp_path: Path) -> None:
    """One parameter of eight variables, each of hundreds of states: no table of them is ever made."""
    parameters = Canonical(domain_of((2,) * 8), Structure.from_scopes(8, [range(8)], closed=False))
    MarkovNetwork(parameters, np.ones(1)).save(tmp_path / "model.mrf")

    def change(description: dict, arrays: dict) -> None:
        description["domain"] = {name: [str(k) for k in range(states)] for name in description["domain"]}

    rewrite(tmp_path / "model.mrf", change)
    with pytest.raises(ModelFileError, match="do not fit together"):
        MarkovNetwork.load(tmp_path / "model.mrf")


def test_a_model_can_come_through_a_pipe(model: MarkovNetwork, tmp_path: Path) -> None:
    """A stream that cannot be read twice is read once."""
    model.save(tmp_path / "model.mrf")
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes((tmp_path / "model.mrf").read_bytes()))
    writer.start()
    assert _same(model, MarkovNetwork.load(tmp_path / "pipe"))
    writer.join()


def test_other_files_are_refused(tmp_path: Path) -> None:
    """Other archives, text, nothing at all, a folder."""
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with zipfile.ZipFile(tmp_path / "list.zip", "w") as archive:
        archive.writestr("model.json", "[]")
    with zipfile.ZipFile(tmp_path / "broken.zip", "w") as archive:
        archive.writestr("model.json", "{")
    (tmp_path / "text.mrf").write_text("a,b\n0,1\n")
    np.savez(tmp_path / "arrays.npz", w=np.zeros(3))
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(ModelFileError, match=f"{path.name}.* not a model file of mrfit"):
            MarkovNetwork.load(path)
    with pytest.raises(ModelFileError, match=r"no model file .*nowhere\.mrf"):
        MarkovNetwork.load(tmp_path / "nowhere.mrf")
    with pytest.raises(ModelFileError, match="Cannot read"):
        MarkovNetwork.load(tmp_path)
