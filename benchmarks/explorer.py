"""The explorer's page beside what draws networks in browsers: sigma (WebGL) and cytoscape (canvas).

Networks of sets have up to five neighbours a variable and an L2 fit of strength 10; "random" has 1,500 variables and
10,000 edges. All draw the same variables at the same places and the edges that the page shows at first, and are moved
and zoomed alike in one headless chromium without a graphics card; rivals draw a network and nothing else, the page all
of itself. CPU is that of all processes of the browser; a frame is what scripts do in it. Rivals are left out where
`npm ci` was not run in `web/rivals`.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.chromium import FLAGS, chromium_path, missing
from benchmarks.problems import problem
from benchmarks.table import Column, Record, Table, named
from mrfit.core.domain import Domain
from mrfit.core.factors import Factors
from mrfit.explorer.document import Document
from mrfit.explorer.html_page import asset, report_page
from mrfit.formats.mrf_network import to_model
from mrfit.learning.penalty_specs import L2
from mrfit.learning.specification import learn
from mrfit.model.factor_network import FactorNetwork
from mrfit.model.markov_network import MarkovNetwork
from mrfit.structures.simple import Learned

WEB = Path(__file__).parents[1] / "web"
OURS, RIVALS = "mrfit", ("sigma", "cytoscape")
_OPENED = 3  # times
_STEPS = 40  # of the mouse in a movement
_CLICKS = 7  # on states, for the time to a changed picture
_SHOWN = """
    addEventListener('load', () => requestAnimationFrame(() => requestAnimationFrame(() => {
        window.shown = performance.now();
    })));
    const nextFrame = requestAnimationFrame.bind(window);
    window.drawn = [];  // milliseconds of what was done in each frame
    window.requestAnimationFrame = (draw) => nextFrame((time) => {
        const begun = performance.now();
        draw(time);
        window.drawn.push(performance.now() - begun);
    });
"""


@lru_cache(maxsize=1)
def model_of(graph: str) -> MarkovNetwork:
    if graph != "random":
        structure = Learned(max_degree=5, bound="gain", rule="or")
        return learn(problem(graph).rows, structure, penalty=L2(10.0), jobs=1).model
    rng, n, n_edges = np.random.default_rng(0), 1500, 10_000
    ends = np.unique(np.sort(rng.integers(0, n, (2 * n_edges, 2)), axis=1), axis=0)
    ends = rng.permutation(ends[ends[:, 0] < ends[:, 1]])[:n_edges]
    strengths = rng.normal(size=n_edges).tolist()
    tables = [(tuple(pair), [0.0, 0.0, 0.0, w]) for pair, w in zip(ends.tolist(), strengths, strict=True)]
    domain = Domain.from_states({f"v{i}": ["0", "1"] for i in range(n)})
    return to_model(FactorNetwork(domain, Factors.from_tables(domain.shape, tables)))


@lru_cache(maxsize=1)
def document_of(graph: str) -> tuple[Document, float]:
    """The document, and CPU seconds that a report took."""
    model = model_of(graph)
    rows = None if graph == "random" else problem(graph).rows
    begun = time.process_time()
    document = Document.of(model, title=graph, rows=rows)
    report_page(document)
    return document, time.process_time() - begun


def page_of(document: Document, drawn: str) -> tuple[str, int] | None:
    """The whole page, and bytes of its script; None where a rival is not installed."""
    if drawn == OURS:
        return report_page(document).decode("ascii"), len(asset("explorer.js")) + len(asset("explorer.css"))
    if not (WEB / "rivals" / "node_modules").exists():
        return None
    bundle = ["npx", "--no-install", "esbuild", f"rivals/{drawn}.ts", "--bundle", "--minify", "--format=iife"]
    script = subprocess.run(bundle, cwd=WEB, capture_output=True, check=True).stdout.decode()
    script = script.replace("</script", "<\\/script")
    data = f'<script type="application/json" id="document">{document.to_json()}</script>'
    return f'<!doctype html><meta charset="utf-8"><div id="page"></div>{data}<script>{script}</script>', len(script)


def run(case: Case) -> Iterator[Record]:
    if missing():
        yield dict(case)
        return
    document, seconds = document_of(case["graph"])
    build = page_of(document, case["drawn"])
    if build is None:
        yield dict(case)
        return
    page, script = build
    about = {"n": len(document.content["variables"]), "edges": len(document.content["edges"])}
    record = {**case, **about, "script": script / 1000, **driven(page, ours=case["drawn"] == OURS)}
    if case["drawn"] == OURS:
        record |= {"report": len(page) / 1000, "writing": seconds}
    yield record


def driven(page: str, *, ours: bool) -> Record:
    """Measure how long a browser takes to show a page and to move what it shows."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        profile, file = Path(folder, "profile"), Path(folder, "page.html")
        file.write_text(page, encoding="utf-8")
        context = play.chromium.launch_persistent_context(
            str(profile), executable_path=chromium_path(), args=[*FLAGS], viewport={"width": 1440, "height": 900}
        )
        context.add_init_script(_SHOWN)
        first = [shown(context, file) for _ in range(_OPENED)]
        tab = context.pages[-1]

        def cpu(move: Callable[[], None]) -> float:
            before = cpu_seconds(str(profile))
            move()
            tab.wait_for_timeout(400)
            return 1000 * (cpu_seconds(str(profile)) - before) / _STEPS

        idle = cpu(lambda: tab.wait_for_timeout(400))
        walls, busy_first = zip(*first, strict=True)
        record = {
            "first": median(walls),
            "first_thread": median(busy_first),
            "pan": cpu(lambda: pan(tab)),
            "zoom": cpu(lambda: zoom(tab)),
            "idle": idle,
        }
        record["draw"] = float(np.quantile(tab.evaluate("window.drawn") or [np.nan], 0.95))
        record["heap"] = heap(context, tab)
        if ours:
            with main_thread(context, tab) as busy:
                clicks = [(changed(tab, k), busy()) for k in range(_CLICKS)]
            record |= {"evidence": median(wall for wall, _ in clicks), "thread": median(cpu for _, cpu in clicks)}
        context.close()
    return record


