"""What the panel costs the browser: streaming, typing meanwhile, new cells, the start of JupyterLab, the bundle.

A real Chromium on a real JupyterLab, started as the browser tests do; the model is scripted and sends 50 pieces of
a program of 300 lines a second. Costs are CPU time of the page's main thread (Chromium's own count), so that other
work on the machine counts less; keys and paints are time on the clock and want a quiet machine.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import statistics
import struct
import sys
import tempfile
import time
import zlib
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # the servers and pages of the browser tests

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
STATIC = Path(__file__).parents[1] / "jupyter_codeagent" / "labextension" / "static"
MEASURED_S = 8
KEYS = 100
STARTS = 5
INSERTIONS = 5
LINES = 300
LIMIT_MS = 120_000

GOALS = {
    "streaming.core": "< 0.1 of a core",
    "wire_50.core": "< 0.1 of a core",
    "key_ratio": "<= 1.3",
    "insert.paint_ms": "< 150 ms",
    "bundle.without_charts_bytes": "<= 250000",
    "start.more_cpu_s": "within start.spread_s",
}

LOAD = "%load_ext jupyter_codeagent\ndf = [1, 2, 3]"
EACH_PIECE = "import jupyter_codeagent.session.recorder as recorder\nrecorder.PROGRESS_INTERVAL_S = 0"
"""The kernel sends four messages a second; here one for each of the model's 50 pieces."""
INSERT = """import json, pathlib
from jupyter_codeagent.entrypoints.extension import _loaded
from jupyter_codeagent.frontend.insertion import PanelInserter
session = next(iter(_loaded.values()))[0]
number = globals().get("number", 0) + 1
cells = json.loads(pathlib.Path("cells.json").read_text())
cells = [{**cell, "id": f"bench-{number}-{at}"} for at, cell in enumerate(cells)]
session.background.run(PanelInserter(session.link, None).insert(f"{number:012}", cells, anchor=None, replace=()))"""
SOURCES = [
    *(LOAD, "%%agent\nWrite a long program.", "text = ''"),
    *(EACH_PIECE, "%%agent\nWrite another long program.", INSERT),
]
PROGRAM = "```python\n" + "".join(f"total_{n} = sum(df) + {n}  # line {n}\n" for n in range(LINES)) + "```\n"

KEY_TO_PAINT = """() => {
  window.paints = [];
  document.addEventListener('keydown', event => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => window.paints.push(performance.now() - event.timeStamp);
    channel.port2.postMessage(null);
  }), true);
}"""

NOTE_ARRIVAL = """window.WebSocket = class extends window.WebSocket {
  constructor(...args) {
    super(...args);
    this.addEventListener('message', event => {
      const size = event.data.byteLength ?? event.data.size ?? event.data.length;
      if (size > 1e6) { window.arrivedAt = performance.now(); }
    });
  }
};"""

PAINTED = """id => new Promise(resolve => {
  const look = () => {
    const cells = window.jupyterapp.shell.currentWidget.content.widgets;
    const first = cells.find(cell => cell.model.id === `${id}-0`);
    const image = first?.node.querySelector('.jp-OutputArea img');
    if (cells.some(cell => cell.model.id === `${id}-4`) && image?.complete && first.node.isConnected) {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => resolve(performance.now() - window.arrivedAt);
      channel.port2.postMessage(null);
    } else {
      requestAnimationFrame(look);
    }
  };
  look();
})"""


def run() -> dict[str, Any]:
    """Takes about four minutes."""
    from lab_server import running_lab
    from model_server import Reply, serving
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as directory, serving() as model, sync_playwright() as playwright:
        base = Path(directory)
        environment = {"CODEAGENT_BASE_URL": model.url, "CODEAGENT_MODEL": "scripted"}
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        with running_lab(base, environment) as lab:
            model.script(Reply(PROGRAM, piece_s=0.02))
            figures = _in_notebook(browser, lab)
            starts, loaded = _starts(browser, lab, base / "config" / "labconfig" / "page_config.json")
        browser.close()
    return {**figures, "start": starts, "bundle": _bundle(loaded), "goals": GOALS}


