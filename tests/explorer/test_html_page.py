"""The page in a real browser: what it computes, what each way of using it does, and what hostile names do not."""

from __future__ import annotations

import csv
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import mrfit
from browser import Tab, axe_script, browser
from mrfit.analysis.stability.stability_file import EdgeStability
from mrfit.core.domain import Domain
from mrfit.core.factors import Factors
from mrfit.data.unique_rows import UniqueRows
from mrfit.explorer.document import Document
from mrfit.explorer.html_page import notebook_frame, report_page
from mrfit.explorer.query_api import Answering
from mrfit.explorer.server import Explorer
from mrfit.explorer.two_models import document_of_two
from mrfit.formats.graphs import load_structure
from mrfit.formats.mrf_network import to_model
from mrfit.model.factor_network import FactorNetwork
from mrfit.model.markov_network import MarkovNetwork
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.structure import Structure
from populations import SCOPES, domain_of, random_factors, rows_from

Open = Callable[..., Tab]

POPULATION = (
    "tree",
    "cycle",
    "nested",
    "disconnected",
    "missing variable",
    "mixed cardinalities",
    "one-state variables",
)
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "</script><script>document.title='!'</script>",
    '"><img src=x onerror="document.title=1">',
    "\u202egnp",
    "nul\x00",
    "n" * 450,
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as context:
        yield context


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens the report of a model from a file; afterwards nothing may have gone wrong or been fetched."""
    tabs: list[Tab] = []

    def open_report(shown: MarkovNetwork | Document, fragment: str = "", *, rows: Any = None, **how: Any) -> Tab:
        path = tmp_path / f"report{len(tabs)}.html"
        document = shown if isinstance(shown, Document) else Document.of(shown, title="A title", rows=rows)
        path.write_bytes(report_page(document))
        tabs.append(Tab(chromium, **how).open(f"file://{path}#{fragment}"))
        return tabs[-1]

    yield open_report
    for tab in tabs:
        assert tab.problems == []
        assert {address.partition(":")[0] for address in tab.requests} <= {"file", "blob"}
        tab.page.close()


def _model(factors: Factors) -> MarkovNetwork:
    return to_model(FactorNetwork(domain_of(factors.shape), factors))


def _small(seed: int = 0) -> MarkovNetwork:
    shape, scopes = SCOPES["nested"]
    return _model(random_factors(np.random.default_rng(seed), shape, scopes))


def _saved_probabilities(tab: Tab, folder: Path) -> list[float]:
    with tab.saved("Probabilities, .csv", folder).open(encoding="utf-8", newline="") as lines:
        return [float(line["now"]) for line in csv.DictReader(lines)]


def _expected(model: MarkovNetwork, given: dict[str, Any]) -> list[float]:
    found = model.marginals(list(model.domain.names), evidence=given)
    return [p for name in model.domain.names for p in found[name].values()]


@pytest.mark.parametrize("zeros", [0.0, 0.3])
def test_the_page_computes_what_python_does(opened: Open, tmp_path: Path, zeros: float) -> None:
    rng = np.random.default_rng(4)
    for name in POPULATION:
        shape, scopes = SCOPES[name]
        model = _model(random_factors(rng, shape, scopes, zeros=zeros))
        v = next(i for i, n in enumerate(shape) if n > 1)
        likeliest = int(np.argmax(list(model.conditional(f"x{v}").values())))
        tab = opened(model, f"given={v}:{likeliest}")
        tab.settle()
        expected = _expected(model, {f"x{v}": f"s{likeliest}"})
        np.testing.assert_allclose(_saved_probabilities(tab, tmp_path), expected, atol=1e-9, err_msg=name)


def test_states_that_are_ruled_out(opened: Open, tmp_path: Path) -> None:
    shape, scopes = SCOPES["mixed cardinalities"]
    model = _model(random_factors(np.random.default_rng(1), shape, scopes))
    tab = opened(model)
    tab.page.click("[data-key='1.2']", modifiers=["Shift"])
    tab.page.click("[data-key='1.4']", modifiers=["Shift"])
    tab.settle()
    expected = _expected(model, {"x1": {"s0": 1, "s1": 1, "s3": 1}})
    np.testing.assert_allclose(_saved_probabilities(tab, tmp_path), expected, atol=1e-9)
    assert "x1 ≠ s2, s4" in tab.text(".chips")


def test_sampled_answers_are_within_their_error(opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrfit.explorer.page_plan._MOST_CELLS", 1)
    rng = np.random.default_rng(2)
    for name in ("cycle", "nested", "mixed cardinalities"):
        model = _model(random_factors(rng, *SCOPES[name]))
        tab = opened(model, "given=0:1")
        tab.settle()
        error = float(tab.text(".engine").split("±")[1].split()[0]) / 100
        assert 0 < error < 0.02
        expected = _expected(model, {"x0": "s1"})
        found = _saved_probabilities(tab, tmp_path)
        np.testing.assert_allclose(found, expected, atol=2 * error + 0.001, err_msg=name)
        numbers = tab.page.eval_on_selector_all(".rows .number", "all => all.map((each) => each.textContent)")
        assert numbers[:2] == ["0 %", "100 %"]  # what is known is exact
        for text, p in zip(numbers[2:], expected[2:], strict=False):
            shown, spread = re.fullmatch(r"([\d.]+) ±([\d.]+) %", text).groups()  # type: ignore[union-attr]
            assert len(shown.partition(".")[2]) == len(spread.partition(".")[2])
            assert abs(float(shown) / 100 - p) <= 2 * float(spread) / 100 + 0.001
        assert "two standard errors" in tab.page.get_attribute(".engine", "title")


def _bistable() -> tuple[MarkovNetwork, UniqueRows]:
    """Two states of all variables together that chains do not leave; the data know one of them."""
    pairs = [(i, j) for i in range(12) for j in range(i)]
    model = _model(Factors.from_tables((2,) * 12, [(pair, [1.5, 0, 0, 1.5]) for pair in pairs]))
    return model, UniqueRows.from_codes(model.domain, np.ones((1, 12), np.uint8), np.ones(1))


@pytest.mark.parametrize("fragment", ["", "given=0:1"])
def test_of_two_modes_one_is_shown_and_the_other_told(
    opened: Open, monkeypatch: pytest.MonkeyPatch, fragment: str
) -> None:
    """Values before and after evidence are of the mode near the data, never of a mixture of modes."""
    monkeypatch.setattr("mrfit.explorer.page_plan._MOST_CELLS", 1)
    model, rows = _bistable()
    tab = opened(model, fragment, rows=rows)
    assert tab.text("[data-key='1.1'] .number").startswith("100")  # the document's own first answer
    if not fragment:
        tab.page.click("[data-key='0.1']")
    tab.wait("document.querySelector('.engine').textContent.includes('second mode')")
    told = "document.querySelector(\"[data-key='1.1']\").getAttribute('aria-label')"
    tab.wait(f"{told}.startsWith('x1 = s1: 100') && {told}.includes('before 100')")
    assert "stay elsewhere" in tab.text(".right")
    tab.page.click("[data-key='1']")
    tab.settle()
    assert "In the data, in the model, now, in the second mode" in tab.text(".right")
    cells = tab.page.locator(".right table").first.locator("tbody tr:last-child td").all_inner_texts()
    *near, elsewhere = cells[1:]
    assert min(float(cell.split()[0]) for cell in near) > 99.9
    assert elsewhere in ("0 %", "<1 %")


def test_all_parts_of_the_page_show_one_answer(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each frame while chains run shows one answer: in the list, the panel's bars and tables and the joint table."""
    monkeypatch.setattr("mrfit.explorer.page_plan._MOST_CELLS", 1)
    rng = np.random.default_rng(2)
    model = _model(random_factors(rng, (2,) * 30, [(i, i + 1) for i in range(29)]))
    tab = opened(model, "show=1", rows=rows_from(model.factors, 50, rng))
    frames = tab.page.evaluate(
        """async () => {
            const of = (selector) => document.querySelector(selector)?.textContent;
            const frames = [];
            document.querySelector("[data-key='0.1']").click();
            for (let k = 0; k < 90; k++) {
                await new Promise((resolve) => requestAnimationFrame(resolve));
                const row = document.querySelector(".right tbody tr:last-child");
                const bars = ["1.1", "ds1"].map((key) => of(`[data-key='${key}'] .number`));
                frames.push([...bars, row.lastChild.textContent]);
            }
            return frames;
        }"""
    )
    assert len({frame[0] for frame in frames}) > 2  # chains moved meanwhile
    assert all(len(set(frame)) == 1 for frame in frames)


