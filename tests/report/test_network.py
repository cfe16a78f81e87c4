"""Pictures of networks: any size, nothing cut off, the same bytes for the same network."""

from __future__ import annotations

import io
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from mrfit.errors import InputError
from mrfit.formats import output_file
from mrfit.report.network import NEGATIVE, NEITHER, POSITIVE, draw_edges, network_figure
from mrfit.report.page import check_figure_path, save_figure

NO_EDGES = np.empty((0, 2), np.int64)


def _random(rng: np.random.Generator, n_variables: int, degree: float) -> tuple[list[str], np.ndarray, np.ndarray]:
    pairs = np.stack(np.triu_indices(n_variables, 1), axis=1)
    chosen = rng.choice(len(pairs), int(n_variables * degree / 2), replace=False)
    return [f"variable {k}" for k in range(n_variables)], pairs[chosen], rng.normal(size=len(chosen))


def _texts(figure: Figure) -> list[Text]:
    return figure.axes[0].texts


def _words(figure: Figure) -> set[str]:
    return {text.get_text() for text in _texts(figure)}


def _boxes(figure: Figure) -> np.ndarray:
    """Where the texts are, in shares of the page, (texts, 2 corners, 2)."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    size = figure.bbox.size
    return np.array([text.get_window_extent(renderer).get_points() / size for text in _texts(figure)])


def _picture(figure: Figure, path: Path) -> np.ndarray:
    save_figure(figure, path)
    return matplotlib.image.imread(io.BytesIO(path.read_bytes()), format="png")


def _blocks(n_blocks: int, size: int) -> np.ndarray:
    return np.array([(size * k + i, size * k + i + 1) for k in range(n_blocks) for i in range(size - 1)])


_ROW = np.array([(k, k + 1) for k in range(99)])
CASES = {
    "no variables": (0, NO_EDGES),
    "one variable": (1, NO_EDGES),
    "two variables": (2, np.array([(0, 1)])),
    "two apart": (2, NO_EDGES),
    "three in a row": (3, _ROW[:2]),
    "no edges": (60, NO_EDGES),
    "no edges, many": (61, NO_EDGES),
    "an edge among many": (500, np.array([(3, 400)])),
    "one edge twice": (3, np.array([(0, 1), (1, 0)])),
    "complete": (12, np.stack(np.triu_indices(12, 1), axis=1)),
    "long path": (100, _ROW),
    "star": (100, np.array([(0, k) for k in range(1, 100)])),
    "pairs": (150, _blocks(75, 2)),
    "triples": (150, _blocks(50, 3)),
    "large and small": (110, np.concatenate([_ROW[:80], [(90, 91), (92, 93), (93, 94)]])),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["signed", "equal", "zero"])
def test_awkward_networks_are_drawn(case: str, kind: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """Without a warning, and no text crosses the border."""
    n_variables, edges = CASES[case]
    strengths = {"signed": rng.normal(size=len(edges)), "equal": np.ones(len(edges)), "zero": np.zeros(len(edges))}
    figure = network_figure([f"name {k}" for k in range(n_variables)], edges, strengths[kind], title="A title")
    boxes = _boxes(figure)
    assert boxes.min() >= 0
    assert boxes.max() <= 1
    assert _picture(figure, tmp_path / "network.png").std() > 0


@pytest.mark.parametrize(("n_variables", "inches"), [(16, 8), (60, 11), (200, 13), (1058, 16)])
def test_pages_grow_slowly(n_variables: int, inches: int, tmp_path: Path, rng: np.random.Generator) -> None:
    """A page one can look at, and as many pixels as its size says."""
    figure = network_figure(*_random(rng, n_variables, 5))
    width, height = figure.get_size_inches()
    assert width == pytest.approx(inches, abs=0.6)
    assert 0.4 * width < height < width
    rows, columns, _ = _picture(figure, tmp_path / "network.png").shape
    assert (columns, rows) == pytest.approx((150 * width, 150 * height), abs=1)


@pytest.mark.parametrize("n_edges", [3_750, 1_124_250])
def test_large_networks_take_seconds(n_edges: int, tmp_path: Path, rng: np.random.Generator) -> None:
    """1,500 variables; of too many edges the strongest are drawn, and the caption says so."""
    names, edges, strengths = _random(rng, 1_500, 1_499)
    begun = time.perf_counter()
    figure = network_figure(names, edges[:n_edges], strengths[:n_edges])
    save_figure(figure, tmp_path / "network.png")
    assert time.perf_counter() - begun < 30  # 3 seconds on two free cores
    assert ("1,500 variables, 1,124,250 edges; drawn: the 6,000 strongest" in _words(figure)) == (n_edges > 6_000)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".PNG"])
@pytest.mark.parametrize("n_variables", [20, 120])
def test_equal_networks_are_equal_files(
    suffix: str, n_variables: int, tmp_path: Path, rng: np.random.Generator
) -> None:
    """Drawn twice, saved twice, with the edges in another order."""
    names, edges, strengths = _random(rng, n_variables, 4)
    order = rng.permutation(len(edges))
    first, second = network_figure(names, edges, strengths), network_figure(names, edges[order], strengths[order])
    for name, figure in (("a", first), ("b", first), ("c", second)):
        save_figure(figure, tmp_path / f"{name}{suffix}")
    assert len({(tmp_path / f"{name}{suffix}").read_bytes() for name in "abc"}) == 1


def test_few_variables_all_have_labels(rng: np.random.Generator) -> None:
    """Long names are cut, and hardly any lie on each other."""
    names, edges, strengths = _random(rng, 40, 3)
    names[0] = "a name of many, many letters"
    edges[0] = (0, 1)
    figure = network_figure(names, edges, strengths)
    assert {"a name of many, m…", *names[1:]} <= _words(figure)
    boxes = _boxes(figure)
    upper = np.minimum(boxes[:, None, 1], boxes[None, :, 1])
    lower = np.maximum(boxes[:, None, 0], boxes[None, :, 0])
    overlapping = np.triu((upper - lower > 0.002).all(axis=2), 1).sum()
    assert overlapping <= 4


def test_of_many_variables_the_hubs_have_labels() -> None:
    """At most 40, the largest of all among them."""
    edges = np.array([(k // 10, k) for k in range(1, 300)])
    edges = edges[edges[:, 0] != edges[:, 1]]
    strengths = np.where(edges[:, 0] == 7, 5.0, 1.0)
    figure = network_figure([f"variable {k}" for k in range(300)], edges, strengths)
    labels = [word for word in _words(figure) if word.startswith("variable ")]
    assert "variable 7" in labels
    assert 20 <= len(labels) <= 40


def test_variables_without_an_edge_are_listed_or_counted() -> None:
    """Listed up to 60, counted beyond."""
    edges, strengths = np.array([(0, 1)]), np.ones(1)
    words = _words(network_figure([f"v{k}" for k in range(62)], edges, strengths))
    assert {"v61", "60 variables without an edge:", "62 variables, 1 edge"} <= words
    words = _words(network_figure([f"v{k}" for k in range(63)], edges, strengths))
    assert "61 variables without an edge" in words
    assert "v62" not in words


def test_signs_have_colours_and_a_legend() -> None:
    """Blue, red, grey; the legend tells the strongest of each sign."""
    figure = network_figure(list("abcd"), np.array([(0, 1), (1, 2), (2, 3)]), np.array([2.0, -1.5, 0.0]))
    (lines,) = (item for item in figure.axes[0].collections if isinstance(item, LineCollection))
    assert [to_hex(colour) for colour in lines.get_colors()] == [NEITHER, NEGATIVE, POSITIVE]
    widths = lines.get_linewidths()
    assert widths[0] < widths[1] < widths[2]
    assert {"strength", "+2", "−1.5"} <= _words(figure)


def test_components_lie_side_by_side() -> None:
    """Boxes around components do not overlap, and none is far away."""
    edges = np.concatenate([_blocks(4, 5), [(20, 21), (22, 23)]])
    figure = network_figure([str(k) for k in range(24)], edges, np.ones(len(edges)))
    (lines,) = (item for item in figure.axes[0].collections if isinstance(item, LineCollection))
    ends = np.array([[path.vertices[0], path.vertices[-1]] for path in lines.get_paths()])
    assert np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).max() < 0.5 * figure.get_size_inches()[0]
    places = figure.axes[0].collections[-1].get_offsets()
    distances = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(len(places))
    assert distances.min() > 0.15  # inches


@given(st.lists(st.text(max_size=25), min_size=3, max_size=5), st.text(min_size=1, max_size=200))
@settings(max_examples=25)
def test_any_names_are_drawn(names: list[str], title: str) -> None:
    """Formulas, line breaks and letters the font lacks, without a warning."""
    figure = network_figure(names, np.array([(0, 1)]), np.ones(1), title=title)
    with TemporaryDirectory() as folder:
        save_figure(figure, Path(folder) / "network.svg")


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_letters_the_font_lacks_do_not_warn(suffix: str, tmp_path: Path) -> None:
    """They become boxes; dollars are dollars."""
    names = ["$a_", "日本語の名前です", "x\ny\tz", "W" * 40, "\U0001f9ec", "\ud800", ""]
    figure = network_figure(
        names, np.array([(0, 1), (1, 2), (0, 3)]), np.array([1.0, -2.0, 0.5]), title="100 $ \\frac{"
    )
    save_figure(figure, tmp_path / f"network{suffix}")
    assert {"$a_", "x y z", "100 $ \\frac{"} <= _words(figure)


@pytest.mark.parametrize("name", ["network.pdf", "network", "network.svg.gz"])
def test_an_unknown_suffix_is_refused(tmp_path: Path, name: str) -> None:
    """In one line, with those that are known."""
    for action in (lambda path: save_figure(Figure(), path), check_figure_path):
        with pytest.raises(InputError, match=r"^The name '.*' .* end in \.png or \.svg\.$"):
            action(tmp_path / name)
    with pytest.raises(InputError, match="does not exist"):
        check_figure_path(tmp_path / "nowhere" / "network.png")


def test_a_failed_write_leaves_the_old_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole or not at all."""
    path = tmp_path / "network.png"
    path.write_text("old")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output_file.Path, "replace", full_disk)
    with pytest.raises(InputError, match="No space left"):
        save_figure(Figure(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("edges", "strengths", "message"),
    [
        ([(0, 1)], [1.0, 2.0], "1 edges need as many strengths"),
        ([(0, 1)], [float("nan")], "finite"),
        ([(0, 3)], [1.0], "variables 0 to 2; got 0 to 3"),
        ([(-1, 1)], [1.0], "variables 0 to 2; got -1 to 1"),
        ([(1, 1)], [1.0], "joins a variable to itself"),
    ],
)
def test_wrong_edges_are_refused(edges: list[tuple[int, int]], strengths: list[float], message: str) -> None:
    """At the door."""
    with pytest.raises(InputError, match=message):
        network_figure(["a", "b", "c"], np.array(edges), np.array(strengths))


def test_edges_on_given_places_keep_the_strongest() -> None:
    """What the picture of the digits uses."""
    axes = Figure().add_subplot()
    places = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)])
    draw_edges(axes, places, np.array([(0, 1), (1, 2), (0, 2)]), np.array([1.0, -3.0, 2.0]), most=2)
    (lines,) = axes.collections
    assert [to_hex(colour) for colour in lines.get_colors()] == [POSITIVE, NEGATIVE]
    assert lines.get_linewidths()[-1] == pytest.approx(3.6)
