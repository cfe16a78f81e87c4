"""Structures as graph files: what was saved comes back, and other programs can read it."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from tempfile import TemporaryDirectory

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError, StructureError
from mrfit.formats import graphs, output_file
from mrfit.formats.graphs import check_structure_path, load_structure, save_structure
from mrfit.structures.edge_report import EdgeReport
from mrfit.structures.edges_file import read_edges
from mrfit.structures.structure import Structure

SUFFIXES = pytest.mark.parametrize("suffix", graphs.SUFFIXES)
NAMES = ("a", 'b,"b"', "c c", "#d", "é", "alone")
DOMAIN = Domain.from_states(dict.fromkeys(NAMES, "01"))
STRUCTURE = Structure.from_edges(6, [(0, 1), (1, 3), (2, 4)])
NAN = float("nan")
REPORT = EdgeReport(
    np.array([(0, 1), (1, 3), (2, 4)]),
    np.array([(0.5, 0.1), (-2.0, -1.0), (0.1, 0.0)]),
    np.array([(3.0, NAN), (9.0, 8.0), (0.1, NAN)]),
    np.array([1, -1, 0]),
)


@SUFFIXES
@pytest.mark.parametrize("report", [None, REPORT], ids=["names only", "report"])
def test_a_structure_comes_back(tmp_path: Path, suffix: str, report: EdgeReport | None) -> None:
    """Edges may have numbers or none, and names any characters."""
    path = tmp_path / f"graph{suffix}"
    save_structure(path, STRUCTURE, DOMAIN, report)
    assert load_structure(str(path), DOMAIN) == STRUCTURE
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@SUFFIXES
def test_equal_structures_are_equal_files(tmp_path: Path, suffix: str) -> None:
    """No dates, no order of memory; the suffix in any case."""
    for name in (f"one{suffix}", f"two{suffix.upper()}"):
        save_structure(tmp_path / name, STRUCTURE, DOMAIN, REPORT)
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix.upper()}").read_bytes()


@SUFFIXES
def test_no_edges_is_a_structure_too(tmp_path: Path, suffix: str) -> None:
    """Independence, with an empty report or none."""
    path = tmp_path / f"graph{suffix}"
    none = EdgeReport(np.empty((0, 2), np.int64), np.empty((0, 2)), np.empty((0, 2)), np.empty(0, np.int64))
    for report in (None, none):
        save_structure(path, Structure.independent(6), DOMAIN, report)
        assert load_structure(path, DOMAIN) == Structure.independent(6)


@pytest.mark.parametrize("is_joint", [False, True])
def test_a_list_without_edges_has_all_columns(is_joint: bool, tmp_path: Path) -> None:
    """Columns are those of a list with edges, so that programs find them by name."""
    joint = {"owner": np.zeros(1, np.int64), "gain": np.zeros(1)} if is_joint else {}
    pair, number = np.zeros((1, 2)), np.zeros(1, np.int64)
    some = EdgeReport(np.array([[2, 3]]), pair, pair, number, **joint)
    none = EdgeReport(
        some.edges[:0], pair[:0], pair[:0], number[:0], **{name: value[:0] for name, value in joint.items()}
    )
    headers = []
    for report in (some, none):
        save_structure(tmp_path / "e.csv", Structure.from_edges(6, report.edges), DOMAIN, report)
        headers.append((tmp_path / "e.csv").read_text().splitlines()[0])
    assert headers[0] == headers[1]
    assert headers[0].count(",") == (10 if is_joint else 8)


# XML and edge lists have their own limits; the next tests are about those.
_CHARACTERS = st.characters(exclude_categories=("Cs", "Cc", "Cn", "Zl", "Zp"))
_ODD_NAME = st.text(_CHARACTERS | st.sampled_from(",\"' #&<>;=$\\"), max_size=8).map(str.strip)


@given(st.lists(_ODD_NAME, min_size=2, max_size=6, unique=True), st.data())
@settings(max_examples=60)
def test_any_names_come_back(names: list[str], data: st.DataObject) -> None:
    """Names come back from all three files, with the weights of a report."""
    domain = Domain.from_states(dict.fromkeys(names, "01"))
    pairs = [(a, b) for b in range(len(names)) for a in range(b)]
    structure = Structure.from_edges(len(names), data.draw(st.lists(st.sampled_from(pairs), unique=True)))
    numbers = np.arange(2.0 * len(structure.edges)).reshape(-1, 2)
    report = EdgeReport(structure.edges, numbers, numbers, np.ones(len(numbers), np.int64))
    with TemporaryDirectory() as folder:
        for suffix in graphs.SUFFIXES:
            path = Path(folder) / f"graph{suffix}"
            save_structure(path, structure, domain, report)
            assert load_structure(path, domain) == structure


@given(st.lists(st.text(max_size=5), min_size=2, max_size=4, unique=True), st.sampled_from(graphs.SUFFIXES))
def test_a_name_that_a_file_cannot_hold_is_refused(names: list[str], suffix: str) -> None:
    """Any text: either it comes back, or nothing is written; JSON holds all."""
    domain = Domain.from_states(dict.fromkeys(names, "01"))
    structure = Structure.complete(len(names))
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"graph{suffix}"
        try:
            save_structure(path, structure, domain)
        except InputError as error:
            refusal = str(error)
            assert suffix != ".json"
            assert "use .json or rename it" in refusal
            assert not any(Path(folder).iterdir())
        else:
            assert load_structure(path, domain) == structure


@SUFFIXES
def test_half_a_character_is_refused(tmp_path: Path, suffix: str) -> None:
    """A lone surrogate is not text in any file."""
    with pytest.raises(InputError, match=r"'.*\\ud800'"):
        save_structure(
            tmp_path / f"graph{suffix}", Structure.complete(2), Domain.from_states({"a": "01", "\ud800": "01"})
        )
    assert not any(tmp_path.iterdir())


def test_the_edge_list_is_sorted_and_empty_where_nothing_is_known(tmp_path: Path) -> None:
    """The largest weight first, as `EdgeReport.rows`; also for `read_edges`."""
    path = tmp_path / "graph.csv"
    save_structure(path, STRUCTURE, DOMAIN, REPORT)
    with path.open(encoding="utf-8", newline="") as lines:
        records = list(csv.DictReader(lines))
    assert [record["source"] for record in records] == ['b,"b"', "a", "c c"]
    assert list(records[0]) == list(next(REPORT.rows(NAMES)))
    assert [record["entered_target"] for record in records] == ["8.0", "", ""]
    assert [(record["weight"], record["sign"]) for record in records] == [("-1.5", "-1"), ("0.3", "1"), ("0.05", "0")]
    assert read_edges(path, DOMAIN) == STRUCTURE


def test_graphml_is_typed_undirected_and_keeps_ends(tmp_path: Path) -> None:
    """Make every attribute a double, but signs and units of weights; NaN is absent; the source stays the source."""
    path = tmp_path / "graph.graphml"
    save_structure(path, STRUCTURE, DOMAIN, REPORT)
    root = ElementTree.parse(path).getroot()
    space = "{http://graphml.graphdrawing.org/xmlns}"
    types = {key.get("attr.name"): key.get("attr.type") for key in root.iter(f"{space}key")}
    assert types.pop("edge_weight") == "string"
    assert types.pop("unit") == "string"
    assert set(types.values()) - {types.pop("sign")} == {"double"}
    assert [graph.get("edgedefault") for graph in root.iter(f"{space}graph")] == ["undirected"]
    graph = networkx.read_graphml(path)
    assert tuple(graph) == NAMES
    assert graph.graph["edge_weight"] == "log odds ratio"
    assert graph.nodes['b,"b"'] == {"degree": 2.0, "total_strength": pytest.approx(1.8)}
    assert graph.nodes["alone"] == {"degree": 0.0, "total_strength": 0.0}
    assert graph.edges["a", 'b,"b"'] == {
        "weight": 0.3,
        "sign": 1,
        "unit": "log odds ratio",
        "target_given_source": 0.1,
        "source_given_target": 0.5,
        "entered_source": 3.0,
    }
    assert [edge.get("source") for edge in root.iter(f"{space}edge")] == ["a", 'b,"b"', "c c"]


def test_json_names_all_variables_and_has_no_nan(tmp_path: Path) -> None:
    """A document any reader takes."""
    path = tmp_path / "graph.json"
    save_structure(path, STRUCTURE, DOMAIN, REPORT)
    document = json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert {key: document[key] for key in ("format", "schema")} == {"format": "mrfit structure", "schema": 1}
    assert document["variables"] == list(NAMES)
    assert [len(edge) for edge in document["edges"]] == [10, 9, 9]
    assert [edge["weight"] for edge in document["edges"]] == [edge["strength"] for edge in document["edges"]]
    assert document["edge_weight"] == "log odds ratio"
    save_structure(path, STRUCTURE, DOMAIN)
    assert json.loads(path.read_text(encoding="utf-8"))["edges"][0] == {"source": "a", "target": 'b,"b"'}


@pytest.mark.parametrize("name", ["graph.txt", "graph", "graph.csv.gz", ".csv"])
def test_an_unknown_suffix_is_refused(tmp_path: Path, name: str) -> None:
    """The error is one line with the suffixes that are known."""
    for action in (
        lambda: save_structure(tmp_path / name, STRUCTURE, DOMAIN),
        lambda: load_structure(tmp_path / name, DOMAIN),
        lambda: check_structure_path(tmp_path / name),
    ):
        with pytest.raises(InputError, match=r"^The name '.*' .* end in \.csv, \.graphml or \.json\.$"):
            action()


@SUFFIXES
def test_a_failed_write_leaves_the_old_file(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole or not at all."""
    path = tmp_path / f"graph{suffix}"
    path.write_text("old")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output_file.Path, "replace", full_disk)
    with pytest.raises(InputError, match="No space left"):
        save_structure(path, STRUCTURE, DOMAIN)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    """The check comes before any work."""
    with pytest.raises(InputError, match="does not exist"):
        check_structure_path(tmp_path / "nowhere" / "graph.csv")


