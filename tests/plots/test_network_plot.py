"""Pictures of networks: any size, nothing cut off, the same bytes for the same network."""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from mrfit.core.errors import InputError
from mrfit.data.named_datasets import find
from mrfit.data.unique_rows import UniqueRows
from mrfit.formats import output_file
from mrfit.plots.drawn_edges import NEGATIVE, NEITHER, NO_SIGN, POSITIVE, draw_edges
from mrfit.plots.drawn_graph import graph_of
from mrfit.plots.layout_file import read_layout, write_layout
from mrfit.plots.network_plot import network_figure, network_layout
from mrfit.plots.page import check_figure_path, save_figure
from mrfit.structures.simple import Learned

NO_EDGES = np.empty((0, 2), np.int64)


def _random(rng: np.random.Generator, n_variables: int, degree: float) -> tuple[list[str], np.ndarray, np.ndarray]:
    pairs = np.stack(np.triu_indices(n_variables, 1), axis=1)
    chosen = rng.choice(len(pairs), int(n_variables * degree / 2), replace=False)
    return [f"variable {k}" for k in range(n_variables)], pairs[chosen], rng.normal(size=len(chosen))


def _labels(figure: Figure) -> list[str]:
    return [text.get_text() for text in _texts(figure) if text.get_gid() == "label"]


def _texts(figure: Figure) -> list[Text]:
    return figure.axes[0].texts


def _words(figure: Figure) -> set[str]:
    return {text.get_text() for text in _texts(figure)}


def _boxes(figure: Figure) -> np.ndarray:
    """Boxes of the texts, in shares of the page, (texts, 2 corners, 2)."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    size = figure.bbox.size
    return np.array([text.get_window_extent(renderer).get_points() / size for text in _texts(figure)])


def _overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts that lie on each other."""
    boxes, texts = _boxes(figure) * figure.get_size_inches(), _texts(figure)
    upper = np.minimum(boxes[:, None, 1], boxes[None, :, 1])
    lower = np.maximum(boxes[:, None, 0], boxes[None, :, 0])
    pairs = np.argwhere(np.triu((upper - lower > 0.01).all(axis=2), 1))
    return [(texts[a].get_text(), texts[b].get_text()) for a, b in pairs]


def _lines(figure: Figure) -> LineCollection:
    (lines,) = (item for item in figure.axes[0].collections if isinstance(item, LineCollection))
    return lines


def _nodes(figure: Figure) -> tuple[np.ndarray, np.ndarray]:
    """Middles and radii, in inches."""
    dots = figure.axes[0].collections[-1]
    places = np.asarray(dots.get_offsets())
    return places, np.broadcast_to(np.sqrt(dots.get_sizes()) / 144, len(places))


def _n_through_nodes(figure: Figure) -> int:
    """Edges that touch the disc of a node that is not one of their ends."""
    places, radii = _nodes(figure)
    lines, n_through = _lines(figure), 0
    for path, width in zip(lines.get_paths(), lines.get_linewidths(), strict=True):
        start, along = path.vertices[:-1], np.diff(path.vertices, axis=0)
        t = np.clip(((places[:, None] - start) * along).sum(axis=2) / (along**2).sum(axis=1), 0.0, 1.0)
        distance = np.linalg.norm(places[:, None] - start - t[..., None] * along, axis=2).min(axis=1)
        others = np.ones(len(places), bool)
        others[[np.linalg.norm(places - end, axis=1).argmin() for end in path.vertices[[0, -1]]]] = False
        n_through += bool((distance[others] < radii[others] + width / 144).any())
    return n_through