def test_a_joint_table_is_that_of_its_pair_while_chains_run(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrfit.explorer.page_plan._MOST_CELLS", 1)
    model = _model(random_factors(np.random.default_rng(2), (2,) * 30, [(i, i + 1) for i in range(29)]))
    tab = opened(model, "show=0-1")
    expected = model.joint(["x2", "x3"]).table.ravel()
    tab.wait("document.querySelector('.right').textContent.includes('Together')")
    tab.page.evaluate("location.hash = 'show=2-3'")
    tab.wait("document.querySelector('.right h2').textContent.includes('x2')")
    tab.wait("document.querySelector('.right').textContent.includes('Together')")
    cells = tab.page.locator(".right table").nth(1).locator("tbody td").all_inner_texts()
    assert [float(cell.split()[0]) / 100 for cell in cells] == pytest.approx(expected, abs=0.12)  # a first answer
    tab.settle()
    cells = tab.page.locator(".right table").nth(1).locator("tbody td").all_inner_texts()
    assert [float(cell.split()[0]) / 100 for cell in cells] == pytest.approx(expected, abs=0.02)


def test_probability_zero_keeps_the_last_picture(opened: Open) -> None:
    tab = opened(_model(Factors.from_tables((2, 2), [((0, 1), [[0.0, -np.inf], [0.0, 0.5]])])))
    tab.page.click("[data-key='0.0']")
    tab.settle()
    before = tab.text("[data-key='1.0'] .number")
    tab.page.click("[data-key='1.1']")
    tab.wait("document.querySelector('.notice').textContent.includes('probability zero')")
    assert tab.text("[data-key='1.0'] .number") == before
    tab.page.click("[data-key='1.1']")
    tab.settle()
    assert tab.text(".notice") == ""


def test_list_and_keys_give_the_same_state(opened: Open) -> None:
    model = _small()
    by_list, by_keys, by_link = opened(model), opened(model), opened(model, "given=0:1&show=0")
    by_list.page.click("[data-key='0']")
    by_list.page.click("[data-key='0.1']")
    by_keys.page.focus("canvas")
    by_keys.page.keyboard.press("ArrowRight")  # from nothing to the first variable
    by_keys.page.keyboard.press("2")
    for tab in (by_list, by_keys, by_link):
        tab.settle()
    fragments = {tab.page.evaluate("location.hash") for tab in (by_list, by_keys, by_link)}
    assert fragments == {"#given=0%3A1&show=0"}
    assert len({tab.text(".left") for tab in (by_list, by_keys, by_link)}) == 1
    by_keys.page.keyboard.press("Backspace")
    by_keys.page.keyboard.press("Escape")
    by_keys.settle()
    assert by_keys.page.evaluate("location.hash") == ""


def test_a_click_on_the_picture_does_the_same(opened: Open) -> None:
    """One variable stands in the middle of the picture: a click on its second state sets it."""
    model = _model(Factors.from_tables((2,), [((0,), [0.0, 0.3])]))
    tab = opened(model)
    box = tab.page.locator("canvas").bounding_box()
    assert box is not None
    hits = [y for y in range(0, int(box["height"]), 10) if _sets(tab, box, y)]
    assert hits
    assert max(hits) - min(hits) < 40  # one row of one card


def _sets(tab: Tab, box: dict[str, float], y: int) -> bool:
    """Whether a click at a height of the middle sets the second state; and undoes it again."""
    tab.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + y)
    if "given=0%3A1" not in tab.page.evaluate("location.hash"):
        tab.page.keyboard.press("c")
        return False
    tab.page.keyboard.press("c")
    return True


