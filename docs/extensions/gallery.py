"""The gallery: every script of docs/gallery runs when the site is built, and gets a page and a thumbnail.

The docstring of a script has paragraphs: title, question, "Data: ...", how to read the result, and then, if they apply,
"Needs: SET:SPLIT" (a named data set), "Thumbnail: LEFT TOP RIGHT BOTTOM" (the part of the picture to show, in shares of
its sides), "Command: ..." and "See also: PAGE". The script writes one picture. Results are
kept in build/gallery under a digest of the script and of mrfit's sources, so that only what changed runs again.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import io
import json
import os
import re
import runpy
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
from PIL import Image, ImageChops, ImageOps

import mrfit
from mrfit.core.errors import DataError
from mrfit.data.named_datasets import resolved
from mrfit.formats.output_file import write_output

DOCS = Path(__file__).parents[1]
SCRIPTS = DOCS / "gallery"
PAGES = DOCS / "generated" / "gallery"
CACHE = DOCS.parent / "build" / "gallery"

THUMBNAIL = (600, 400)  # pixels: twice as many as on the page, for sharp displays
MARGIN = 12
DPI = 150
FIELDS = ("Data", "Needs", "Thumbnail", "Command", "See also")
ENTRY = re.compile(r"^- \[(?P<question>[^]]+)\]\(gallery/(?P<name>\w+)\.py\)\n", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A script of the gallery, and what its docstring says."""

    path: Path
    title: str
    question: str
    explanation: str
    fields: dict[str, str]
    first_line: int  # of the code

    @classmethod
    def read(cls, path: Path) -> Entry:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        paragraphs = [" ".join(each.split()) for each in (ast.get_docstring(tree) or "").split("\n\n")]
        fields, texts = {}, []
        for paragraph in paragraphs:
            name, colon, text = paragraph.partition(": ")
            if colon and name in FIELDS:
                fields[name] = text
            else:
                texts.append(paragraph)
        if len(texts) != 3 or not texts[1].endswith("?") or "Data" not in fields:
            raise ValueError(f"The docstring of {path.name} needs a title, a question, 'Data: ...' and an explanation.")
        return cls(path, *texts, fields, tree.body[1].lineno)

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def thumbnail(self) -> str:
        return self.fields.get("Thumbnail", "0 0 1 1")

    @property
    def missing_set(self) -> str | None:
        """The named data set that it needs and that is not on this machine."""
        needed = self.fields.get("Needs")
        if needed is None:
            return None
        try:
            resolved(needed)
        except DataError:
            return needed.partition(":")[0]
        return None