def _contrast_with_white(colour: tuple[float, ...]) -> float:
    """Contrast ratio of the Web Content Accessibility Guidelines: 1 for white, 21 for black."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


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


# How weights of all kinds are drawn shows on a few small networks.
KINDS = {case: ["signed", "equal", "zero"] if 0 < len(edges) < 70 else ["signed"] for case, (_, edges) in CASES.items()}


@pytest.mark.parametrize(("case", "kind"), [(case, kind) for case, kinds in KINDS.items() for kind in kinds])
def test_awkward_networks_are_drawn(case: str, kind: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """There is no warning, and no text crosses the border."""
    n_variables, edges = CASES[case]
    weights = {"signed": rng.normal(size=len(edges)), "equal": np.ones(len(edges)), "zero": np.zeros(len(edges))}
    figure = network_figure([f"name {k}" for k in range(n_variables)], edges, weights[kind], title="A title")
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


def test_of_too_many_edges_the_strongest_are_drawn(tmp_path: Path, rng: np.random.Generator) -> None:
    """And the caption says so."""
    figure = network_figure(*_random(rng, 111, 110))
    save_figure(figure, tmp_path / "network.png")
    assert "111 variables, 6,105 edges; drawn: a backbone of 6,000" in _words(figure)


def test_of_a_large_network_a_backbone_is_drawn(rng: np.random.Generator) -> None:
    """The strongest edges, and those that keep every variable joined to the others."""
    names, edges, weights = _random(rng, 200, 10)
    edges, weights = np.concatenate([edges, [(0, k) for k in range(1, 200)]]), np.append(weights, np.full(199, 1e-6))
    edges, first = np.unique(np.sort(edges, axis=1), axis=0, return_index=True)
    graph = graph_of(names, edges, weights[first], None)
    assert len(graph.edges) == 320
    assert len(graph.alone) == 0
    assert (np.diff(np.abs(graph.weights)) <= 0).all()
    strongest = np.sort(np.abs(weights[first]))[::-1][:320]
    assert len(np.intersect1d(np.abs(graph.weights), strongest)) > 250
    assert f"200 variables, {len(edges):,} edges; drawn: a backbone of 320" in graph.summary(None)


@pytest.mark.parametrize(("suffix", "n_variables"), [(".png", 20), (".svg", 120), (".pdf", 20), (".PNG", 20)])
def test_equal_networks_are_equal_files(
    suffix: str, n_variables: int, tmp_path: Path, rng: np.random.Generator
) -> None:
    """Drawn twice, saved twice, with the edges in another order."""
    names, edges, weights = _random(rng, n_variables, 4)
    order = rng.permutation(len(edges))
    first, second = network_figure(names, edges, weights), network_figure(names, edges[order], weights[order])
    for name, figure in (("a", first), ("b", first), ("c", second)):
        save_figure(figure, tmp_path / f"{name}{suffix}")
    assert len({(tmp_path / f"{name}{suffix}").read_bytes() for name in "abc"}) == 1


def test_few_variables_all_have_labels(rng: np.random.Generator) -> None:
    """Long names take several lines, and none lie on each other."""
    names, edges, weights = _random(rng, 40, 3)
    names[0] = "a name of many, many letters"
    edges[0] = (0, 1)
    figure = network_figure(names, edges, weights)
    assert {"a name of many, many\nletters", *names[1:]} <= _words(figure)
    assert not _overlaps(figure)


@pytest.mark.parametrize("layout", ["force", "circle"])
@pytest.mark.parametrize(("n_variables", "degree"), [(16, 6), (69, 6), (100, 6.6), (150, 4)])
def test_up_to_150_variables_all_have_labels(
    n_variables: int, degree: float, layout: str, rng: np.random.Generator
) -> None:
    """None on another, and no edge runs through a variable that it does not join."""
    names, edges, weights = _random(rng, n_variables, degree)
    names = [f"v{k}" for k in range(n_variables)]
    figure = network_figure(names, edges, weights, layout=layout, title="t")
    drawn = set(names) if layout == "circle" else {names[k] for k in np.unique(edges)}
    assert set(_labels(figure)) == drawn
    assert not _overlaps(figure)
    assert _n_through_nodes(figure) == 0


def test_names_of_sixty_letters_are_shown_whole(rng: np.random.Generator) -> None:
    """Items of a questionnaire differ in their ends; longer names keep both ends."""
    names = [f"How often did you feel like this in the last two weeks, no. {k:02}" for k in range(12)]
    assert {len(name) for name in names} == {62}
    _, edges, weights = _random(rng, 12, 4)
    figure = network_figure(names, edges, weights)
    assert {" ".join(label.split()) for label in _labels(figure)} == {names[k] for k in np.unique(edges)}
    assert not _overlaps(figure)
    assert _boxes(figure).min() >= 0
    assert _boxes(figure).max() <= 1
    figure = network_figure(["a" * 100 + "b", "a" * 100 + "c"], np.array([(0, 1)]), np.ones(1))
    assert {label[-1] for label in _labels(figure)} == {"b", "c"}


def test_weak_edges_and_their_legend_are_visible(rng: np.random.Generator) -> None:
    """Lines among a thousand variables are at least a third of a point wide, and off white."""
    names, edges, _ = _random(rng, 1_058, 8)
    figure = network_figure(names, edges, np.concatenate([[10.0], np.full(len(edges) - 1, 1e-3)]))
    drawn = [
        (width, tuple(c)) for width, c in zip(_lines(figure).get_linewidths(), _lines(figure).get_colors(), strict=True)
    ]
    drawn += [(line.get_linewidth(), to_rgb(line.get_color())) for line in figure.axes[0].lines]
    assert min(width for width, _ in drawn) >= 0.33
    assert min(_contrast_with_white(colour) for _, colour in drawn) >= 1.4
    assert all(colour[3:] in ((), (1.0,)) for _, colour in drawn)  # opaque: crossings do not look like strong edges


def test_an_edge_bends_around_a_variable_in_its_way() -> None:
    """And is straight where there is none."""
    places = np.array([(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (1.0, 1.0)])
    figure = network_figure(list("abcd"), np.array([(0, 2), (0, 3)]), np.array([1.0, 0.5]), layout=places)
    assert _n_through_nodes(figure) == 0
    straight, bent = (path.vertices for path in _lines(figure).get_paths())
    for line, is_straight in ((straight, True), (bent, False)):
        along, rest = line[-1] - line[0], line - line[0]
        away = abs(along[0] * rest[:, 1] - along[1] * rest[:, 0]) / np.hypot(*along)
        assert (away.max() < 1e-9) == is_straight


# --- layouts


def test_a_circle_is_in_the_order_of_the_variables() -> None:
    """Clockwise from the top; variables without an edge stand on it too, as rings."""
    figure = network_figure(list("abcd"), np.array([(0, 1)]), np.ones(1), layout="circle")
    places, _ = _nodes(figure)
    centred = places - places.mean(axis=0)
    np.testing.assert_allclose(centred / np.abs(centred).max(), [(0, 1), (1, 0), (0, -1), (-1, 0)], atol=1e-9)
    faces = [to_hex(colour) for colour in figure.axes[0].collections[-1].get_facecolors()]
    assert faces == ["#333333", "#333333", "#ffffff", "#ffffff"]
    assert set(_labels(figure)) == set("abcd")


@pytest.mark.parametrize("n_variables", [6, 69, 300])
def test_a_saved_layout_gives_the_same_places(n_variables: int, tmp_path: Path, rng: np.random.Generator) -> None:
    """Positions agree to the last digit, also for another network of the same variables."""
    names, edges, weights = _random(rng, n_variables, 4)
    names[0], names[1] = 'a, "quoted"\nname', "$x_1$ é"
    edges = np.concatenate([edges, [(k, (k + 1) % n_variables) for k in range(n_variables)]])  # none is alone
    weights = rng.normal(size=len(edges))
    saved = network_layout(names, edges, weights)
    for suffix in (".csv", ".json"):
        write_layout(tmp_path / f"a{suffix}", names, saved)
        read = read_layout(tmp_path / f"a{suffix}", names)
        np.testing.assert_array_equal(read, saved)  # so that what is drawn below is drawn of either
        write_layout(tmp_path / f"b{suffix}", names, network_layout(names, edges, weights, layout=read))
        assert (tmp_path / f"b{suffix}").read_bytes() == (tmp_path / f"a{suffix}").read_bytes()
    first, _ = _nodes(network_figure(names, edges, weights))
    for other in (edges, edges[::2]):
        again, _ = _nodes(network_figure(names, other, weights[: len(other)], layout=read))
        np.testing.assert_allclose(again - again[0], first - first[0], atol=2e-4)  # inches


def test_a_layout_has_places_for_variables_without_an_edge(tmp_path: Path) -> None:
    """Below the others: another network may have edges there."""
    names = list("abcdef")
    saved = network_layout(names, np.array([(0, 1), (1, 2)]), np.ones(2))
    assert np.isfinite(saved).all()
    assert saved[3:, 1].max() < saved[:3, 1].min()
    figure = network_figure(names, np.array([(3, 5)]), np.ones(1), layout=saved)
    assert set(_labels(figure)) == set(names)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_places_may_be_in_any_unit(scale: float) -> None:
    """Their shape is kept."""
    places = np.array([(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)])
    drawn, _ = _nodes(network_figure(list("abc"), np.array([(0, 1)]), np.ones(1), layout=scale * places))
    wide, tall = np.ptp(drawn, axis=0)
    assert wide == pytest.approx(3 * tall)
    assert 3 < wide < 6


@pytest.mark.parametrize("places", [[(0, 0)] * 3, [(0, 0), (1, 0), (2, 0)], [(0, 0), (0, 1), (0, 2)]])
def test_places_on_a_line_or_a_point_are_drawn(places: list[tuple[float, float]]) -> None:
    figure = network_figure(list("abc"), np.array([(0, 1)]), np.ones(1), layout=np.array(places, float))
    assert np.isfinite(_nodes(figure)[0]).all()
    assert _boxes(figure).min() >= 0
    assert _boxes(figure).max() <= 1


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ("spiral", "There is no layout 'spiral'; choose force or circle"),
        (np.zeros((2, 2)), r"3 variables need as many positions.*\(2, 2\)"),
        (np.full((3, 2), np.nan), "finite"),
    ],
)
def test_wrong_layouts_are_refused(layout: str | np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        network_figure(list("abc"), np.array([(0, 1)]), np.ones(1), layout=layout)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("l.csv", "name,x,y\na,1,2\n", "no position for 'b'"),
        ("l.csv", "name,x,y\na,1,2\nb,1,2\na,1,2\n", "two positions for 'a'"),
        ("l.csv", "name,x,y\na,1,2\nb,1,inf\n", "puts 'b' at '1', 'inf'"),
        ("l.csv", "name,x,y\na,1,2\nb,1\n", "puts 'b' at '1', None"),
        ("l.csv", "name;x;y\na;1;2\n", "must have columns name, x and y"),
        ("l.csv", "", "no position for 'a', 'b'"),
        ("l.csv", 'name,x,y\n"a,1,2\n', "is not a CSV file"),
        ("l.json", "{", "is not JSON"),
        ("l.json", "[" * 100_000, "is not JSON"),
        ("l.json", "[1, 2]", "must look like"),
        ("l.json", '{"a": [1, 2], "b": 3}', "must give 'b' two numbers"),
        ("l.json", '{"a": [1, 2], "b": [3, "x"]}', "puts 'b' at 3, 'x'"),
        ("l.json", '{"a": [1, 2], "b": [3, 1e400]}', "puts 'b' at 3, inf"),
        ("l.txt", "", r"end in \.csv or \.json"),
    ],
)
def test_wrong_layout_files_are_refused(name: str, text: str, message: str, tmp_path: Path) -> None:
    """The error is one line."""
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_layout(tmp_path / name, ["a", "b"])
    assert "\n" not in str(error.value)


def test_unreadable_layout_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_layout(tmp_path / "nowhere.csv", ["a"])
    (tmp_path / "l.csv").write_bytes(b"name,x,y\n\xff,1,2\n")
    with pytest.raises(InputError, match="not text in UTF-8"):
        read_layout(tmp_path / "l.csv", ["a"])


def test_of_many_variables_the_hubs_have_labels() -> None:
    """There are at most 150 labels, with the largest hubs among them."""
    edges = np.array([(k // 10, k) for k in range(1, 300)])
    edges = edges[edges[:, 0] != edges[:, 1]]
    weights = np.where(edges[:, 0] == 7, 5.0, 1.0)
    figure = network_figure([f"variable {k}" for k in range(300)], edges, weights)
    labels = _labels(figure)
    assert "variable 7" in labels
    assert 60 <= len(labels) <= 150
    assert not _overlaps(figure)


def test_variables_without_an_edge_are_listed_or_counted() -> None:
    """Listed up to 60, counted beyond."""
    edges, weights = np.array([(0, 1)]), np.ones(1)
    words = _words(network_figure([f"v{k}" for k in range(62)], edges, weights))
    assert {"v61", "60 variables without an edge:", "62 variables, 1 edge"} <= words
    words = _words(network_figure([f"v{k}" for k in range(63)], edges, weights))
    assert "61 variables without an edge" in words
    assert "v62" not in words


def test_signs_have_colours_and_a_legend() -> None:
    """Blue, red, grey, and apart without colours; the legend tells the strongest of each sign."""
    figure = network_figure(list("abcd"), np.array([(0, 1), (1, 2), (2, 3)]), np.array([2.0, -1.5, 0.0]))
    lines = _lines(figure)
    assert to_hex(lines.get_colors()[-1]) == POSITIVE
    red, green, blue = lines.get_colors()[1][:3]
    assert red > 2 * green
    assert red > 2 * blue
    assert len(set(lines.get_colors()[0][:3])) == 1  # grey
    widths = lines.get_linewidths()
    assert widths[0] < widths[1] < widths[2]
    assert len({str(style) for style in lines.get_linestyle()}) == 3
    assert {"edge weight", "+2", "−1.5"} <= _words(figure)
    assert not any(NO_SIGN in word for word in _words(figure))


def test_edges_without_a_sign_are_neutral_and_explained() -> None:
    """Whatever the sign of their weight is; those of zero weight need no explanation."""
    edges = np.array([(0, 1), (1, 2), (2, 3), (0, 3)])
    figure = network_figure(list("abcd"), edges, np.array([28.7, -3.0, 5.0, -28.0]), signs=np.array([0, 0, 1, -1]))
    colours = {
        round(width, 6): to_hex(c)
        for width, c in zip(_lines(figure).get_linewidths(), _lines(figure).get_colors(), strict=True)
    }
    assert colours[max(colours)] == NEITHER
    assert f"|25|  {NO_SIGN}" in _words(figure)
    assert {"−25", "|8|"} <= _words(figure)
    assert _boxes(figure).max() <= 1
    assert not _overlaps(figure)


@pytest.mark.parametrize("signs", [[1, 0], [1, 0, 2], [[1, 0, 1]], [1, float("nan"), 0]])
def test_wrong_signs_are_refused(signs: list[float]) -> None:
    with pytest.raises(InputError, match="3 edges need as many signs, each -1, 0 or 1"):
        network_figure(list("abcd"), np.array([(0, 1), (1, 2), (2, 3)]), np.ones(3), signs=np.array(signs))


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


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_letters_the_font_lacks_do_not_warn(suffix: str, tmp_path: Path) -> None:
    """Missing letters become boxes; dollar signs are dollar signs."""
    names = ["$a_", "日本語の名前です", "x\ny\tz", "W" * 40, "\U0001f9ec", "\ud800", ""]
    figure = network_figure(
        names, np.array([(0, 1), (1, 2), (0, 3)]), np.array([1.0, -2.0, 0.5]), title="100 $ \\frac{"
    )
    save_figure(figure, tmp_path / f"network{suffix}")
    assert {"$a_", "x y z", "100 $ \\frac{"} <= _words(figure)


@pytest.mark.parametrize("name", ["network.eps", "network", "network.svg.gz"])
def test_an_unknown_suffix_is_refused(tmp_path: Path, name: str) -> None:
    """The error is one line with the suffixes that are known."""
    for action in (lambda path: save_figure(Figure(), path), check_figure_path):
        with pytest.raises(InputError, match=r"^The name '.*' .* end in \.png, \.svg or \.pdf\.$"):
            action(tmp_path / name)
    with pytest.raises(InputError, match="does not exist"):
        check_figure_path(tmp_path / "nowhere" / "network.png")


def test_pdf_files_embed_true_type_fonts(tmp_path: Path) -> None:
    """Text stays text; journals refuse the Type 3 fonts that are matplotlib's habit."""
    figure = network_figure(["a", "$b_1$", "данные"], np.array([(0, 1), (1, 2)]), np.ones(2), title="title")
    save_figure(figure, tmp_path / "network.pdf")
    content = (tmp_path / "network.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert b"/FontFile2" in content  # an embedded TrueType font
    assert b"/Type3" not in content
    assert b"/CreationDate" not in content


def test_the_rows_are_told_under_the_title() -> None:
    figure = network_figure(list("abc"), np.array([(0, 1)]), np.ones(1), title="survey", n_rows=12_345)
    assert {"survey", "12,345 rows, 3 variables, 1 edge"} <= _words(figure)


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
    ("edges", "weights", "message"),
    [
        ([(0, 1)], [1.0, 2.0], "1 edges need as many weights"),
        ([(0, 1)], [float("nan")], "finite"),
        ([(0, 3)], [1.0], "variables 0 to 2; got 0 to 3"),
        ([(-1, 1)], [1.0], "variables 0 to 2; got -1 to 1"),
        ([(1, 1)], [1.0], "joins a variable to itself"),
    ],
)
def test_wrong_edges_are_refused(edges: list[tuple[int, int]], weights: list[float], message: str) -> None:
    """The check is at the call."""
    with pytest.raises(InputError, match=message):
        network_figure(["a", "b", "c"], np.array(edges), np.array(weights))


