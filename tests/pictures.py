"""Pictures of the panel for the guide, and beside each a list of what it shows, by which it is seen to be true.

The list has the headings, buttons and fields of the pictured part as assistive technology is told of them, in their
order. Texts of runs, figures and times are not in it: those differ from run to run.
"""

from __future__ import annotations

import io
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import FloatRect, Locator

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
LARGEST_BYTES = 120_000
COLOURS = (256, 128, 64)
WAIT_S = 20
"""Until the screen shows what the list says: a slow machine may still be drawing."""
WRITES = bool(os.environ.get("CODEAGENT_PICTURES"))
"""`make pictures` takes them anew; else they are compared with what is on the screen."""
ROLES = "heading|button|tab|checkbox|radio|textbox|searchbox|combobox|listbox|toolbar|dialog"
LANDMARK = re.compile(rf'^\s*- (?P<role>{ROLES}) "(?P<name>(?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Picture:
    """One picture of the guide."""

    name: str

    @property
    def image(self) -> Path:
        return FOLDER / f"{self.name}.png"

    @property
    def contents(self) -> Path:
        return FOLDER / f"{self.name}.txt"

    def show(self, *parts: Locator, around: Locator | None = None, margin_px: int = 0) -> None:
        """The rectangle around the parts, or `around`, which is more: its contents are not compared.

        Written when asked for, else compared. Raises AssertionError where the guide shows something else than the
        screen.
        """
        if WRITES:
            FOLDER.mkdir(exist_ok=True)
            parts[0].page.mouse.move(0, 0)  # nothing is hovered over
            found = contents(parts)
            self.image.write_bytes(smaller(photograph(around or parts[0], margin_px)))
            self.contents.write_text(found, encoding="utf-8")
            return
        written = self.contents.read_text(encoding="utf-8")
        end = time.monotonic() + WAIT_S
        while (found := contents(parts)) != written and time.monotonic() < end:
            time.sleep(0.2)
        assert found == written, f"docs/pictures/{self.name}.png is no longer true: run `make pictures`"


def contents(parts: tuple[Locator, ...]) -> str:
    """The landmarks of all parts."""
    found = landmarks("\n".join(part.aria_snapshot() for part in parts))
    assert found, "nothing to be seen"
    return found


def landmarks(snapshot: str) -> str:
    """One line each, role and name, of an accessibility tree as Playwright writes it; figures are `#`.

    Of a name that has figures only the words before them are kept: behind them is what was measured.
    """
    lines = []
    for line in snapshot.splitlines():
        if match := LANDMARK.match(line):
            words, figure, _ = re.split(r"(\d|$)", match["name"], maxsplit=1)
            lines.append(f"{match['role']} {words}{'#' if figure else ''}".rstrip())
    return "\n".join(lines) + "\n" if lines else ""


def photograph(part: Locator, margin_px: int) -> bytes:
    """PNG of a part of the page and so much around it."""
    box, size = part.bounding_box(), part.page.viewport_size
    assert box is not None, "it is not on the screen"
    assert size is not None
    left, top = max(box["x"] - margin_px, 0), max(box["y"] - margin_px, 0)
    right = min(box["x"] + box["width"] + margin_px, size["width"])
    bottom = min(box["y"] + box["height"] + margin_px, size["height"])
    clip = FloatRect(x=left, y=top, width=right - left, height=bottom - top)
    return part.page.screenshot(clip=clip, animations="disabled", caret="hide")


def smaller(png: bytes) -> bytes:
    """The same picture in as many colours as its size allows: a page has not many."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    for colours in COLOURS:
        few = image.quantize(colours, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
        written = io.BytesIO()
        few.save(written, format="PNG", optimize=True)
        if written.tell() <= LARGEST_BYTES:
            break
    return written.getvalue()
