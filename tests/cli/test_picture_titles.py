"""Default titles of pictures."""

from __future__ import annotations

import pytest

from mrfit.cli.picture_options import title_of


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("nltcs:train", "nltcs (train)"),
        ("czech:data", "czech"),
        ("/home/me/my surveys/women 2020.csv", "women 2020"),
        ("../data/table.txt.gz", "table"),
        ("survey.v2.parquet", "survey.v2"),
        ("table", "table"),
        (".csv", ".csv"),
        ("C:table.csv", "C:table"),
    ],
)
def test_data_have_readable_names(source: str, title: str) -> None:
    assert title_of(source, {"title": None}) == title
    assert title_of(source, {"title": "A title"}) == "A title"
    assert title_of(source, {"title": ""}) == ""
