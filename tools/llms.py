"""Write llms.txt, which lists commands, pages and JSON schemas for programs that read documentation (llmstxt.org).

python tools/llms.py
"""

from __future__ import annotations

import re
from pathlib import Path

import click

from mrfit.cli.main import cli

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TREE = re.compile(r"^```\{toctree\}\n(?P<lines>.*?)^```$", flags=re.MULTILINE | re.DOTALL)
INTRODUCTION = """\
# mrfit

> Learn discrete Markov networks (Markov random fields, log-linear models, Ising and Potts models, psychological
> networks) from tables of yes/no, categorical and ordered columns; predict held-out rows; query the model.

- Python: `from mrfit import MarkovNetworkLearner` is a scikit-learn estimator; its `model_` answers queries.
- Shell: `mrfit advise TABLE --json` says what kind of table it is and which commands suit it.
- Every command takes `--json` and prints one JSON document on standard output. Notes and progress go to standard error.
- Errors are one line on standard error, with exit code 2. Outputs appear whole or not at all.
- An approximate number has its standard error beside it and `"exact": false`.
"""


def sections() -> list[tuple[str, list[str]]]:
    """Return the captions of the front page's tables of contents, each with its pages."""
    found = []
    for tree in TREE.finditer((DOCS / "index.md").read_text(encoding="utf-8")):
        lines = [line.strip() for line in tree["lines"].splitlines() if line.strip()]
        captions = [line.removeprefix(":caption:").strip(' "') for line in lines if line.startswith(":caption:")]
        pages = [re.sub(r".*<(.*)>$", r"\1", line) for line in lines if not line.startswith(":")]
        found.append(((captions or ["Pages"])[0], pages))
    return found


def title_and_summary(page: str) -> tuple[str, str]:
    """Return the title of a page of `docs` and its first sentence; a page of a file above has a title alone."""
    above = ROOT / f"{page.upper()}.md"  # such as CHANGELOG.md
    path = above if above.is_file() else DOCS / f"{page}.md"
    paragraphs = [part.strip() for part in path.read_text(encoding="utf-8").split("\n\n")]
    title = paragraphs[0].lstrip("# ").strip()
    prose = (
        text for text in paragraphs[1:] if re.match(r"[A-Za-z`*\[]", text) and not text.startswith("*Also known as")
    )
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(next(prose, "").split())).replace("**", "")
    return title, re.split(r"(?<=[.:])\s", text)[0].rstrip(".:")


def pages() -> list[str]:
    """Return a section for each table of contents of the site."""
    found = []
    for caption, names in sections():
        lines = []
        for page in names:
            title, summary = title_and_summary(page)
            lines.append(f"- [{title}](docs/{page}.md): {summary}")
        found.append(f"## {caption}\n\n" + "\n".join(lines) + "\n")
    return found


def commands() -> str:
    """Return the section of commands, each with its purpose and the schema of its JSON."""
    context = click.Context(cli, info_name="mrfit")
    lines = []
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        path = f"docs/schemas/{name}.json"
        schema = f" ([schema of `--json`]({path}))" if (ROOT / path).is_file() else ""
        lines.append(f"- `mrfit {name}`: {command.get_short_help_str(200)}{schema}")
    return "## Commands\n\n" + "\n".join(lines) + "\n"


def text() -> str:
    """Return the whole file."""
    return "\n".join([INTRODUCTION, commands(), *pages()])


if __name__ == "__main__":
    (ROOT / "llms.txt").write_text(text(), encoding="utf-8")
