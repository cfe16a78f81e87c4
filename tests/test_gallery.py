"""The gallery: every script runs, draws a picture and prints, and is on the page under its question."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from test_pages import understand

DOCS = Path(__file__).parents[1] / "docs"
sys.path.insert(0, str(DOCS / "extensions"))

import gallery  # noqa: E402

SCRIPTS = sorted((DOCS / "gallery").glob("*.py"))
MOST_LINES = 45  # of code that somebody copies


def _pixels(picture: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"), np.int64)


def test_the_page_lists_every_script_once_and_by_its_question() -> None:
    source = (DOCS / "gallery.md").read_text(encoding="utf-8")
    listed = {match["name"]: match["question"] for match in gallery.ENTRY.finditer(source)}
    assert len(listed) == len(gallery.ENTRY.findall(source)) >= 24
    assert listed == {entry.name: entry.question for entry in gallery.entries()}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_every_script_draws_and_prints_and_its_page_shows_data_code_and_result(path: Path) -> None:
    """Use the stored result of the same script and sources, if the site has been built."""
    entry = gallery.Entry.read(path)
    if entry.missing_set:
        pytest.skip(f"the data set {entry.missing_set} is absent")
    result = gallery.Result.of(entry)
    assert result.output.strip()
    assert max(map(len, result.output.splitlines())) <= 100
    pixels = _pixels(result.picture)
    assert pixels.shape[1] > 500
    assert (pixels < 250).any(axis=2).mean() > 0.005  # something is drawn
    page = gallery.page(entry, result)
    assert page.startswith(f"# {entry.title}\n\n**{entry.question}**")
    assert f"![{entry.question}]({entry.name}.png)" in page
    for part in ("**Data.** ", "## Code", "{literalinclude}", f"## Output\n\n```text\n{result.output}```"):
        assert part in page
    assert len(path.read_text(encoding="utf-8").splitlines()) - entry.first_line < MOST_LINES


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_commands_are_understood_and_links_lead_to_pages(path: Path) -> None:
    entry = gallery.Entry.read(path)
    if "Command" in entry.fields:
        understand(shlex.split(entry.fields["Command"]))
    if "See also" in entry.fields:
        assert (DOCS / f"{entry.fields['See also']}.md").is_file()


def _drawing(width: int, height: int) -> gallery.Result:
    picture = np.full((height, width, 3), 255, np.uint8)
    picture[height // 4 : height // 2, width // 4 : width // 2] = 0
    picture[-20:, -20:] = (200, 0, 0)
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "png")
    return gallery.Result("", buffer.getvalue())


@pytest.mark.parametrize(("width", "height"), [(300, 300), (2000, 500), (500, 2000)])
def test_thumbnails_are_equally_large_and_hold_the_part_that_is_wanted(width: int, height: int) -> None:
    whole, part = (_pixels(_drawing(width, height).thumbnail(part)) for part in ("0 0 1 1", "0 0 0.6 0.6"))
    assert whole.shape == part.shape == (gallery.THUMBNAIL[1], gallery.THUMBNAIL[0], 3)
    is_red = [(each[..., 0] > each[..., 1] + 100).any() for each in (whole, part)]
    assert is_red == [True, False]
    assert (part < 128).mean() > (whole < 128).mean()  # the rest of the sheet is not in the way


def test_an_entry_without_its_data_says_how_to_get_them_and_has_no_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MRFIT_DATA", str(tmp_path))
    needing = [entry for entry in gallery.entries() if entry.missing_set]
    assert needing
    for entry in needing:
        page = gallery.page(entry, None)
        assert f"`mrfit data get {entry.missing_set}`" in page
        assert "![" not in page + gallery.card(entry)
        assert "## Output" not in page
        assert "## Code" in page
    assert sum("Needs" not in entry.fields for entry in gallery.entries()) >= 24


def test_scripts_without_a_question_or_a_picture_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "short.py"
    path.write_text('"""A title\n\nData: none.\n"""\n\nprint(1)\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"short.py needs a title, a question"):
        gallery.Entry.read(path)
    path.write_text('"""A title\n\nWhy?\n\nData: none.\n\nSo.\n"""\n\nprint(1)\n', encoding="utf-8")
    with pytest.raises(ValueError, match="not enough values"):
        gallery.run(gallery.Entry.read(path))
