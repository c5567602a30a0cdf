"""Where a magic is running: which cell, which page, which notebook, which kind of front end."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

HEADLESS_VARIABLE = "CODEAGENT_HEADLESS"
"""Set by `jupyter codeagent run`, which takes the cells out of the outputs itself."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Facts of one execution; taken from the request's header, so they hold when the focus has moved."""

    cell_id: str | None = None
    session: str | None = None
    """Client session of the page that ran the cell."""
    notebook: str | None = None
    has_kernel: bool = False
    headless: bool = False


def find_place(shell: Any, environ: Mapping[str, str] = os.environ) -> Place:
    """Read the place of the cell that is being executed by `shell`."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return Place()
    parent = kernel.get_parent() or {}
    return Place(
        # The id comes from the browser: a hint where to insert, never more.
        cell_id=_text(parent.get("metadata", {}).get("cellId")),
        session=_text(parent.get("header", {}).get("session")),
        notebook=environ.get("JPY_SESSION_NAME"),
        has_kernel=True,
        headless=environ.get(HEADLESS_VARIABLE) == "1",
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
