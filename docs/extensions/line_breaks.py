"""Line breaks of pages on narrow screens: between words and names, not inside them. The rest is in docs/site/site.css.

Short cells of tables stay on one line. Longer cells have a least width, because browsers otherwise make a column of
prose as narrow as its longest word if another column cannot wrap. Code stays whole, but names that are as wide as a
phone may break after punctuation. A table's header without a word is left out.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from docutils import nodes

SHORT, LONG = 16, 100  # characters of a cell: at most, and more than
WIDE = 30  # characters of code: more than these are as wide as a phone
CODE = re.compile(r'<span class="pre">([^<]*)</span>')
TITLE = re.compile(r"<h1>([^<]*)<")
NAME = re.compile(r"[\w.]+")
NAME_PART = re.compile(r"(?<=[._])(?=\w)|(?<=[a-z])(?=[A-Z])")
PUNCTUATION = re.compile(r"(?<=[/_.,:=(])(?![/_.,:=(])")


def mark_cells(app: Any, document: nodes.document) -> None:
    for header in list(document.findall(nodes.thead)):
        if not header.astext().strip():
            header.parent.remove(header)
    for body in document.findall(nodes.tbody):
        for cell in body.findall(nodes.entry):
            length = len(cell.astext())
            cell["classes"].append("short" if length <= SHORT else "long" if length <= LONG else "longer")


def with_breaks(html: str) -> str:
    """Return a page on which lines may end after punctuation in long code and in a title that is one name."""
    html = CODE.sub(_broken, html)
    return TITLE.sub(lambda title: f"<h1>{_parted(title[1])}<", html)


def _broken(code: re.Match[str]) -> str:
    if len(unescape(code[1])) <= WIDE:
        return code[0]
    return f'<span class="pre long">{PUNCTUATION.sub("<wbr>", code[1])}</span>'


def _parted(name: str) -> str:
    """Return a name that may break between its words, and is copied as it was."""
    return NAME_PART.sub("<wbr>", name) if NAME.fullmatch(name) else name


def break_code(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if "body" in context:
        context["body"] = with_breaks(context["body"])
    for key in ("prev", "next"):
        if context.get(key):
            context[key] = {**context[key], "title": _parted(context[key]["title"])}


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", mark_cells)
    app.connect("html-page-context", break_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
