"""Pairwise structures in files for other programs: an edge list, GraphML, node-link JSON."""

from __future__ import annotations

import io
import json
import math
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mrfit._renamed import with_former_keys
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError, StructureError, listed
from mrfit.formats.output_file import check_writable, write_output
from mrfit.structures.edge_report import EdgeReport
from mrfit.structures.edge_weights import EdgeWeights
from mrfit.structures.edges_file import read_edges
from mrfit.structures.structure import Structure

FORMAT = "mrfit structure"
SCHEMA = 1
FORMS = ("csv", "graphml", "json")
SUFFIXES = tuple(f".{form}" for form in FORMS)

Record = dict[str, str | float]
Report = EdgeReport | EdgeWeights


def save_structure(
    path: str | Path, structure: Structure, domain: Domain, report: Report | None = None, *, form: str | None = None
) -> None:
    """Write the edges of a pairwise structure and their reported values, atomically.

    ``report`` comes from a structure learner, or is the edge weights of a model (`MarkovNetwork.weighted_edges`).
    ``form`` is one of those of `structure_bytes`; by default it follows the suffix of the path.
    """
    check_structure_path(path, form=form)
    write_output(path, structure_bytes(form or form_of(path), structure, domain, report))


def structure_bytes(form: str, structure: Structure, domain: Domain, report: Report | None = None) -> bytes:
    """Return the content of a structure file; numbers that are not finite are left out.

    Without a report it holds names only.

    ======= ===========================================================================================
    csv     edge list with a header, largest weight first, for `read_edges` and spreadsheets. **Variables
            without an edge are not in it**: an edge list has no line for them.
    graphml undirected graph for Gephi, Cytoscape, igraph and networkx; edges carry ``weight``, nodes
            ``degree`` and ``total_strength``, the sum of the sizes of their edges' weights; the unit of
            the weights is the graph's ``edge_weight``.
    json    ``{"format": "mrfit structure", "schema": 1, "edge_weight": unit, "variables": [...],
            "edges": [{...}, ...]}``; ``strength`` is the weight under its former name
    ======= ===========================================================================================
    """
    _check_fit(structure, domain, report)
    records = list(_records(structure, domain, report))
    writers: dict[str, Callable[[], str]] = {
        "csv": lambda: _csv_text(records, _columns(report)),
        "graphml": lambda: _graphml_text(records, domain, report),
        "json": lambda: _json_text(records, domain, report),
    }
    if form not in writers:
        raise StructureError(f"There is no form of structure {form!r}; choose one of {listed(FORMS)}.")
    text = writers[form]()
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"Cannot write the structure: a variable's name holds {text[error.start]!r}, which is not text; rename it."
        ) from None


def load_structure(path: str | Path, domain: Domain) -> Structure:
    """Read the structure in a .csv, .graphml or .json file; numbers on its edges are ignored.

    The structure contains all single variables, even those the file does not name. GraphML from other programs is
    accepted: directions, parallel edges and loops are dropped. `read_edges` reads .csv files and defines what they may
    contain.
    """
    readers: dict[str, Callable[[Path, Domain], Structure]] = {
        "csv": read_edges,
        "graphml": _read_graphml,
        "json": _read_json,
    }
    return readers[form_of(path)](Path(path), domain)


def check_structure_path(path: str | Path, *, form: str | None = None) -> None:
    """Refuse a target of `save_structure` before the work begins."""
    if form is None:
        form_of(path)
    check_writable(path)


