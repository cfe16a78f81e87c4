"""A page of text, tables and figures, as Markdown and as one file of HTML."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from mrfit.formats.output_file import write_output
from mrfit.plots.page import save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #1a7f3718; --bad: #cf222e18; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 100rem; margin: 2rem auto; padding: 0 1rem; }
p, figcaption { max-width: 60rem; } code { font-size: .95em; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { position: sticky; top: 0; background: Canvas; vertical-align: bottom; }
.left { text-align: left; } .words { text-align: left; white-space: normal; min-width: 14rem; }
.good { background: var(--good); } .bad { background: var(--bad); }
img { max-width: 100%; background: white; } figure { margin: 1.5rem 0; } figcaption { font-size: 13px; opacity: .8; }
"""


@dataclass(frozen=True)
class Cell:
    """A cell of a table; ``is_best`` of its row is bold, and ``is_good`` chooses its colour in HTML."""

    text: str
    is_best: bool = False
    is_good: bool | None = None


@dataclass(frozen=True)
class DocumentColumn:
    """A column: its title, and its alignment; numbers go right, names left, and long ``words`` may break."""

    title: str
    align: str = "right"


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str

    def markdown(self, folder: Path) -> str:
        return self.text

    def html(self) -> str:
        return f"<p>{_html(self.text)}</p>"


@dataclass(frozen=True)
class Heading:
    """The title of a section."""

    text: str

    def markdown(self, folder: Path) -> str:
        return f"## {self.text}"

    def html(self) -> str:
        return f"<h2>{_html(self.text)}</h2>"


@dataclass(frozen=True)
class DocumentTable:
    """Rows of cells under columns."""

    columns: Sequence[DocumentColumn]
    rows: Sequence[Sequence[Cell | str]]

    def markdown(self, folder: Path) -> str:
        lines = [
            _line(column.title for column in self.columns),
            "|" + "|".join("---:" if column.align == "right" else "---" for column in self.columns) + "|",
            *(_line(_marked(cell) for cell in row) for row in self.rows),
        ]
        return "\n".join(lines)

    def html(self) -> str:
        head = "".join(f'<th class="{c.align}">{_html(c.title)}</th>' for c in self.columns)
        body = "".join(
            "<tr>" + "".join(_html_cell(cell, c.align) for cell, c in zip(row, self.columns, strict=True)) + "</tr>"
            for row in self.rows
        )
        return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


@dataclass(frozen=True)
class Picture:
    """A figure, in its own files beside the Markdown and inline in the HTML."""

    name: str
    draw: Callable[[], Figure]
    caption: str
    _drawn: list[Figure] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def figure(self) -> Figure:
        if not self._drawn:
            self._drawn.append(self.draw())
        return self._drawn[0]

    def markdown(self, folder: Path) -> str:
        for suffix in (".png", ".svg"):
            save_figure(self.figure, folder / f"{self.name}{suffix}")
        return f"![{self.caption}]({self.name}.png)\n\n*{self.caption}*"

    def html(self) -> str:
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", dpi=150, metadata={"Software": None})
        source = base64.b64encode(buffer.getvalue()).decode()
        caption = escape(self.caption, quote=True)
        return (
            f'<figure><img alt="{caption}" src="data:image/png;base64,{source}">'
            f"<figcaption>{caption}</figcaption></figure>"
        )


Block = Text | Heading | DocumentTable | Picture


@dataclass(frozen=True)
class PageDocument:
    """A title and the blocks below it."""

    title: str
    blocks: Sequence[Block]

    def save(self, folder: Path, name: str) -> list[Path]:
        """Write ``name.md``, its figures and ``name.html``; return the paths of both pages."""
        markdown = "\n\n".join([f"# {self.title}", *(block.markdown(folder) for block in self.blocks)]) + "\n"
        html = (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(self.title)}</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<style>{_STYLE}</style><h1>{escape(self.title)}</h1>"
            f"{''.join(block.html() for block in self.blocks)}</html>\n"
        )
        pages = [folder / f"{name}.md", folder / f"{name}.html"]
        for page, text in zip(pages, (markdown, html), strict=True):
            write_output(page, text.encode())
        return pages


def _html(text: str) -> str:
    """Escape a text for HTML, and mark what Markdown has between back-ticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _marked(cell: Cell | str) -> str:
    return cell if isinstance(cell, str) else f"**{cell.text}**" if cell.is_best and cell.text else cell.text


def _html_cell(cell: Cell | str, align: str) -> str:
    cell = Cell(cell) if isinstance(cell, str) else cell
    news = {None: "", True: " good", False: " bad"}[cell.is_good]
    text = f"<strong>{_html(cell.text)}</strong>" if cell.is_best else _html(cell.text)
    return f'<td class="{align}{news}">{text}</td>'
