"""Where a magic is running: which cell, which page, which notebook, which kind of front end."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

HEADLESS_VARIABLE = "CODEAGENT_HEADLESS"
HAS_CELLS_BELOW = "codeagentHasCellsBelow"
"""In the metadata of a request of the headless client."""
"""Set by `jupyter codeagent run`, which takes the cells out of the outputs itself."""

FrontEnd = Literal["terminal", "vscode", "colab", "program", "other"]
"""`program`: nbclient, papermill and all else that runs a notebook with nobody there to ask."""

CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""By the schema of nbformat 4.5, as JupyterLab sends it; VS Code sends an address."""


@dataclass(frozen=True, kw_only=True)
class CellOrigin:
    """Facts of one execution; taken from the request's header, so they hold when the focus has moved."""

    cell_id: str | None = None
    request: str | None = None
    """Id of the message that asked for this execution."""
    session: str | None = None
    """Client session of the page that ran the cell."""
    notebook: str | None = None
    has_kernel: bool = False
    headless: bool = False
    has_cells_below: bool = True
    """Whether cells of earlier runs stand below the cell; a page knows that itself, the headless client says it."""
    front_end: FrontEnd = "other"


def find_cell_origin(shell: Any, environ: Mapping[str, str] = os.environ) -> CellOrigin:
    """Read the place of the cell that is being executed by `shell`."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return CellOrigin(front_end="terminal")
    parent = kernel.get_parent() or {}
    cell_id = _text(parent.get("metadata", {}).get("cellId"))
    return CellOrigin(
        # The id comes from the browser: a hint where to insert, never more.
        cell_id=cell_id,
        request=_text(parent.get("header", {}).get("msg_id")),
        session=_text(parent.get("header", {}).get("session")),
        notebook=environ.get("JPY_SESSION_NAME"),
        has_kernel=True,
        headless=environ.get(HEADLESS_VARIABLE) == "1",
        has_cells_below=parent.get("metadata", {}).get(HAS_CELLS_BELOW) is not False,
        front_end=front_end(cell_id, bool(parent.get("content", {}).get("allow_stdin", True)), environ),
    )


def front_end(cell_id: str | None, allow_stdin: bool, environ: Mapping[str, str]) -> FrontEnd:
    """Return the front end that sent a request, by what the request looks like.

    The environment comes last, since it is inherited: a JupyterLab started in VS Code's terminal has VS Code's.
    """
    if cell_id is not None and CELL_ID.fullmatch(cell_id):
        return "colab" if "google.colab" in sys.modules else "other"
    if not allow_stdin:
        return "program"
    if cell_id is not None and cell_id.startswith("vscode-"):
        return "vscode"
    if "google.colab" in sys.modules:
        return "colab"
    return "vscode" if "VSCODE_PID" in environ else "other"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