def test_pairs_and_larger_sets_in_words(opened: Open) -> None:
    factors = Factors.from_tables((2, 2, 2), [((0, 1), [0, 0, 0, np.log(3.0)]), ((1, 2), [0, 0, 0, -1.0])])
    tab = opened(_model(factors), "show=0-1")
    tab.settle()
    assert "multiplies the odds of x1 = s1 by 3.00" in tab.text(".right")
    together = tab.page.locator(".right table").nth(1).locator("tbody td").all_inner_texts()
    joint = _model(factors).joint(["x0", "x1"]).table
    assert together == [f"{100 * p:.1f} %" for p in joint.ravel()]
    held = _model(Factors.from_tables((2, 2, 2), [((0, 1, 2), [0.0] * 7 + [np.log(2.0)])]))
    triple = opened(held, "show=0-1-2")
    assert "2.00 times as large as otherwise" in triple.text(".right")
    assert triple.page.locator(".right table").first.locator("tbody td").all_inner_texts() == [
        "x0 = s1, x1 = s1, x2 = s1",
        "+0.693",
    ]
    for state, odds in (("0", "1.00"), ("1", "2.00")):  # no one number holds: at which states of the others it does
        told = opened(held, f"show=0-1&given=2:{state}").text(".right")
        assert f"depends on other variables. At x2 = s{state}, x0 = s1 multiplies the odds of x1 = s1 by {odds}" in told