def shown(context: Any, file: Path) -> tuple[float, float]:
    """Milliseconds to the first picture, and of CPU that the page's own thread has worked by then."""
    for old in context.pages[1:]:
        old.close()
    tab = context.new_page()
    with main_thread(context, tab) as busy:
        tab.goto(f"file://{file}")
        while not (found := tab.evaluate("window.shown")):
            tab.wait_for_timeout(20)
        return float(found), busy()


def pan(tab: Any) -> None:
    """Drag from a point between variables, there and back."""
    tab.mouse.move(690, 60)
    tab.mouse.down()
    tab.mouse.move(760, 110, steps=_STEPS // 2)
    tab.mouse.move(690, 60, steps=_STEPS // 2)
    tab.mouse.up()


def zoom(tab: Any) -> None:
    tab.mouse.move(690, 420)
    for step in range(_STEPS):
        tab.mouse.wheel(0, -40 if step < _STEPS // 2 else 40)
        tab.wait_for_timeout(20)


def changed(tab: Any, number: int) -> float:
    """Milliseconds from a click on a state to the first frame with other probabilities."""
    return float(
        tab.evaluate(
            """async (number) => {
                const numbers = () => [...document.querySelectorAll('.row .number')].slice(2);
                const others = () => numbers().map((number) => number.textContent).join();
                const [before, begun] = [others(), performance.now()];
                document.querySelectorAll('.row')[0].querySelectorAll('.state')[number % 2].click();
                const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
                do await frame(); while (others() === before && performance.now() - begun < 5000);
                return performance.now() - begun;
            }""",
            number,
        )
    )


@contextmanager
def main_thread(context: Any, tab: Any) -> Iterator[Callable[[], float]]:
    """CPU milliseconds that the page's own thread has worked since it was last asked."""
    session = context.new_cdp_session(tab)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    last = 0.0

    def busy() -> float:
        nonlocal last
        found = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
        before, last = last, 1000 * found["TaskDuration"]
        return last - before

    busy()
    yield busy
    session.detach()


def heap(context: Any, tab: Any) -> float:
    session = context.new_cdp_session(tab)
    session.send("HeapProfiler.collectGarbage")
    return float(session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6


def cpu_seconds(profile: str) -> float:
    """Processor seconds so far of the browser with this profile, its children included."""
    parents, spent, root = {}, {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
        number = int(folder.name)
        parents[number], spent[number] = int(fields[1]), sum(map(int, fields[11:15]))
        if f"--user-data-dir={profile}".encode() in command:
            root.append(number)
    kept = set(root)
    while more := {number for number, parent in parents.items() if parent in kept} - kept:
        kept |= more
    return sum(spent[number] for number in kept) / os.sysconf("SC_CLK_TCK")


def tables(records: list[Record]) -> list[Table]:
    drawing = (
        named("network", "{graph}"),
        Column("variables", "{n:,}"),
        Column("edges", "{edges:,}"),
        named("drawn by", "{drawn}"),
        Column("script, kB", "{script:.0f}"),
        Column("first picture, ms", "{first:.0f}"),
        Column("of them CPU of the page's thread", "{first_thread:.0f}"),
        Column("CPU ms a step: moved", "{pan:.0f}"),
        Column("zoomed", "{zoom:.0f}"),
        Column("95 % of frames drawn within, ms", "{draw:.0f}"),
        Column("heap, MB", "{heap:.1f}"),
    )
    page = (
        named("network", "{graph}"),
        Column("report, kB", "{report:.0f}"),
        Column("written in, CPU s", "{writing:.1f}"),
        Column("click to changed picture, ms", "{evidence:.0f}"),
        Column("of them CPU of the page's thread", "{thread:.0f}"),
    )
    ours = [record for record in records if "report" in record]
    return [Table(drawing, [record for record in records if "first" in record]), *([Table(page, ours)] if ours else [])]


BENCHMARKS = (
    Benchmark(
        "explorer",
        "the explorer's page: how fast it is seen and moved, beside sigma and cytoscape",
        cases(graph=("nltcs", "audio", "bbc", "random"), drawn=(OURS, *RIVALS)),
        cases(graph=("nltcs",), drawn=(OURS,)),
        run,
        tables,
        rivals=("playwright",),
    ),
)
