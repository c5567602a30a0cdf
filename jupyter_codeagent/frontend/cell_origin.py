"""The origin of a magic: which cell, which page, which notebook, which kind of front end."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

HEADLESS_VARIABLE = "CODEAGENT_HEADLESS"
"""Set by `jupyter codeagent run`, which takes the cells out of the outputs itself."""
HAS_CELLS_BELOW = "codeagentHasCellsBelow"
"""Key in the metadata of a request of the headless client."""

FrontEnd = Literal["terminal", "vscode", "colab", "program", "other"]
"""Kind of front end; `program` is nbclient, papermill and all else that runs a notebook with nobody to ask."""

CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The schema of nbformat 4.5, which JupyterLab's ids follow; VS Code sends an address."""


@dataclass(frozen=True, kw_only=True)
class CellOrigin:
    """Facts of one execution, from the request's header: they hold when the focus has moved."""

    cell_id: str | None = None
    request: str | None = None
    """Id of the message that requested this execution."""
    session: str | None = None
    """Client session of the page that ran the cell."""
    notebook: str | None = None
    has_kernel: bool = False
    headless: bool = False
    has_cells_below: bool = True
    """Whether cells of earlier runs follow the cell; a page finds out itself, the headless client sends it."""
    front_end: FrontEnd = "other"
    client: str = ""
    """Name of the MCP client whose call this is, outside of any cell: the main thread must not wait for anybody."""


def find_cell_origin(shell: Any, environ: Mapping[str, str] = os.environ) -> CellOrigin:
    """Return the origin of the cell that `shell` is executing."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return CellOrigin(front_end="terminal")
    parent = kernel.get_parent() or {}
    cell_id = _text(parent.get("metadata", {}).get("cellId"))
    return CellOrigin(
        # The id comes from the browser: it hints where to insert, and is trusted with no more.
        cell_id=cell_id,
        request=_text(parent.get("header", {}).get("msg_id")),
        session=_text(parent.get("header", {}).get("session")),
        notebook=notebook_of_kernel(environ),
        has_kernel=True,
        headless=environ.get(HEADLESS_VARIABLE) == "1",
        has_cells_below=parent.get("metadata", {}).get(HAS_CELLS_BELOW) is not False,
        front_end=front_end(cell_id, bool(parent.get("content", {}).get("allow_stdin", True)), environ),
    )


def notebook_of_kernel(environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the path of the notebook that this kernel was started for, as the Jupyter server tells it."""
    return environ.get("JPY_SESSION_NAME")


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
