"""Whether what the agent draws can be used by everybody: axe-core's rules, and where the keyboard's focus is."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

AXE = Path(__file__).parents[1] / "labextension" / "node_modules" / "axe-core" / "axe.min.js"
LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"
HIGH_CONTRAST = "JupyterLab Dark High Contrast"
OURS = [
    *("#jupyter-codeagent-panel", ".jp-CodeAgent-cellBar", ".jp-CodeAgent-cellTools", ".jp-CodeAgent-statusItem"),
    *(".jp-CodeAgent-announcer", ".jp-CodeAgent-dialog", ".jp-CodeAgent-card", ".jp-CodeAgent-origin"),
]
"""What axe looks at; the rest of the page is JupyterLab's."""
RUN_AXE = """async ours => {
  // JupyterLab's outermost element has no height: axe takes all text in it for hidden, and checks no contrast.
  document.querySelectorAll('.jp-ThemedContainer').forEach(node => { node.style.height = '100vh'; });
  const include = ours.filter(selector => document.querySelector(selector));
  // The colours of code are those of JupyterLab's editor. An option of a list is read as one sentence.
  const exclude = [['.cm-line']], rules = { 'label-content-name-mismatch': { enabled: false } };
  const found = await axe.run({ include, exclude }, { rules });
  return {
    seen: [...found.passes, ...found.violations].filter(rule => rule.id === 'color-contrast')
      .reduce((sum, rule) => sum + rule.nodes.length, 0),
    violations: found.violations.flatMap(rule => rule.nodes.map(
      node => `${rule.id}: ${node.target.join(' ')}: ${(node.failureSummary || '').replace(/\\s+/g, ' ')}`
    )),
  };
}"""
SEEN_AT_LEAST = 5
"""Texts whose contrast axe could tell: none of them, where it takes the page for hidden."""
SET_WIDTH = """width => {
  const split = window.jupyterapp.shell._hsplitPanel;
  const sizes = split.relativeSizes(), part = width / split.node.clientWidth;
  const rest = sizes.slice(0, -1).reduce((sum, size) => sum + size, 0);
  split.setRelativeSizes([...sizes.slice(0, -1).map(size => size / rest * (1 - part)), part]);
}"""
CLIPPED = """() => [...document.querySelectorAll('#jupyter-codeagent-panel :is(button, select, summary, label)')]
  .filter(node => node.offsetParent && node.getClientRects().length)
  .filter(node => {
    const panel = document.querySelector('#jupyter-codeagent-panel').getBoundingClientRect();
    const box = node.getBoundingClientRect();
    return box.right > panel.right + 1 || box.left < panel.left - 1;
  })
  .map(node => node.outerHTML.slice(0, 160))"""
SQUEEZED = """() => [...document.querySelectorAll(
    '#jupyter-codeagent-panel :is(.jp-CodeAgent-button, [role=tab]), .jp-CodeAgent-cellBar .jp-CodeAgent-button')]
  .filter(node => node.offsetParent && node.getClientRects().length)
  .filter(node => {
    const style = getComputedStyle(node), box = node.getBoundingClientRect();
    const height = box.height - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
    return height > 2.2 * parseFloat(style.fontSize) || node.scrollWidth > node.clientWidth + 1;
  })
  .map(node => node.outerHTML.slice(0, 160))"""
"""Buttons whose words take two lines, or are cut."""
ROWS = """selector => [...document.querySelectorAll(selector)].filter(node => node.offsetParent).map(node => {
  const boxes = [...node.children].map(child => child.getBoundingClientRect()).filter(box => box.width > 2);
  const tops = boxes.map(box => box.top + box.height / 2).sort((a, b) => a - b);
  return 1 + tops.slice(1).filter((top, i) => top - tops[i] > 8).length;
})"""
"""In how many rows the children of each of these stand."""
FOCUS = """() => {
  const node = document.activeElement, style = getComputedStyle(node);
  const rings = [node, ...(node.closest('.jp-CodeAgent-askBox, .jp-CodeAgent-editor, .jp-Cell, .jp-Notebook')
    ? [node.closest('.jp-CodeAgent-askBox, .jp-CodeAgent-editor') ?? node] : [])].map(one => getComputedStyle(one));
  return {
    lost: node === document.body || node === document.documentElement,
    ours: node.closest('.jp-CodeAgent, .jp-CodeAgent-cellBar, .jp-CodeAgent-cellTools, .jp-CodeAgent-statusItem,'
      + ' .jp-CodeAgent-origin') !== null,
    name: (node.getAttribute('aria-label') || node.textContent || '').trim().slice(0, 60),
    tag: node.tagName, class: node.className,
    ring: rings.some(one =>
      (one.outlineStyle !== 'none' && parseFloat(one.outlineWidth) >= 1) || one.boxShadow !== 'none'),
  };
}"""


@dataclass
class Inspector:
    """Looks at the states of a page as they come; `complaints` has what is wrong, by state and theme."""

    page: Page
    themes: Sequence[str] = (LIGHT, DARK, HIGH_CONTRAST)
    complaints: list[str] | None = None

    def look(self, state: str) -> None:
        """axe in every theme, and whether everything has room in the narrow panel."""
        complaints = self.complaints = self.complaints or []
        if not self.page.evaluate("() => Boolean(window.axe)"):
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        for number, theme in enumerate(self.themes):
            width_px = 450 if number == 0 else 300
            set_theme(self.page, theme)
            self.page.evaluate(SET_WIDTH, width_px)
            self.page.wait_for_timeout(100)  # the editors measure themselves anew
            found = self.page.evaluate(RUN_AXE, OURS)
            for _ in range(5):
                if found["seen"] >= SEEN_AT_LEAST or self.page.locator(".jp-Dialog").count():
                    break  # under a dialog nothing else is in sight
                self.page.wait_for_timeout(500)  # the theme is still being drawn
                found = self.page.evaluate(RUN_AXE, OURS)
            if found["seen"] < SEEN_AT_LEAST and not self.page.locator(".jp-Dialog").count():
                complaints.append(f"{state}, {theme}: axe has read {found['seen']} texts only")
            clipped: list[str] = self.page.evaluate(CLIPPED)
            squeezed: list[str] = self.page.evaluate(SQUEEZED)
            complaints += [f"{state}, {width_px} px: no room for its words: {one}" for one in squeezed]
            complaints += [f"{state}, {theme}: {one}" for one in found["violations"]]
            complaints += [f"{state}, {width_px} px: outside of the panel: {one}" for one in clipped]
            if folder := os.environ.get("CODEAGENT_SCREENSHOTS"):
                name = re.sub(r"\W+", "-", f"{state} {theme} {width_px}")
                self.page.screenshot(path=f"{folder}/{name}.png")
        set_theme(self.page, self.themes[0])


def rows(page: Page, selector: str) -> list[int]:
    """In how many rows the children of each of these nodes stand."""
    found: list[int] = page.evaluate(ROWS, selector)
    return found


def set_theme(page: Page, theme: str) -> None:
    page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
    page.wait_for_function("theme => document.body.dataset.jpThemeName === theme", arg=theme)


def focus(page: Page) -> dict[str, Any]:
    """Where the keyboard is: `lost`, `ours`, `name`, `ring` (whether it can be seen)."""
    found: dict[str, Any] = page.evaluate(FOCUS)
    return found
