"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def data_dir() -> Path:
    """The directory of the real data sets, where there is one."""
    if not os.environ.get("MRFIT_DATA"):
        pytest.skip("MRFIT_DATA is not set: real data sets absent")
    return Path(os.environ["MRFIT_DATA"])