def test_the_most_probable_states_together(opened: Open) -> None:
    model = _small()
    tab = opened(model)
    tab.page.click("text=Most probable")
    tab.wait("document.querySelector('.right').textContent.includes('Most probable together')")
    told = dict(
        zip(
            tab.page.locator(".right table").first.locator("td:first-child").all_inner_texts(),
            tab.page.locator(".right table").first.locator("td:last-child").all_inner_texts(),
            strict=True,
        )
    )
    assert told == model.map().states


def _chain() -> MarkovNetwork:
    """Three variables: the first two go together, the last two apart and less so."""
    return _model(Factors.from_tables((2, 2, 2), [((0, 1), [0, 0, 0, 2.0]), ((1, 2), [0, 0, 0, -1.0])]))


def test_marks_orders_search_and_cases(opened: Open) -> None:
    tab = opened(_chain())
    tab.page.click("[data-key='2.1']")
    tab.settle()
    assert ", before " in tab.page.get_attribute("[data-key='0.1']", "aria-label")
    tab.page.select_option(".order", "changed")
    tab.settle()
    assert tab.page.locator(".name").all_inner_texts() == ["x2", "x1", "x0"]
    for order, names in (("degree", ["x1", "x0", "x2"]), ("name", ["x0", "x1", "x2"])):
        tab.page.select_option(".order", order)
        tab.settle()
        assert tab.page.locator(".name").all_inner_texts() == names
    tab.page.click("text=Compare")
    tab.page.click("[data-key='2.0']")
    tab.settle()
    assert "kept 100 %" in tab.page.get_attribute("[data-key='2.1']", "aria-label")  # the case that was kept
    pair = tab.page.locator("[data-key='2.1'] .bar.pair > *")
    assert [bar.evaluate("(bar) => bar.style.width") for bar in pair.all()] == ["0%", "100%"]  # one below the other
    assert "kept: x2 = s1" in tab.text(".legend")
    assert "Upper bars: x2 = s0; lower bars: x2 = s1" in tab.text(".right")
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("X1")
    tab.settle()
    assert tab.page.locator(".name").all_inner_texts() == ["x1"]


def test_the_filter_and_the_signs_of_lines(opened: Open, tmp_path: Path) -> None:
    tab = opened(_chain())
    assert tab.text(".filter .line span:last-child") == "2 of 2"
    bins = [bar.evaluate("(bar) => bar.style.height") for bar in tab.page.locator(".bins i").all()]
    assert [k for k, height in enumerate(bins) if height != "0%"] == [24, 47]  # half as strong, and the strongest
    strokes = [path for path in _drawn(tab, tmp_path).iter(f"{SVG}path") if "Q" in path.get("d", "")]
    signs = {path.get("stroke"): "stroke-dasharray" in path.attrib for path in strokes}
    assert sorted(signs.values()) == [False, True]  # by colour and by dash
    assert "stroke-dasharray" in tab.saved("Picture, .svg", tmp_path).read_text(encoding="utf-8")
    tab.page.locator(".filter input").fill("700")
    tab.settle()
    assert tab.text(".filter .line span:last-child") == "1 of 2"
    assert "stroke-dasharray" not in tab.saved("Picture, .svg", tmp_path).read_text(encoding="utf-8")
    assert len(tab.saved("Edges, .csv", tmp_path).read_text(encoding="utf-8").splitlines()) == 2


def _drawn(tab: Tab, folder: Path) -> ElementTree.Element:
    return ElementTree.parse(tab.saved("Picture, .svg", folder)).getroot()


def _texts(picture: ElementTree.Element) -> dict[str, float]:
    """Texts of a picture, and how opaque they are."""
    return {str(text.text): float(text.get("opacity", 1)) for text in picture.iter(f"{SVG}text")}


def _lines(picture: ElementTree.Element) -> list[float]:
    """Opacity of each edge between two variables, the faintest first; edges alone are curves."""
    strokes = [path for path in picture.iter(f"{SVG}path") if "Q" in path.get("d", "")]
    return sorted(float(path.get("opacity", 1)) for path in strokes for _ in range(path.get("d", "").count("Q")))


