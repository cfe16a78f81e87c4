"""Pages say the same in Markdown and in HTML, and take nothing for markup."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from mrfit_papers.claim import Cases, Claim, Verdict, claims_table
from mrfit_papers.document import Cell, DocumentColumn, DocumentTable, Heading, PageDocument, Picture, Text

HOSTILE = '</table><script>alert("x")</script> a|b'


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]


def saved(folder: Path) -> tuple[str, str]:
    table = DocumentTable(
        [DocumentColumn("name", "left"), DocumentColumn("value")], [[HOSTILE, Cell("1.5", is_best=True, is_good=False)]]
    )
    picture = Picture("figure", lambda: Figure(figsize=(1, 1)), "A caption")
    pages = PageDocument("A title", [Heading("Part"), Text(HOSTILE), table, picture]).save(folder, "page")
    assert [page.name for page in pages] == ["page.md", "page.html"]
    return pages[0].read_text(), pages[1].read_text()


def test_nothing_in_a_page_is_taken_for_markup(tmp_path: Path) -> None:
    markdown, html = saved(tmp_path)
    parser = _Tags()
    parser.feed(html)
    assert "script" not in parser.tags
    assert HOSTILE in unescape(html)
    assert "a\\|b | **1.5** |" in markdown


def test_html_is_one_file_and_markdown_has_its_figures_beside_it(tmp_path: Path) -> None:
    markdown, html = saved(tmp_path)
    parser = _Tags()
    parser.feed(html)
    assert all(source.startswith("data:") for source in parser.sources)
    assert parser.sources
    assert "](figure.png)" in markdown
    assert {"figure.png", "figure.svg"} <= {path.name for path in tmp_path.iterdir()}


def test_good_and_bad_news_have_colours_and_the_best_is_bold(tmp_path: Path) -> None:
    _, html = saved(tmp_path)
    assert re.search(r'<td class="right bad"><strong>1\.5</strong></td>', html)


def test_words_between_back_ticks_are_code(tmp_path: Path) -> None:
    table = DocumentTable([DocumentColumn("`top`, edges")], [["`<b>` | 1"]])
    page = PageDocument("A title", [Heading("Read as `top`"), Text("By `a` and `b`."), table]).save(tmp_path, "page")[1]
    html = page.read_text()
    assert "<h2>Read as <code>top</code></h2><p>By <code>a</code> and <code>b</code>.</p>" in html
    assert "<code>top</code>, edges</th>" in html
    assert "<code>&lt;b&gt;</code> | 1</td>" in html


def test_pages_made_twice_are_equal(tmp_path: Path) -> None:
    assert saved(tmp_path) == saved(tmp_path)


def test_a_verdict_follows_from_the_share_of_cases() -> None:
    assert [Verdict.of(share).value for share in (1.0, 0.99, 0.5, 0.49, 0.0)] == [
        "reproduced",
        "partly",
        "partly",
        "not reproduced",
        "not reproduced",
    ]


@pytest.mark.parametrize(
    ("cases", "verdict"),
    [
        (Cases(58, 58, 58), "reproduced"),
        (Cases(57, 57, 58), "not decidable from 57 of 58 cells"),  # the last one makes it whole or not
        (Cases(56, 57, 58), "partly"),  # whatever the last one does
        (Cases(1, 1, 58), "not decidable from 1 of 58 cells"),
        (Cases(0, 1, 58), "not decidable from 1 of 58 cells"),
        (Cases(0, 30, 58), "not reproduced"),
        (Cases(1, 30, 58), "not decidable from 30 of 58 cells"),  # half is still possible
        (Cases(0, 0, 7, "sets"), "not decidable from 0 of 7 sets"),
        (Cases.of([True, False], 4, "sets"), "not decidable from 2 of 4 sets"),
        (Cases.together(True, 6, 7, "sets"), "not decidable from 6 of 7 sets"),
        (Cases.together(True, 7, 7), "reproduced"),
        (Cases.together(False, 7, 7), "not reproduced"),
    ],
)
def test_a_verdict_is_one_that_no_case_to_come_can_change(cases: Cases, verdict: str) -> None:
    claim = Claim("APT", "Table 1", "words", "ours", cases)
    assert claim.verdict_in_words == verdict
    assert claim.to_dict()["verdict"] == verdict.partition(" from")[0]


def test_claims_stand_in_a_table() -> None:
    table = claims_table([Claim("APT", "Table 1", "words", "ours", Cases(1, 2, 2), "why")])
    assert "| APT, Table 1 | words | ours | **partly** | why |" in table.markdown(Path())
    table = claims_table([Claim("APT", "Table 1", "words", "ours", Cases(1, 1, 2), "why")])
    assert "| ours | **not decidable from 1 of 2 cells** |  |" in table.markdown(Path())
