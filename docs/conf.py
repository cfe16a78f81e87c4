"""Settings by which Sphinx builds the site of these pages: `make site`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from docutils.utils.math.latex2mathml import tex2mathml
from pygments.lexers.special import TextLexer

import mrfit

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project, author, release = "mrfit", "the mrfit authors", mrfit.__version__
html_title = "mrfit"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
extensions += ["api_reference", "command_reference", "gallery", "line_breaks", "live_report"]
extensions += ["pictures"]  # these are in docs/extensions
exclude_patterns = ["conf.py"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4  # as on GitHub, where the same pages are read
suppress_warnings = ["myst.header"]  # pages made of results may begin below the first level

smartquotes_action = "qe"  # quotes and ellipses, not dashes: --option stays an option

default_role = "code"  # `name` in a docstring
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say them, by names that link
python_use_unqualified_type_names = True
napoleon_google_docstring = False
napoleon_preprocess_types = True
napoleon_attr_annotations = False  # docstrings have the types
napoleon_custom_sections = [("Attributes", "params_style")]
python_maximum_signature_line_length = 80

html_theme = "furo"
html_theme_options = {"navigation_with_keys": True}
html_math_renderer = "mathml"
html_copy_source = False
html_show_copyright = False
html_static_path = ["site"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"loading_method": "defer"})]
html_favicon = "site/icon.svg"
html_search_scorer = str(Path(__file__).parent / "site" / "scorer.js")

# Files above this folder that are pages of the site too, by the name they have there.
ABOVE = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md", "security": "SECURITY.md"}


# The line of a page that has the words of other communities.
ALSO_KNOWN_AS = re.compile(r"^\*Also known as: (?P<words>[^*]*?)\.?\*$", re.MULTILINE)


def other_words(page: str) -> list[str]:
    """Return the words of the lines "Also known as", abbreviations in parentheses too, but no remarks there."""
    parts = [part for line in ALSO_KNOWN_AS.finditer(page) for part in re.split(r"[,()]", line["words"])]
    words = [" ".join(part.split()) for part in parts]
    return [word for word in dict.fromkeys(words) if word and not word.startswith("for ")]


def with_index_entries(page: str) -> str:
    """Return the page with its other words as main entries of the index, which the search of the site lists first."""
    words = other_words(page)
    if not words:
        return page
    entries = ", ".join(f"! {word}" for word in words)
    return page.replace("\n", f"\n\n```{{eval-rst}}\n.. index:: {entries}\n```\n", 1)  # under the title


def read(app: Any, page: str, source: list[str]) -> None:
    """The text of a page: its own, or that of a file above."""
    if page in ABOVE:
        source[0] = (ROOT / ABOVE[page]).read_text(encoding="utf-8")
    for name, file in {**ABOVE, "start": "README.md"}.items():
        source[0] = source[0].replace(f"](../{file}", f"]({name}.md").replace(f"]({file}", f"]({name}.md")
    source[0] = source[0].replace("](docs/", "](").replace("[CITATION.cff](CITATION.cff)", "CITATION.cff")
    source[0] = with_index_entries(source[0])


def inline_math(writer: Any, node: Any) -> None:
    write_math(writer, node, block=False)


def math_block(writer: Any, node: Any) -> None:
    write_math(writer, node, block=True)


def write_math(writer: Any, node: Any, *, block: bool) -> None:
    """MathML, which browsers draw themselves: the site asks no other server for anything."""
    from docutils.nodes import SkipNode

    tex = node.astext().replace(r"\dots", r"\ldots")  # the one command of these pages that docutils does not know
    text = tex2mathml(tex, as_block=block)
    writer.body.append(f'<div class="math">{text}</div>' if block else text)
    raise SkipNode


def setup(app: Any) -> None:
    app.connect("source-read", read)
    app.add_lexer("csv", TextLexer)
    app.add_html_math_renderer("mathml", (inline_math, None), (math_block, None))