def form_of(path: str | Path) -> str:
    """Return the form of structure that the suffix of a name implies."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in FORMS:
        raise StructureError(
            f"The name {Path(path).name!r} does not say which form of structure it is; "
            "let it end in .csv, .graphml or .json."
        )
    return form


def _check_fit(structure: Structure, domain: Domain, report: Report | None) -> None:
    if structure.n_variables != len(domain):
        raise StructureError(
            f"The structure has {structure.n_variables} variables and the domain {len(domain)}; they must agree."
        )
    if structure.order > 2:
        raise StructureError(
            f"The structure has scopes of {structure.order} variables, and graph files hold pairs; "
            "save a model of it as .mrf instead."
        )
    if report is not None and not np.array_equal(np.unique(report.edges, axis=0), structure.edges):
        raise StructureError(
            f"The report is about {len(report.edges)} edges that are not the {len(structure.edges)} of the structure; "
            "pass the report that came with it."
        )


def _records(structure: Structure, domain: Domain, report: Report | None) -> Iterable[Record]:
    names = domain.names
    if report is None:
        return ({"source": names[a], "target": names[b]} for a, b in structure.edges.tolist())
    return report.rows(names)


def _unit(report: Report | None) -> dict[str, str]:
    return {} if report is None else {"edge_weight": report.unit}


def _finite(record: Record) -> Record:
    return {key: value for key, value in record.items() if isinstance(value, str) or math.isfinite(value)}


# --- CSV


def _columns(report: Report | None) -> tuple[str, ...]:
    return ("source", "target") if report is None else report.columns


def _csv_text(records: Sequence[Record], header: Sequence[str]) -> str:
    lines = [header, *([_csv_field(record.get(key, "")) for key in header] for record in map(_finite, records))]
    return "".join(",".join(line) + "\n" for line in lines)


def _csv_field(value: str | float) -> str:
    if not isinstance(value, str):
        return repr(value)
    if value != value.strip() or "\t" in value or len(value.splitlines()) > 1:
        raise InputError(
            f"Variable {value!r} has spaces at an end of its name, or tabs or line breaks in it, which edge lists "
            "cannot hold; use .json or rename it."
        )
    # Not csv.writer: it leaves '#' bare, and a line that begins with one is a comment to `read_edges`.
    return '"' + value.replace('"', '""') + '"' if re.search('[,"#]', value) else value


# --- GraphML

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, production 2


def _graphml_text(records: Sequence[Record], domain: Domain, report: Report | None) -> str:
    import networkx

    unwritable = [name for name in domain.names if _NOT_XML.search(name)]
    if unwritable:
        raise InputError(
            f"Variable {unwritable[0]!r} has a character in its name that GraphML cannot hold; use .json or rename it."
        )
    graph: networkx.Graph[str] = networkx.Graph()
    graph.graph.update(_unit(report))
    # Nodes in the order of the domain, ends a < b: networkx then keeps which end is the source.
    graph.add_nodes_from(domain.names)
    for record in records:
        values = {key: value for key, value in _finite(record).items() if key not in ("source", "target")}
        graph.add_edge(str(record["source"]), str(record["target"]), **values)
    if report is not None:
        for name, degree in graph.degree():
            sizes = (abs(values.get("weight", 0.0)) for values in graph[name].values())
            graph.add_node(name, degree=float(degree), total_strength=math.fsum(sizes))
    buffer = io.BytesIO()
    networkx.write_graphml_xml(graph, buffer)  # not write_graphml, whose bytes depend on whether lxml is there
    return buffer.getvalue().decode()


def _read_graphml(path: Path, domain: Domain) -> Structure:
    import networkx

    content = _content(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about attributes, which are ignored
            graph = networkx.read_graphml(io.BytesIO(content))
    # The reader checks little: a foreign file fails wherever it first differs from its expectations.
    except (networkx.NetworkXError, SyntaxError, LookupError, ValueError, TypeError, AttributeError) as error:
        raise _damaged(path, error) from error
    return _named_structure(path, map(str, graph), ((str(a), str(b)) for a, b, *_ in graph.edges), domain)


# --- JSON


def _json_text(records: Sequence[Record], domain: Domain, report: Report | None) -> str:
    document = {
        "format": FORMAT,
        "schema": SCHEMA,
        **_unit(report),
        "variables": list(domain.names),
        "edges": [_finite(with_former_keys(record, weight="strength")) for record in records],
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _read_json(path: Path, domain: Domain) -> Structure:
    try:
        document = json.loads(_content(path))
    except (ValueError, RecursionError) as error:
        raise _damaged(path, error) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise StructureError(
            f"{path} is JSON, but not a structure of mrfit; expected a file written by `save_structure`."
        )
    if document.get("schema") != SCHEMA:
        raise StructureError(
            f"{path} has schema {document.get('schema')!r}; this version reads schema {SCHEMA}. Upgrade mrfit."
        )
    try:
        names = [_text(name) for name in document["variables"]]
        pairs = [(_text(edge["source"]), _text(edge["target"])) for edge in document["edges"]]
    except (KeyError, TypeError) as error:
        raise _damaged(path, error) from error
    return _named_structure(path, names, pairs, domain)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} found where a name was expected")
    return value


# --- all


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise StructureError(f"There is no structure file {str(path)!r}; check the path.") from None
    except OSError as error:
        raise StructureError(f"Cannot read the structure file {str(path)!r}: {error.strerror}.") from error


def _damaged(path: Path, error: Exception) -> StructureError:
    reason = f"it has no {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
    return StructureError(f"{path} is not a {path.suffix.lower()} structure, or it is damaged ({reason}).")


def _named_structure(path: Path, names: Iterable[str], pairs: Iterable[tuple[str, str]], domain: Domain) -> Structure:
    pairs = list(pairs)
    unknown = [
        name for name in dict.fromkeys([*names, *(name for pair in pairs for name in pair)]) if name not in domain
    ]
    if unknown:
        raise StructureError(
            f"{path} names unknown variables: {listed(unknown)}; the variables are {listed(domain.names)}."
        )
    return Structure.from_edges(len(domain), [(domain.index(a), domain.index(b)) for a, b in pairs])
