"""What the consoles of a browser say: a browser test fails where one has an error that nobody was told of."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext, ConsoleMessage, WebError

EXPECTED = (
    r"Plugin \S+ .* took [\d.]+ms to activate",  # JupyterLab on a busy machine
    r"Canceled future for create_subshell_request message",  # JupyterLab's comms; ours are waited for
    r"Could not restore the debugger state: Canceled future",  # JupyterLab's, of a kernel that is restarted again
    # Lumino's debouncers, which JupyterLab invokes once more after a notebook was closed.
    r"Cannot read properties of null \(reading 'promise'\)\s[^\n]*\s+at \w+\.invoke \(\S+/jlab_core",
    # The policy of the closed frames of charts names it for browsers that know it; this Chromium does not.
    r"Unrecognized Content-Security-Policy directive 'webrtc'",
)
"""Tolerated in any test: JupyterLab's own noise, and what we know of ours, each with its reason."""


@dataclass
class BrowserConsole:
    """Of all pages of one browser, over one test."""

    complaints: list[str] = field(default_factory=list)
    """Errors, uncaught exceptions and unhandled rejections included, and warnings that name the agent."""
    tolerated: list[str] = field(default_factory=list)
    """Patterns of what this test provokes itself; the next test begins without them."""

    def watch(self, context: BrowserContext) -> None:
        context.on("console", self._note)
        context.on("weberror", self._note_uncaught)

    def check(self) -> None:
        """Nothing was said but what is tolerated; either way it is forgotten."""
        known = re.compile("|".join([*EXPECTED, *self.tolerated]))
        found = [text for text in self.complaints if not known.search(text)]
        self.complaints.clear()
        self.tolerated.clear()
        assert found == [], "\n".join(found)

    def _note(self, message: ConsoleMessage) -> None:
        address = str(message.location.get("url", ""))
        ours = "codeagent" in f"{message.text} {address}".lower()
        if message.type == "error" or (message.type == "warning" and ours):
            self.complaints.append(f"{message.type}: {message.text} ({address})")

    def _note_uncaught(self, error: WebError) -> None:
        self.complaints.append(f"uncaught: {error.error}\n{getattr(error.error, 'stack', '') or ''}")
