"""Internal: a small table for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape


def html_table(title: str, facts: Mapping[str, object], rows: Iterable[tuple[str, str]] = ()) -> str:
    """Return a table as HTML: a caption, facts by name, then ``rows``; all text is escaped."""
    lines = "".join(f"<tr><th>{_text(name)}</th><td>{_text(value)}</td></tr>" for name, value in facts.items())
    lines += "".join(f"<tr><td>{_text(name)}</td><td>{_text(value)}</td></tr>" for name, value in rows)
    return f"<table><caption>{_text(title)}</caption><tbody>{lines}</tbody></table>"


def _text(value: object) -> str:
    return escape(str(value), quote=True)
