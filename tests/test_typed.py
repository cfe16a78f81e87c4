"""Type checkers of those who import mrfit find its types: `py.typed` is shipped, and README's code passes them."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
CHECKERS = {
    "mypy": ["-m", "mypy", "--strict", "--config-file", os.devnull],
    "basedpyright": ["-m", "basedpyright", "--level", "error", "--pythonpath", sys.executable],
}
WRONG = """
import mrfit

mrfit.learn({"a": [0, 1]}, penalty="l2").model.pll(3).upper()
"""


def _checked(checker: str, folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    (folder / "consumer.py").write_text(text, encoding="utf-8")
    command = [sys.executable, *CHECKERS[checker], "consumer.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("checker", CHECKERS)
def test_code_of_the_readme_passes(checker: str, tmp_path: Path) -> None:
    code = "\n".join(BLOCK.findall(README.read_text(encoding="utf-8")))
    code = re.sub(r"\.figure\.savefig\(.*\)", "", code)  # by matplotlib's types, the figure of axes may be a subfigure
    assert "import mrfit" in code or "from mrfit import" in code
    ran = _checked(checker, tmp_path, code)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("checker", CHECKERS)
def test_wrong_code_does_not(checker: str, tmp_path: Path) -> None:
    """A package without types would let everything pass."""
    ran = _checked(checker, tmp_path, WRONG)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "upper" in ran.stdout
