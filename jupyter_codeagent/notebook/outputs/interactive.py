"""Charts and pages that need scripts: kept whole in one entry of the bundle, which runs nowhere by itself.

The labextension displays the entry after a click, in nested sandboxed frames without network. Other front ends do
not know its type and display the cleaned forms next to it. The content stays untrusted: only its form is checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, get_args

INTERACTIVE_MIME = "application/vnd.codeagent.interactive.v1+json"
VERSION = 1
MAX_CONTENT_BYTES = 4 << 20
"""Limit for the content as JSON in UTF-8, which is kept in the history and the notebook, and sent to the page."""
MAX_DEPTH = 100
"""Vega-Lite's deepest examples have about 30 levels. `copy.deepcopy` and nbformat recurse a few calls per level."""

Kind = Literal["plotly", "vega", "vega-lite", "html"]
KINDS: tuple[Kind, ...] = get_args(Kind)
CHART_MIMES: dict[str, Kind] = {
    "application/vnd.plotly.v1+json": "plotly",
    "application/vnd.vegalite.v6+json": "vega-lite",
    "application/vnd.vegalite.v5+json": "vega-lite",
    "application/vnd.vegalite.v4+json": "vega-lite",
    "application/vnd.vega.v6+json": "vega",
    "application/vnd.vega.v5+json": "vega",
}
"""Chart types; the first in this order is used."""
INTERACTIVE_SOURCES = frozenset({INTERACTIVE_MIME, *CHART_MIMES})
"""Types that become the entry or are dropped."""

_NAMES: dict[Kind, str] = {
    "plotly": "Plotly chart",
    "vega": "Vega chart",
    "vega-lite": "Vega-Lite chart",
    "html": "page",
}
_SCRIPTED = re.compile(r"<script\b|\bsrcdoc\b", re.IGNORECASE)  # srcdoc: a page in an <iframe>, as folium writes


def interactive_entry(offered: Mapping[Any, Any], html: str) -> tuple[dict[str, Any] | None, str]:
    """Return the interactive entry of a bundle or None, and in one line why one was dropped, else empty.

    `html` is the bundle's original ``text/html``. A chart's specification is preferred to a page that draws it.
    """
    if INTERACTIVE_MIME in offered:
        return _existing_entry(offered[INTERACTIVE_MIME])
    for mime, kind in CHART_MIMES.items():
        if mime in offered:
            return _build_entry(kind, offered[mime])
    if _SCRIPTED.search(html):
        return _build_entry("html", html)
    return None, ""


def describe_interactive(entry: Mapping[str, Any]) -> str:
    """Return plain text for a bundle without another form of the entry."""
    return f"[interactive {_NAMES[entry['kind']]}: shown on click in JupyterLab]"


def _existing_entry(offered: object) -> tuple[dict[str, Any] | None, str]:
    """Check an entry that was cleaned before, or that the sandbox forged."""
    if not isinstance(offered, dict) or type(offered.get("version")) is not int or offered["version"] != VERSION:
        return None, f"{INTERACTIVE_MIME} dropped: not of version {VERSION}"
    for kind in KINDS:
        if offered.get("kind") == kind:
            return _build_entry(kind, offered.get("content"))
    return None, f"{INTERACTIVE_MIME} dropped: its kind is none of {', '.join(KINDS)}"


def _build_entry(kind: Kind, content: object) -> tuple[dict[str, Any] | None, str]:
    if reason := _problem(kind, content):
        return None, f"interactive {_NAMES[kind]} dropped: {reason}"
    try:
        text = json.dumps(content, allow_nan=False, ensure_ascii=False)
        size_bytes = len(text.encode())  # a lone surrogate would prevent saving the whole notebook
    except (TypeError, ValueError):
        return None, f"interactive {_NAMES[kind]} dropped: not JSON"
    if size_bytes > MAX_CONTENT_BYTES:
        limit = f"{MAX_CONTENT_BYTES >> 20} MiB"
        return None, f"interactive {_NAMES[kind]} dropped: {size_bytes:,} bytes; the limit is {limit}"
    # Through JSON, so that keys are strings and no object is shared with the sandbox's message.
    return {"version": VERSION, "kind": kind, "content": json.loads(text)}, ""


def _problem(kind: Kind, content: object) -> str:
    """Return why the renderer cannot draw the content at all; empty if it can."""
    if kind == "html":
        return "" if isinstance(content, str) and content.strip() else "not a text"
    if not isinstance(content, dict):
        return "not an object"
    if kind == "plotly" and not isinstance(content.get("data"), list):
        return "without a list of traces"
    return f"nested deeper than {MAX_DEPTH}" if is_deeper(content, MAX_DEPTH) else ""


def is_deeper(value: object, limit: int) -> bool:
    """Check whether a value is nested deeper than the limit, without recursion, for any depth."""
    level: list[object] = [value]
    for _ in range(limit):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list | tuple):
                below.extend(item)
        if not below:
            return False
        level = below
    return any(isinstance(item, dict | list | tuple) for item in level)
