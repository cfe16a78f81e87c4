"""Fixtures for all tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from mrfit.data.unique_rows import UniqueRows


@pytest.fixture
def data_dir() -> Path:
    """The directory of the real data sets, where there is one."""
    if not os.environ.get("MRFIT_DATA"):
        pytest.skip("MRFIT_DATA is not set: real data sets absent")
    return Path(os.environ["MRFIT_DATA"])


@pytest.fixture
def named_rows(data_dir: Path) -> Callable[[str, str], UniqueRows]:
    """Distinct rows of a part of a real data set."""
    return lambda name, part: UniqueRows.from_file(data_dir / name / f"{part}.csv.gz")


@pytest.fixture
def conformance_dir() -> Path:
    """The directory of models, data and answers that nobody in this project made, where there is one."""
    if not os.environ.get("MRFIT_CONFORMANCE"):
        pytest.skip("MRFIT_CONFORMANCE is not set: third-party reference values absent")
    return Path(os.environ["MRFIT_CONFORMANCE"])


# The first call of a kernel compiles it, so no example has a time limit.
settings.register_profile("mrfit", deadline=None)
settings.load_profile("mrfit")


@pytest.fixture
def rng() -> np.random.Generator:
    """The only source of random numbers in tests that do not draw their own seeds."""
    return np.random.default_rng(0)