def test_cards_hold_names_states_and_probabilities(opened: Open, tmp_path: Path) -> None:
    model = _model(Factors.from_tables((2, 3), [((0, 1), [0.0, 0.5, 1.0, 0.0, 0.0, 1.5])]))
    texts = _texts(_drawn(opened(model), tmp_path))
    told = {f"{100 * p:.0f} %" for p in _expected(model, {})}
    assert set(texts) == {"x0", "x1", "s0", "s1", "s2"} | told


def test_a_variable_that_is_looked_at_stands_out_with_its_neighbours(opened: Open, tmp_path: Path) -> None:
    tables = [(pair, [0, 0, 0, 1.0]) for pair in ((0, 1), (1, 2), (2, 3))]
    tab = opened(_model(Factors.from_tables((2,) * 4, tables)))
    whole = _drawn(tab, tmp_path)
    tab.page.click("[data-key='0']")
    tab.settle()
    near = _drawn(tab, tmp_path)
    seen = _texts(near)
    assert seen["x0"] == seen["x1"] == 1
    assert seen["x2"] == seen["x3"] < 0.5
    assert sum(one < 0.2 for one in _lines(near)) == 2  # those of others
    tab.page.keyboard.press("Escape")
    tab.settle()
    for picture in (whole, _drawn(tab, tmp_path)):
        assert set(_texts(picture).values()) == {1.0}
        assert min(_lines(picture)) > 0.2


def test_of_a_variable_that_is_looked_at_all_lines_are_drawn(opened: Open, tmp_path: Path) -> None:
    """Also those that the filter hides: the panel lists them all."""
    tab = opened(_chain(), "from=1.5")
    assert len(_lines(_drawn(tab, tmp_path))) == 1
    tab.page.click("[data-key='1']")
    tab.settle()
    assert len(_lines(_drawn(tab, tmp_path))) == 2


def test_a_pair_that_is_looked_at_is_joined_by_its_line(opened: Open, tmp_path: Path) -> None:
    weak = "show=1-2"  # the other line of the chain, which is the stronger one, is faint beside it
    shown, hidden = (_lines(_drawn(opened(_chain(), view), tmp_path)) for view in (weak, f"from=1.5&{weak}"))
    assert len(shown) == len(hidden) == 2


def test_the_wheel_zooms_and_a_key_fits_everything(opened: Open, tmp_path: Path) -> None:
    tab = opened(_chain())
    fitted = _places(_drawn(tab, tmp_path))
    box = tab.page.locator("canvas").bounding_box()
    tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.page.mouse.wheel(0, -300)
    tab.settle()
    closer = _places(_drawn(tab, tmp_path))
    far, near = (np.linalg.norm(np.subtract(each["x0"], each["x2"])) for each in (fitted, closer))
    assert near > 1.2 * far
    tab.page.keyboard.press("f")
    tab.settle()
    assert _places(_drawn(tab, tmp_path)) == fitted


def _places(picture: ElementTree.Element) -> dict[str, tuple[float, float]]:
    """Positions of names."""
    texts = (text for text in picture.iter(f"{SVG}text") if str(text.text).startswith("x"))
    return {str(text.text): (float(text.get("x", 0)), float(text.get("y", 0))) for text in texts}


def test_rings_close_as_far_as_the_others_explain_a_variable(opened: Open, tmp_path: Path) -> None:
    """x0 and x1 are nearly the same, x2 is alone; a ring is a grey circle and, over it, a black arc."""
    model = _model(Factors.from_tables((2, 2, 2), [((0, 1), [3.0, 0.0, 0.0, 3.0])]))
    document = Document.of(model, title="t", rows=rows_from(model.factors, 400, np.random.default_rng(0)))
    shares = [max(0.0, float(each["explained"])) for each in document.content["variables"]]
    assert shares[0] > 0.5 > 0.005 > shares[2]
    tab = opened(document, "show=0")
    assert f"explain {100 * shares[0]:.0f} % of its deviance" in tab.text(".right")
    assert "explained by the others" in tab.text(".legend")
    arcs = [path for path in _drawn(tab, tmp_path).iter(f"{SVG}path") if path.get("stroke-width") == "2"]
    closed = [_turn(path.get("d", "")) for path in arcs]
    assert sorted(closed) == pytest.approx(
        sorted([1.0, 1.0, 1.0, *(share for share in shares if share > 0.005)]), abs=0.02
    )


def _turn(path: str) -> float:
    """The share of a circle that an arc takes: two halves, from start over middle to end."""
    start, middle, end = (np.array(part.split()[-2:], float) for part in path.removeprefix("M").split("A"))
    radius = float(path.split("A")[1].split()[0])
    half = 2 * np.arcsin(min(1.0, np.linalg.norm(middle - start) / (2 * radius)))
    return float(half / np.pi) if not np.allclose(start, end, atol=0.02) else 1.0


