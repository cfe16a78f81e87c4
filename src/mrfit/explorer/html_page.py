"""The page as one file: document, script and style inside, and nothing to fetch."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib import resources

from mrfit.explorer.document import Document

ASSETS = {"explorer.js": "text/javascript; charset=utf-8", "explorer.css": "text/css; charset=utf-8"}

_PAGE = """<!doctype html>
<html lang="en"{served}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
{policy}<title>{title}</title>
{style}
</head>
<body>
<div id="page"><noscript>This page needs JavaScript, which is switched off here.</noscript></div>
<script type="application/json" id="document">{document}</script>
<script type="application/json" id="tables">{tables}</script>
{script}
</body>
</html>
"""


def asset(name: str) -> str:
    """Return the text of a built file of the page."""
    return resources.files("mrfit.explorer").joinpath("assets", name).read_text(encoding="ascii")


def report_page(document: Document) -> bytes:
    """Return one file that opens from a disk or an e-mail. Its policy lets nothing else run, and fetches nothing."""
    script, style = asset("explorer.js"), asset("explorer.css")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; worker-src blob:; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return _filled(
        document,
        policy=f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
        style=f"<style>{style}</style>",
        script=f"<script>{script}</script>",
    )


def served_page(document: Document) -> bytes:
    """Return the page for a server, which sends the policy and the assets, and answers questions."""
    return _filled(
        document,
        served=' data-answerer="server"',
        style='<link rel="stylesheet" href="/assets/explorer.css">',
        script='<script src="/assets/explorer.js"></script>',
    )


def notebook_frame(document: Document, *, height: int = 560) -> str:
    """Return the page in a sandboxed frame, which cannot access the notebook around it."""
    content = escape(report_page(document).decode("ascii"), quote=True)
    return (
        f'<iframe srcdoc="{content}" sandbox="allow-scripts allow-downloads" title="The explorer" '
        f'style="width: 100%; height: {height}px; border: 1px solid #d8dbe0; border-radius: 8px"></iframe>'
    )


def _filled(document: Document, *, policy: str = "", served: str = "", **parts: str) -> bytes:
    title = escape(str(document.content["title"]), quote=True)
    content, tables = document.in_two_parts()
    text = _PAGE.format(policy=policy, served=served, title=title, document=content, tables=tables, **parts)
    return text.encode("ascii", "xmlcharrefreplace")  # only a title can have other characters: all else is escaped


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