def _in_notebook(browser: Any, lab: Any) -> dict[str, Any]:
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook
    from notebook_page import NotebookPage

    notebook = new_notebook(cells=[new_code_cell(source) for source in SOURCES])
    nbformat.write(notebook, lab.root / "bench.ipynb")
    (lab.root / "cells.json").write_text(json.dumps(_cells()), encoding="utf-8")
    lab.start_session("bench.ipynb")
    shown = NotebookPage(page=browser.new_context().new_page(), lab=lab, name="bench.ipynb")
    shown.page.add_init_script(NOTE_ARRIVAL)
    shown.open()
    panel = shown.open_panel()
    shown.run_cell(0)
    shown.wait_until_ran(0)
    shown.page.evaluate(KEY_TO_PAINT)
    stop = panel.get_by_role("button", name="Stop this run")

    def streaming(cell: int, measure: Callable[[], dict[str, float]]) -> dict[str, float]:
        """Measured from the first line to Stop: a run that ends by itself meanwhile is an error."""
        shown.run_cell(cell)
        shown.page.locator(".jp-CodeAgent-stream").wait_for(timeout=LIMIT_MS)
        figures = measure()
        stop.click(timeout=5_000)
        shown.cells.nth(cell).get_by_text("Stopped by you").first.wait_for(timeout=LIMIT_MS)
        return figures

    def cost_and_keys() -> dict[str, float]:
        return {"core": _cpu(shown.page, MEASURED_S), "key_ms": _keys(shown)}

    idle = cost_and_keys()
    sent = streaming(1, cost_and_keys)
    again = _keys(shown)  # idle before and after: a machine that grows busier meanwhile shows
    shown.run_cell(3)
    shown.wait_until_ran(3)
    wire = streaming(4, lambda: {"core": _cpu(shown.page, MEASURED_S)})
    insert = _insertions(shown)
    shown.page.context.close()
    return {
        "idle": {**idle, "key_after_ms": again},
        "streaming": {**sent, "core": sent["core"] - idle["core"]},
        "wire_50": {"core": wire["core"] - idle["core"]},
        "key_ratio": sent["key_ms"] / statistics.mean([idle["key_ms"], again]),
        "insert": insert,
    }