def test_edges_on_given_places_keep_the_strongest() -> None:
    """The picture of the digits uses this."""
    axes = Figure().add_subplot()
    places = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)])
    draw_edges(
        axes, places, np.array([(0, 1), (1, 2), (0, 2)]), np.array([1.0, -3.0, 2.0]), most=2, clearance=np.full(3, 0.1)
    )
    (lines,) = axes.collections
    assert to_hex(lines.get_colors()[-1]) == NEGATIVE
    assert lines.get_linestyle()[0] != lines.get_linestyle()[-1]
    assert len(lines.get_paths()) == 2
    assert lines.get_linewidths()[-1] == pytest.approx(3.6)


@pytest.mark.parametrize("name", ["nltcs", "plants", "jester"])
def test_real_networks_are_clear(name: str, data_dir: Path) -> None:
    """16, 69 and 100 variables: every one has its label, and every edge is seen to be whose it is."""
    rows = UniqueRows.from_file(find(name, "train"))
    learned = Learned(max_degree=5).learn(rows)
    edges = learned.structure.edges
    figure = network_figure(rows.domain.names, edges, learned.report.weight, title=name)
    assert set(_labels(figure)) == {rows.domain.names[k] for k in np.unique(edges)}
    assert not _overlaps(figure)
    assert _n_through_nodes(figure) == 0
