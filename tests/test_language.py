"""Plain English in code and pages: openings of docstrings, the field's words, short sentences, unique names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path

import pytest

from mrfit.cli.main import _COMMANDS

ROOT = Path(__file__).parents[1]
PACKAGE = "src/mrfit/"


def _texts(*patterns: str) -> dict[str, str]:
    paths = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


SOURCES = _texts("src/**/*.py")
PAGES = _texts("README.md", "docs/*.md", "docs/decisions/*.md")
SCRIPTS = _texts("web/src/*.ts")
OTHERS = _texts("benchmarks/**/*.py", "tools/**/*.py", "tests/**/*.py")
OURS = {name.removeprefix(PACKAGE): text for name, text in SOURCES.items() if name.startswith(PACKAGE)}

# Prepositions, question words ("Whether" is the usual opening for a truth value), pronouns and bare participles.
FRAGMENT = re.compile(
    r"(Internal: )?(About|After|Against|Among|As|At|Before|Behind|Beside|Between|Beyond|By|For|From|In|Inside|Into|Of"
    r"|On|Onto|Out|Over|Through|To|Under|Until|With|Within|Without|How|What|When|Where|Which|Who|Whom|Whose|Why|It"
    r"|That|The same|These|They|This|Those|Asked|Found|Given|Held|Kept|Made|Met|Said|Taken|Told)[\s,]"
)
OPENING = re.compile(r'^[ ]*r?"""(?P<opening>[^\s"].*)', re.MULTILINE)  # a line that only ends a docstring has no text
# A help text may name the option that it belongs to first, or say how to do what the option does.
HELP = re.compile(r'\bhelp=\(?\s*f?"(?!How to |(?:For|With) --)(?P<opening>[^"]*)')
WORD = re.compile(r"(?<![a-z])rooms?(?![a-z])", re.IGNORECASE)
ARRAY_ALIAS = re.compile(r"^\w+(: TypeAlias)? = [^(\n]*\bNDArray\[", re.MULTILINE)
CLASS = re.compile(r"^ *class (\w+)[(:]", re.MULTILINE)

# Phrases that are wrong wherever they stand, and what to say instead. Words that have a good use too ("kept", "places",
# "judge", "in words") are left to the reader.
PHRASES = {
    "anew": "again",
    "of yours": "your",
    "whoever": "anyone who, or name the reader",
    "whatever (is|are|it)": "any, every",
    "such as have": "that have",
    "(is|are) said so": "mrfit warns, reports",
    "says? so": "mrfit warns, reports; say what",
    "(told|said|quoted|marked|declared) so": "say what is done: quote, mark, declare",
    "(is|are) said(?! to)": "mrfit warns, reports",
    "(is|are) asked (for|of)": "query, request",
    "nobody (knows|then|is|ever)": "name what is unknown",
    "hangs? together": "are associated",
    "ways? on": "what to do next",
    "throw of dice": "due to chance",
    "silent states?": "reference category",
    "as they may be": "drop it",
    "may be repeated, and": "repeatable",
    "what is given": "the evidence",
    "goe?s? before it": "takes precedence over it",
    "who has promised": "validated against",
    "found out": "detected",
    "what they have": "observed values",
    "(rows|data) that (choose|judge)": "validation rows, held-out data",
    "stands? against": "is added to, is relative to",
    "learn(s|ed|t)? again": "refit; bootstrap the analysis",
    "moved by": "changed by",
    "have them often": "how often an edge appears",
    "another value in nearly every row": "ID-like column",
    "[AB12] less [AB12]": "difference B - A",
    "mind:": "Warning:",
    "resamples? of whatever": "bootstrap sample",
}
BANNED = {
    phrase: re.compile(rf"(?<![\w-])(?:{phrase})(?!\w)".replace(" ", r"\s+"), re.IGNORECASE) for phrase in PHRASES
}
# A word that every hit contains: most texts are done with once it is looked for, which takes no time.
KEYS = {phrase: max(re.sub(r"\(.*?\)\??|\[.*?\]|\w\?", "", phrase).split(), key=len).lower() for phrase in PHRASES}
TEXT_OF_SCRIPT = re.compile(r"([\"'`])((?:(?!\1)[^\n\\]|\\.){12,})\1")
CODE = re.compile(r"`[^`\n]*`")
NOT_PROSE = re.compile(r"^```.*?^```|<!--.*?-->|^ *\|.*?$|^#+ .*?$", re.MULTILINE | re.DOTALL)
END = re.compile(r"(?<=[.!?:;])\s+|\n\s*\n|\n\s*(?:[-*]|\d+\.)\s")
MOST_WORDS = 35


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _found(texts: Mapping[str, str], look: Callable[[str], Iterator[tuple[int, str]]]) -> str:
    """Describe every hit of a rule, a line each, so that an empty text is a pass."""
    return "\n".join(f"{name}:{_line(text, at)}: {what}" for name, text in texts.items() for at, what in look(text))


def fragments(text: str, opening: re.Pattern[str] = OPENING) -> Iterator[tuple[int, str]]:
    for found in opening.finditer(text):
        if FRAGMENT.match(found["opening"]):
            yield found.start("opening"), f"{found['opening'][:60]!r} is a fragment; open with a noun or an imperative"


def phrases(text: str) -> Iterator[tuple[int, str]]:
    lower = text.lower()
    for phrase in (phrase for phrase in PHRASES if KEYS[phrase] in lower):
        for found in BANNED[phrase].finditer(text):
            yield found.start(), f"{' '.join(found[0].split())!r} -> {PHRASES[phrase]}"


def long_sentences(text: str) -> Iterator[tuple[int, str]]:
    # Blanks of the same length keep positions; code counts as one word.
    prose = NOT_PROSE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    prose = CODE.sub(lambda found: "X".ljust(len(found[0])), prose)
    start = 0
    for end in chain((found.end() for found in END.finditer(prose)), [len(prose)]):
        if (n := len(prose[start:end].split())) > MOST_WORDS:
            yield start, f"sentence of {n} words, at most {MOST_WORDS}: {' '.join(prose[start:end].split())[:50]!r}"
        start = end


def _only_texts(script: str) -> str:
    """Blank out everything but string literals, line by line."""
    return "\n".join(" ".join(found[2] for found in TEXT_OF_SCRIPT.finditer(line)) for line in script.split("\n"))


def test_no_docstring_opens_as_a_fragment() -> None:
    assert _found(SOURCES | OTHERS, fragments) == ""


def test_no_help_text_opens_as_a_fragment() -> None:
    assert _found(SOURCES, lambda text: fragments(text, HELP)) == ""


def test_phrases_of_pages_and_sources() -> None:
    """Sources are searched whole: docstrings, messages, help texts and comments. The glossary lists others' words."""
    pages = {name: text for name, text in PAGES.items() if name != "docs/glossary.md"}
    assert _found(pages | SOURCES, phrases) == ""


def test_phrases_of_the_explorer() -> None:
    assert _found({name: _only_texts(text) for name, text in SCRIPTS.items()}, phrases) == ""


def test_sentences_of_pages_are_short() -> None:
    pages = {name: text for name, text in PAGES.items() if "decisions" not in name}
    assert _found(pages, long_sentences) == ""


def test_packages_are_called_packages() -> None:
    assert {name: found for name, text in OURS.items() if (found := WORD.findall(text))} == {}


def test_array_types_are_defined_in_one_module() -> None:
    assert [name for name, text in OURS.items() if ARRAY_ALIAS.search(text)] == ["_typing.py"]


def test_every_class_has_a_name_of_its_own() -> None:
    count = Counter(name for text in SOURCES.values() for name in CLASS.findall(text))
    assert {name for name, n in count.items() if n > 1} == set()


def test_every_module_has_a_name_of_its_own() -> None:
    """Commands bear the names that users type, which may be those of the modules that they call."""
    commands = {f"{module.removeprefix('mrfit.').replace('.', '/')}.py" for module, _ in _COMMANDS.values()}
    count = Counter(Path(name).stem for name in OURS if name not in commands)
    assert {name for name, n in count.items() if n > 1} <= {"__init__", "__main__", "_typing"}


@pytest.mark.parametrize(
    "opening",
    ["Of what is drawn.", "As the user wants it.", "Told where to go.", "Which rows.", "Internal: How rows are cut."],
)
def test_fragments_are_recognised(opening: str) -> None:
    assert FRAGMENT.match(opening)
    assert [at for at, _ in fragments(f'def f():\n    """{opening}"""\n')] == [16]
    assert [at for at, _ in fragments(f'option(help=(\n  "{opening}"))', HELP)] == [17]


@pytest.mark.parametrize(
    "opening", ["Return the rows.", "Offset of a row.", "Whether rows are left.", "In-memory tables."]
)
def test_nouns_and_imperatives_pass(opening: str) -> None:
    assert not FRAGMENT.match(opening)
    assert not list(fragments(f'"""{opening}\n\nOf several lines.\n"""\n'))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\nIt is drawn anew.", "'anew' -> again"),
        ("one\nIt is learned\n    again from", "'learned again' -> refit; bootstrap the analysis"),
        ("one\nA table of yours", "'of yours' -> your"),
        ("one\nB less A", "'B less A' -> difference B - A"),
    ],
)
def test_a_phrase_is_named_with_its_line_and_what_to_say(text: str, expected: str) -> None:
    assert _found({"page.md": text}, phrases) == f"page.md:2: {expected}"


@pytest.mark.parametrize("text", ["is said to be sparse", "whatever", "renewed", "hang, together", "no less than 2"])
def test_other_phrases_pass(text: str) -> None:
    assert not list(phrases(text))


def test_a_long_sentence_is_found_and_code_is_none() -> None:
    words = " ".join(["word"] * 36)
    page = f"# {words}\n\n| {words} |\n\n```\n{words}\n```\n\nShort. `{words}`\n\nThis one: no.\n{words}.\n"
    assert [(_line(page, at), what[:20]) for at, what in long_sentences(page)] == [(12, "sentence of 36 words")]


def test_code_of_a_script_is_not_read() -> None:
    assert not list(phrases(_only_texts("const anew = 1; // anew\n")))
    assert list(phrases(_only_texts('say("It is drawn anew here");\n')))
