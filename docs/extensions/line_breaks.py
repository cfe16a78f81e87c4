"""Where lines break on narrow pages: between words and names, not inside them (docs/site/site.css has the rest).

Short cells of tables stay on one line. Cells with more than a few words keep enough room: browsers otherwise give a
column of prose the width of its longest word if another column cannot wrap. Code stays whole, but names that
are as wide as a phone may break after punctuation. A table's header without a word is left out.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes

SHORT, LONG, LONGER = 16, 24, 100  # characters of a cell: at most, more than, and more than
CODE = re.compile(r'<span class="pre">([^<]{31,})</span>')
PUNCTUATION = re.compile(r"(?<=[/_.,:=(])(?![/_.,:=(])")


def mark_cells(app: Any, document: nodes.document) -> None:
    for header in list(document.findall(nodes.thead)):
        if not header.astext().strip():
            header.parent.remove(header)
    for body in document.findall(nodes.tbody):
        for cell in body.findall(nodes.entry):
            length = len(cell.astext())
            if length <= SHORT:
                cell["classes"].append("short")
            elif length > LONG:
                cell["classes"].append("longer" if length > LONGER else "long")


def with_breaks(html: str) -> str:
    """Return a page on which a line may end after punctuation in long code, which is copied as it was."""
    return CODE.sub(lambda code: f'<span class="pre long">{PUNCTUATION.sub("<wbr>", code[1])}</span>', html)


def break_code(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if "body" in context:
        context["body"] = with_breaks(context["body"])


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", mark_cells)
    app.connect("html-page-context", break_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