@dataclass(frozen=True)
class Result:
    """Output of a script, and the picture that it writes."""

    output: str
    picture: bytes

    @classmethod
    def of(cls, entry: Entry) -> Result:
        """Return the stored result of an entry; run it if there is none."""
        digest = hashlib.sha256(_digest_of_sources() + entry.path.read_bytes()).hexdigest()[:24]
        stored = CACHE / f"{entry.name}-{digest}.json"
        if stored.is_file():
            fields = json.loads(stored.read_bytes())
            return cls(fields["output"], base64.b64decode(fields["picture"]))
        result = run(entry)
        CACHE.mkdir(parents=True, exist_ok=True)
        for stale in CACHE.glob(f"{entry.name}-*.json"):
            stale.unlink(missing_ok=True)
        fields = {"output": result.output, "picture": base64.b64encode(result.picture).decode()}
        write_output(stored, json.dumps(fields).encode())  # whole or not at all: tests run beside the build
        return result

    def thumbnail(self, part: str = "0 0 1 1") -> bytes:
        """Return a part of the picture without margins, as large as all thumbnails are."""
        picture = Image.open(io.BytesIO(self.picture)).convert("RGB")
        ends = zip(map(float, part.split()), picture.size * 2, strict=True)
        picture = picture.crop(tuple(round(share * side) for share, side in ends))
        blank = Image.new("RGB", picture.size, "white")
        picture = picture.crop(ImageChops.difference(picture, blank).getbbox())
        inner = tuple(side - 2 * MARGIN for side in THUMBNAIL)
        picture = ImageOps.contain(picture, inner, Image.Resampling.LANCZOS)
        sheet = Image.new("RGB", THUMBNAIL, "white")
        sheet.paste(picture, tuple((whole - part) // 2 for whole, part in zip(THUMBNAIL, picture.size, strict=True)))
        buffer = io.BytesIO()
        sheet.save(buffer, "png", optimize=True)
        return buffer.getvalue()


@cache
def _digest_of_sources() -> bytes:
    digest = hashlib.sha256()
    for path in sorted(Path(mrfit.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def run(entry: Entry) -> Result:
    """Run a script in a folder of its own, as a user would."""
    from matplotlib import pyplot

    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, matplotlib.rc_context({"figure.dpi": DPI, "backend": "agg"}):
        with chdir(folder), redirect_stdout(printed):
            runpy.run_path(str(entry.path), run_name="__main__")
        pyplot.close("all")
        (picture,) = Path(folder).glob("*.png")
        return Result(printed.getvalue(), picture.read_bytes())


def page(entry: Entry, result: Result | None) -> str:
    """Return the source of an entry's page."""
    parts = [f"# {entry.title}", f"**{entry.question}**", entry.explanation]
    if result is None:
        parts.append(_needs(entry))
    else:
        parts.append(f"![{entry.question}]({entry.name}.png)")
    parts.append(f"**Data.** {entry.fields['Data']}")
    code = os.path.relpath(entry.path, PAGES)
    parts += ["## Code", f"```{{literalinclude}} {code}\n:language: python\n:lines: {entry.first_line}-\n```"]
    if result is not None and result.output:
        parts += ["## Output", f"```text\n{result.output}```"]
    if "Command" in entry.fields:
        parts += ["## As a command", f"```{{code-block}} sh\n{entry.fields['Command']}\n```"]
    if "See also" in entry.fields:
        parts += ["## See also", f"- [](../../{entry.fields['See also']}.md)\n- [](../../gallery.md)"]
    return "\n\n".join(parts) + "\n"


def _needs(entry: Entry) -> str:
    name = entry.missing_set
    return f"This entry needs the data set `{name}`: `mrfit data get {name}`."


def card(entry: Entry) -> str:
    """Return the source of an entry's card in the grid."""
    target = f"generated/gallery/{entry.name}"
    picture = (
        f"```{{container}} no-picture\n{_needs(entry)}\n```"
        if entry.missing_set
        else (f"[![{entry.title}]({target}-thumbnail.png)]({target}.md)")
    )
    return f"````{{container}} gallery-card\n{picture}\n\n[{entry.question}]({target}.md)\n````\n"


def grid(source: str) -> str:
    """Return the page of the gallery with cards in place of its lists of scripts, and a table of contents."""
    names = [match["name"] for match in ENTRY.finditer(source)]
    cards = re.sub(rf"(?:{ENTRY.pattern})+", _cards, source, flags=re.MULTILINE)
    listed = "\n".join(f"generated/gallery/{name}" for name in names)
    return f"{cards}\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def _cards(entries: re.Match[str]) -> str:
    cards = "\n".join(card(Entry.read(SCRIPTS / f"{match['name']}.py")) for match in ENTRY.finditer(entries[0]))
    return f"`````{{container}} gallery-grid\n{cards}`````\n"


def entries() -> Iterator[Entry]:
    return (Entry.read(path) for path in sorted(SCRIPTS.glob("*.py")))


def write_pages(app: Any) -> None:
    """Write the pages and pictures of all entries; those that are as they were keep their times."""
    PAGES.mkdir(parents=True, exist_ok=True)
    files: dict[str, bytes] = {}
    for entry in entries():
        result = None if entry.missing_set else Result.of(entry)
        files[f"{entry.name}.md"] = page(entry, result).encode()
        if result is not None:
            files |= {
                f"{entry.name}.png": result.picture,
                f"{entry.name}-thumbnail.png": result.thumbnail(entry.thumbnail),
            }
    for path in PAGES.iterdir():
        if path.name not in files:
            path.unlink()
    for name, content in files.items():
        path = PAGES / name
        if not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)


def read(app: Any, name: str, source: list[str]) -> None:
    if name == "gallery":
        source[0] = grid(source[0])


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    app.connect("source-read", read)
    return {"parallel_read_safe": True}