def _busy(page: Any) -> Callable[[], float]:
    """Seconds of CPU that the page's main thread has taken."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy_s() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))

    return busy_s


def _cpu(page: Any, seconds: float) -> float:
    """Share of a core."""
    busy_s = _busy(page)
    before, began = busy_s(), time.monotonic()
    page.wait_for_timeout(seconds * 1000)
    return (busy_s() - before) / (time.monotonic() - began)


def _keys(shown: Any) -> float:
    """95th percentile of the time from a key to the picture with its letter, in ms."""
    page = shown.page
    page.evaluate("() => { window.paints.length = 0; }")
    shown.cells.nth(2).locator(".cm-content").click()
    for _ in range(KEYS):
        page.keyboard.press("x")
        page.wait_for_timeout(50)
    paints: list[float] = page.evaluate("() => window.paints")
    return statistics.quantiles(paints, n=20)[-1]


def _insertions(shown: Any) -> dict[str, float]:
    """From the arrival of the message to the picture with the first of the five cells; CPU until all is quiet."""
    paints, cpu_s = [], []
    busy_s = _busy(shown.page)
    for number in range(1, INSERTIONS + 1):
        shown.page.evaluate("() => { window.arrivedAt = undefined; }")
        before = busy_s()
        shown.run_cell(5)
        shown.call("notebook.scrollToItem(notebook.widgets.length - 1);")
        paints.append(shown.page.evaluate(PAINTED, f"bench-{number}"))
        shown.page.wait_for_timeout(1_500)
        cpu_s.append(busy_s() - before)
        shown.call(f"shared.deleteCellRange({len(SOURCES)}, shared.cells.length);")
        shown.page.wait_for_timeout(500)
    return {
        "paint_ms": statistics.median(paints),
        "worst_paint_ms": max(paints),
        "cpu_s": statistics.median(cpu_s),
    }


def _cells() -> list[dict[str, Any]]:
    """Five cells of a run with 2 MB of outputs: four pictures that do not compress, and a table."""
    picture_bytes = 1_800_000 * 3 // 4 // 4
    pictures: list[dict[str, Any]] = [
        {"output_type": "display_data", "metadata": {}, "data": {"image/png": _png(picture_bytes)}}
        for _ in range(4)
    ]
    row = "<tr>" + "<td>12345.678</td>" * 10 + "</tr>"
    html = f"<table>{row * (200_000 // len(row))}</table>"
    table = {"output_type": "display_data", "metadata": {}, "data": {"text/html": html, "text/plain": "a table"}}
    origin = {"version": 1, "run_id": "", "role": "code", "state": "pending"}
    return [
        {
            "cell_type": "code",
            "source": "df",
            "execution_count": None,
            "outputs": [output],
            "metadata": {"trusted": True, "codeagent": {**origin, "run_id": "0" * 12}},
        }
        for output in (*pictures, table)
    ]


def _png(size_bytes: int) -> str:
    """Grey noise of about so many bytes, in base64."""
    width, height = 600, size_bytes // 600

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = b"".join(b"\0" + os.urandom(width) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(lines, 1)), chunk(b"IEND", b""))
    return b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def _starts(browser: Any, lab: Any, page_config: Path) -> tuple[dict[str, float], set[str]]:
    """JupyterLab restored, with the extension and without, in turn; and which of our files that took."""
    cpu_s: dict[str, list[float]] = {"with": [], "without": []}
    clock_s: dict[str, list[float]] = {"with": [], "without": []}
    loaded: set[str] = set()
    page_config.parent.mkdir(parents=True, exist_ok=True)
    for number in range(STARTS + 1):
        for name, figures in cpu_s.items():
            page_config.write_text(json.dumps({"disabledExtensions": {"jupyter-codeagent": name == "without"}}))
            page = browser.new_context().new_page()
            if name == "with":
                page.on("request", lambda request: loaded.add(request.url.partition("?")[0]))
            began = time.monotonic()
            page.goto(f"{lab.url}/lab/workspaces/start", wait_until="commit")
            busy_s = _busy(page)
            page.wait_for_function("() => window.jupyterapp?.restored.then(() => true)", timeout=LIMIT_MS)
            took_s = time.monotonic() - began
            page.wait_for_timeout(1_000)
            if number > 0:  # the first one fills the caches
                clock_s[name].append(took_s)
                figures.append(busy_s())
            page.context.close()
    page_config.write_text("{}")
    found = {
        "more_cpu_s": statistics.median(cpu_s["with"]) - statistics.median(cpu_s["without"]),
        "spread_s": max(cpu_s["without"]) - min(cpu_s["without"]),
        **{f"{name}_cpu_s": statistics.median(values) for name, values in cpu_s.items()},
        **{f"{name}_clock_s": statistics.median(values) for name, values in clock_s.items()},
    }
    return found, {url.rpartition("/")[2] for url in loaded if "jupyter-codeagent/static" in url}


def _bundle(at_start: set[str]) -> dict[str, int]:
    """Bytes after gzip. The library that draws charts comes with the first chart only."""
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in sorted(STATIC.glob("*.js"))}
    charts = max(sizes, key=lambda name: sizes[name])
    return {
        "at_start_bytes": sum(sizes[name] for name in at_start if name in sizes),
        "without_charts_bytes": sum(sizes.values()) - sizes[charts],
        "charts_bytes": sizes[charts],
        "charts_are_lazy": int(charts not in at_start),
    }