def test_lines_are_as_opaque_as_resamples_have_them_often(opened: Open, tmp_path: Path) -> None:
    stability = {(0, 1): EdgeStability(0.2, -0.1, 2.0), (1, 2): EdgeStability(1.0, -1.5, -0.5)}
    rare, often = _lines(_drawn(opened(Document.of(_chain(), title="t", stability=stability)), tmp_path))
    assert rare < 0.2  # though it is the stronger one
    assert often > 0.9


def test_a_variable_stays_where_it_is_put_in_all_models(opened: Open, tmp_path: Path) -> None:
    model = _model(Factors.from_tables((2,), [((0,), [0.0, 0.3])]))
    tab = opened(model)
    box = tab.page.locator("canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    at = next(y + dy for dy in range(-100, 100, 8) if tab.page.mouse.move(x, y + dy) or _is_over(tab))
    tab.page.mouse.down()
    tab.page.mouse.move(x + 60, at + 30, steps=4)
    tab.page.mouse.up()
    other = _model(Factors.from_tables((2, 2), [((0, 1), [0.0, 0.0, 0.0, 0.3])]))
    moved = "JSON.parse(localStorage.getItem('mrfit-places')).x0"
    assert opened(other).page.evaluate(moved) == tab.page.evaluate(moved)
    tab.page.evaluate("localStorage.removeItem('mrfit-places')")


def _is_over(tab: Tab) -> bool:
    return bool(tab.page.evaluate("document.querySelector('canvas').classList.contains('over')"))


def test_tied_groups_stand_on_a_line(opened: Open) -> None:
    rows = rows_from(_small().factors, 60, np.random.default_rng(0))
    tab = opened(mrfit.learn(rows, penalty=mrfit.SoftTied(groups=(2,), strength=(1.0,))).model)
    assert "2 learned values" in tab.text(".right")
    assert tab.page.locator(".right svg circle").count() == 2


def test_hostile_names_do_nothing(opened: Open, tmp_path: Path) -> None:
    domain = Domain.from_states({name: ["<img src=x onerror=alert(1)>", "=1+1"] for name in HOSTILE})
    parameters = Canonical(domain, Structure.complete(len(domain)))
    tab = opened(MarkovNetwork(parameters, np.linspace(-1, 1, parameters.n_parameters)), "given=0:1&show=1")
    tab.settle()
    assert tab.page.title() == "A title"
    assert tab.page.locator("img").count() == 0
    assert "\\u{202e}gnp" in tab.text(".left")
    assert "nul\\u{0}" in tab.text(".left")
    text = tab.saved("Picture, .svg", tmp_path).read_text(encoding="utf-8")
    assert "<script" not in text
    with tab.saved("Probabilities, .csv", tmp_path).open(encoding="utf-8", newline="") as lines:
        assert [line["variable"] for line in csv.DictReader(lines)][::2] == list(HOSTILE)


def test_the_library_reads_what_the_page_saves(opened: Open, tmp_path: Path) -> None:
    model = _small()
    tab = opened(model)
    for entry in ("Edges, .csv", "Edges, .graphml"):
        found = load_structure(tab.saved(entry, tmp_path), model.domain)
        np.testing.assert_array_equal(found.edges, model.structure.edges)
    assert tab.saved("Picture, .png", tmp_path).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("width", "n"), [(1280, 6), (320, 6), (720, 100), (320, 16), (320, 100), (1280, 1556)])