def test_what_does_not_fit_together_is_refused(tmp_path: Path) -> None:
    """Domain, order and report."""
    path = tmp_path / "graph.csv"
    with pytest.raises(StructureError, match="5 variables and the domain 6"):
        save_structure(path, Structure.complete(5), DOMAIN)
    with pytest.raises(StructureError, match="scopes of 3 variables"):
        save_structure(path, Structure.from_scopes(6, [(0, 1, 2)]), DOMAIN)
    with pytest.raises(StructureError, match="3 edges that are not the 15"):
        save_structure(path, Structure.complete(6), DOMAIN, REPORT)
    assert not path.exists()


@SUFFIXES
def test_an_unknown_variable_is_named(tmp_path: Path, suffix: str) -> None:
    """The error is one line, with the file and the known variables."""
    path = tmp_path / f"graph{suffix}"
    save_structure(path, STRUCTURE, DOMAIN, REPORT)
    with pytest.raises(StructureError, match=rf"graph{suffix}.*'é'.*the variables are 'a', [^\n]*$"):
        load_structure(path, Domain.from_states(dict.fromkeys((*NAMES[:4], "alone"), "01")))


@SUFFIXES
def test_missing_files_and_folders_are_named(tmp_path: Path, suffix: str) -> None:
    """The path as the user gave it."""
    with pytest.raises(StructureError, match=rf"There is no .* file '.*graph{suffix}'"):
        load_structure(tmp_path / f"graph{suffix}", DOMAIN)
    (tmp_path / f"graph{suffix}").mkdir()
    with pytest.raises(StructureError, match="Cannot read"):
        load_structure(tmp_path / f"graph{suffix}", DOMAIN)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b"", "or it is damaged"),
        ("a.json", b'{"format"', "or it is damaged"),
        ("a.json", b"\xff\xfe\xfa", "or it is damaged"),
        ("a.json", b"[" * 100_000, "or it is damaged"),
        ("a.json", b"[1, 2]", "not a structure of mrfit"),
        ("a.json", b'{"format": "mrfit model"}', "not a structure of mrfit"),
        ("a.json", b'{"format": "mrfit structure", "schema": 2}', "schema 2; .* Upgrade"),
        ("a.json", b'{"format": "mrfit structure", "schema": 1}', "it has no 'variables'"),
        ("a.json", b'{"format": "mrfit structure", "schema": 1, "variables": 3}', "or it is damaged"),
        ("a.json", b'{"format": "mrfit structure", "schema": 1, "variables": [1]}', "where a name was expected"),
        (
            "a.json",
            b'{"format": "mrfit structure", "schema": 1, "variables": ["a"], "edges": [{"source": "a"}]}',
            "it has no 'target'",
        ),
        ("a.json", b'{"format": "mrfit structure", "schema": 1, "variables": [], "edges": ["a"]}', "or it is damaged"),
        ("a.graphml", b"", "or it is damaged"),
        ("a.graphml", b"<graphml", "or it is damaged"),
        ("a.graphml", b"not xml", "or it is damaged"),
        ("a.graphml", b"<html></html>", "or it is damaged"),
        ("a.graphml", b'<?xml version="1.0" encoding="nonsense"?><graphml/>', "or it is damaged"),
        ("a.csv", b"\xff\xfe\xfa", "not UTF-8"),
        ("a.csv", b'"' + b"a" * 200_000, "field larger than"),
    ],
)
def test_damaged_files_are_refused_in_one_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    """Never a traceback of a parser."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(StructureError, match=message) as caught:
        load_structure(tmp_path / name, DOMAIN)
    assert "\n" not in str(caught.value)


@SUFFIXES
def test_any_cut_file_is_refused_or_read(tmp_path: Path, suffix: str) -> None:
    """Cut after any byte: a structure or a `StructureError`, nothing else."""
    path = tmp_path / f"graph{suffix}"
    save_structure(path, STRUCTURE, DOMAIN, REPORT)
    content = path.read_bytes()
    for length in range(0, len(content) - 1, 7):
        path.write_bytes(content[:length])
        try:
            load_structure(path, DOMAIN)
        except StructureError:
            continue
        assert suffix == ".csv"  # a cut list is a shorter list


@pytest.mark.parametrize("kind", [networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph])
def test_graphs_of_other_programs_are_read(tmp_path: Path, kind: type[networkx.Graph]) -> None:
    """Directions, parallel edges, loops and attributes do not matter."""
    graph = kind([("a", "é"), ("é", "a"), ("a", "a"), ("#d", "c c")])
    nodes = dict.fromkeys(graph, "text")
    networkx.set_node_attributes(graph, nodes, "note")
    networkx.write_graphml_xml(graph, tmp_path / "graph.graphml")
    assert load_structure(tmp_path / "graph.graphml", DOMAIN) == Structure.from_edges(6, [(0, 4), (2, 3)])
