"""Dark twins of pictures: where `name-dark.png` lies beside `name.png`, dark pages show it instead.

Twins are for screenshots, which have colours of their own. Drawings need none: dark pages invert their lightness
(docs/site/site.css).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes


def add_twins(app: Any, document: nodes.document) -> None:
    folder = Path(app.env.doc2path(app.env.docname)).parent
    for image in list(document.findall(nodes.image)):
        path = Path(image["uri"])
        twin = path.with_name(f"{path.stem}-dark{path.suffix}")
        if (folder / twin).is_file():
            dark = image.deepcopy()
            dark["uri"] = str(twin)
            image["classes"].append("only-light")
            dark["classes"].append("only-dark")
            image.parent.insert(image.parent.index(image) + 1, dark)


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", add_twins, priority=100)  # before Sphinx collects pictures
    return {"parallel_read_safe": True}