def test_every_size_fits_its_window(opened: Open, width: int, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrfit.explorer.initial_answer._SWEEPS", 4)
    rng = np.random.default_rng(0)
    edges = [(i, i + step) for step in (1, 2) for i in range(n - step) if i % 40 + step < 40]  # parts of 40
    tables = [(edge, [0.0, 0.0, 0.0, float(rng.normal())]) for edge in edges]
    tab = opened(_model(Factors.from_tables((2,) * n, tables)), width=width, dark=n == 100)
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.page.evaluate("document.documentElement.dataset.theme") == ("dark" if n == 100 else "light")
    assert tab.page.locator(".row").count() < 60
    tab.page.click(".menu > summary")
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width  # with the menu, too
    tab.page.click(".menu > summary")
    tab.page.click("[data-key='0.1']")
    tab.wait("document.querySelector(\"[data-key='0.1'] .number\").textContent.startsWith('100')")


def _two_models() -> tuple[MarkovNetwork, MarkovNetwork, Document]:
    """A chain, and another that shares one of its edges."""
    shape, rng = (2, 2, 3, 2), np.random.default_rng(3)
    a, b = (_model(random_factors(rng, shape, scopes)) for scopes in ([(0, 1), (1, 2)], [(1, 2), (2, 3)]))
    return a, b, document_of_two(a, b, titles=("one", "two"))


def test_two_models_are_asked_together(opened: Open, tmp_path: Path) -> None:
    a, b, document = _two_models()
    tab = opened(document)
    assert "1 pair in both, 1 only in A, 1 only in B" in tab.text(".right")
    tab.page.click("[data-key='1.1']")
    tab.wait("document.querySelector(\"[data-key='1.1']\").getAttribute('aria-label').includes('in B 100 %')")
    tab.settle()
    np.testing.assert_allclose(_saved_probabilities(tab, tmp_path), _expected(a, {"x1": "s1"}), atol=1e-9)
    told = tab.page.get_attribute("[data-key='2.0']", "aria-label")
    expected = b.conditional("x2", {"x1": "s1"})["s0"]
    assert told.endswith(f"in B {100 * expected:.1f} %")
    shown = []
    for view in ("A", "B", "B − A"):
        tab.page.click(f".views button:text-is('{view}')")
        tab.settle()
        shown.append(tab.text(".filter .line span:last-child"))
    assert shown == ["2 of 2", "2 of 2", "3 of 3"]
    tab.page.click("text=x0 – x1")
    tab.settle()
    assert "A, B, and the difference B − A" in tab.text(".right")


def test_resamples_are_told_of_an_edge(opened: Open) -> None:
    stability = {(0, 1): EdgeStability(0.98, -0.6, 0.25)}
    tab = opened(Document.of(_small(), title="t", stability=stability), "show=0-1")
    assert "In 98 % of the bootstrap samples; its weight there ranges from −0.60 to +0.25." in tab.text(".right")
    assert "faint: in few bootstrap samples" in tab.text(".legend")


def test_everything_can_be_done_by_keys(opened: Open, tmp_path: Path) -> None:
    """Each of the interactions, with no mouse; what they do is checked by the tests around this one."""
    factors = random_factors(np.random.default_rng(0), (2, 3, 2), [(0, 1), (1, 2), (0, 1, 2)])
    tab = opened(_model(factors))
    keys, page = tab.page.keyboard, tab.page

    def press(*names: str) -> str:
        for name in names:
            keys.press(name)
        tab.settle()
        return str(page.evaluate("decodeURIComponent(location.hash)"))

    def on(selector: str, *names: str) -> str:
        page.focus(selector)  # all that is focused here is in the order of Tab, as axe checks
        return press(*names)

    assert on("canvas", "ArrowRight") == "#show=0"  # focus on a neighbourhood
    said = page.text_content("#said")  # to who cannot see
    assert re.fullmatch(r"x0: s0 [\d.]+ %, s1 [\d.]+ %; 2 neighbours", said)
    places = "JSON.parse(localStorage.getItem('mrfit-places'))"
    press("Shift+ArrowRight")  # move a variable
    assert list(page.evaluate(places)) == ["x0"]
    page.evaluate("localStorage.removeItem('mrfit-places')")
    assert press("2") == "#given=0:1&show=0"  # evidence
    assert press("Enter").startswith("#given=0:1&show=0-")  # a pair in words, with its table
    assert press("Escape", "k") == "#given=0:1"  # keep a case
    assert "Stop comparing" in tab.text(".tools")
    assert press("k", "c") == ""
    assert on("[data-key='1.2']", "Shift+Enter") == "#given=1:0+1"  # rule out
    assert press("Backspace") == ""
    on("[data-key='0']", "Enter")
    on("[data-key='1']", "Shift+Enter")
    assert on("[data-key='2']", "Shift+Enter") == "#show=0-1-2"  # a triple
    press("Escape", "/", "x", "1")
    assert page.locator(".name").all_inner_texts() == ["x1"]  # search
    press("Escape")
    on(".order", "b")
    assert page.input_value(".order") == "name"  # order
    assert "from=" in on(".filter input", *["ArrowRight"] * 3)  # filter
    press("Shift+Tab")
    on(".tools button:text-is('Most probable')", "Enter")  # most probable states
    tab.wait("document.querySelector('.right').textContent.includes('Most probable together')")
    on(".menu > summary", "Enter")
    with page.expect_download() as download:
        press("Tab", "Tab", "Tab", "Enter")  # save edges
    assert download.value.suggested_filename.endswith("-edges.csv")
    on("[aria-label='Light or dark']", "Enter")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    press("?")
    assert page.evaluate("document.querySelector('dialog').open")
    press("Escape")
    assert not page.evaluate("document.querySelector('dialog').open")


def test_an_address_restores_the_whole_view(opened: Open) -> None:
    model = _small()
    tab = opened(model, "given=2%3A0%2B2&show=0-1&from=0.5&theme=dark")
    again = opened(model, tab.page.evaluate("location.hash.slice(1)"))
    for each in (tab, again):
        each.settle()
        assert "x2 ≠ s1" in each.text(".chips")
        assert each.text(".filter .line span") == "Edge weight from 0.50"
        assert each.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert tab.text(".right") == again.text(".right")


def test_axe_finds_nothing(opened: Open) -> None:
    """Light and dark themes are checked."""
    axe = axe_script(Path(__file__).parents[2] / "web")
    wide = _model(random_factors(np.random.default_rng(0), (2, 9), [(0, 1)]))
    pages = [
        (_small(), "given=0:1&show=0-1"),
        (_small(), "show=0-1-2"),
        (wide, "show=0-1"),
        (_two_models()[2], "given=1:1"),
        (_two_models()[2], "show=0-1&view=b"),
    ]
    for shown, fragment in pages:
        assert _violations(opened(shown, fragment), axe) == {"light": [], "dark": []}
    tab = opened(_chain(), "given=0:1")
    tab.page.keyboard.press("k")
    tab.page.click("[data-key='0.0']")
    assert _violations(tab, axe) == {"light": [], "dark": []}  # two cases


def _violations(tab: Tab, axe: str) -> dict[str, list[tuple[str, str]]]:
    """Violations by the theme of the page; passed rules are not described, which would take longer than the check."""
    found = {}
    tab.page.evaluate(axe)
    for _ in range(2):
        tab.settle()
        violations = tab.page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        theme = tab.page.evaluate("document.documentElement.dataset.theme")
        found[theme] = [(each["id"], each["nodes"][0]["html"]) for each in violations]
        tab.page.click("[aria-label='Light or dark']")
    return found


def test_a_notebook_shows_the_same(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(notebook_frame(Document.of(_small(), title="t")), encoding="utf-8")
    tab = Tab(chromium)
    tab.page.goto(f"file://{path}")
    frame = tab.page.frame_locator("iframe")
    frame.locator("[data-key='0.1']").click()
    frame.locator(".engine:has-text('exact')").wait_for()
    frame.locator(".chip").wait_for()
    assert tab.problems == []
    tab.page.close()


def test_the_server_answers_the_page(chromium: Any, tmp_path: Path) -> None:
    model = _small()
    rows = rows_from(model.factors, 40, np.random.default_rng(0))
    with Explorer(Document.of(model, title="t", rows=rows), Answering(model), rows=rows) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        tab = Tab(chromium).open(server.address)
        tab.page.click("[data-key='0.1']")
        tab.settle()
        expected = _expected(model, {"x0": "s1"})
        np.testing.assert_allclose(_saved_probabilities(tab, tmp_path), expected, atol=1e-12)
        assert "Rows of the data that fit worst" in tab.text(".right")
        drawn = model.coded_rows(mrfit.Dataset.from_file(tab.saved("1,000 rows drawn, .csv", tmp_path)))
        assert drawn.n_rows == 1000
        assert set(drawn.codes[:, 0].tolist()) == {1}
        assert server.token not in tab.page.evaluate("location.href + document.cookie")
        assert tab.problems == []
        tab.page.close()
        server.shutdown()


def test_the_server_answers_for_two_models(chromium: Any, tmp_path: Path) -> None:
    a, b, document = _two_models()
    with Explorer(document, Answering(a), other=Answering(b)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        tab = Tab(chromium).open(server.address)
        assert "1 pair in both, 1 only in A, 1 only in B" in tab.text(".right")
        assert "only in A" in tab.text(".legend")
        tab.page.click("[data-key='1.1']")
        tab.settle()
        np.testing.assert_allclose(_saved_probabilities(tab, tmp_path), _expected(a, {"x1": "s1"}), atol=1e-12)
        told = tab.page.get_attribute("[data-key='2.0']", "aria-label")
        assert told.endswith(f"in B {100 * b.conditional('x2', {'x1': 's1'})['s0']:.1f} %")
        assert tab.problems == []
        tab.page.close()
        server.shutdown()
