"""Insertion of the cells of a run: by the panel, by the headless client, or displayed in place."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from IPython.display import Code, display

from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import InsertMessage
from jupyter_codeagent.notebook.outputs import visible_code
from jupyter_codeagent.types.run import Placed
from jupyter_codeagent.types.sandbox import Output

CELLS_MIME = "application/vnd.jupyter-codeagent.cells+json"
Cell = dict[str, Any]


class CellInserter(Protocol):
    """Puts the cells of one run where the user finds them."""

    placed: Placed
    """Where the cells are put."""
    knows_cells: bool
    """Whether it knows the cells of the notebook: only then `unless` counts."""

    async def insert(
        self,
        run_id: str,
        cells: Sequence[Cell],
        *,
        anchor: str | None,
        replace: Sequence[str],
        unless: Sequence[str] = (),
    ) -> bool:
        """Insert the cells and return True, unless the notebook has cells of one of the runs in `unless`.

        Raises
        ------
        InsertError
            The cells could not be inserted; they are in the history all the same.
        """
        ...


class PanelInserter:
    """Inserts below the `%%agent` cell, by cell id; the page acknowledges it."""

    placed: Placed = "cells"
    knows_cells = True

    def __init__(self, link: PanelLink, session: str | None) -> None:
        self._link = link
        self._session = session

    async def insert(
        self,
        run_id: str,
        cells: Sequence[Cell],
        *,
        anchor: str | None,
        replace: Sequence[str],
        unless: Sequence[str] = (),
    ) -> bool:
        message = InsertMessage(
            type="insert",
            id=uuid.uuid4().hex[:12],
            run_id=run_id,
            anchor=anchor,
            replace=list(replace),
            unless=list(unless),
            cells=list(cells),
        )
        answer = await self._link.insert(message, session=self._session)
        return bool(answer["cell_ids"])


OnMainThread = Callable[[Callable[[], None]], Awaitable[None]]


class HeadlessInserter:
    """Displays one output of a private MIME type, which `jupyter codeagent run` turns into cells."""

    placed: Placed = "cells"
    knows_cells = False

    def __init__(self, on_main_thread: OnMainThread) -> None:
        self._on_main_thread = on_main_thread

    async def insert(
        self,
        run_id: str,
        cells: Sequence[Cell],
        *,
        anchor: str | None,
        replace: Sequence[str],
        unless: Sequence[str] = (),
    ) -> bool:
        data = {"run_id": run_id, "anchor": anchor, "cells": list(cells), "replace": list(replace)}
        await self._on_main_thread(
            lambda: display({CELLS_MIME: data, "text/plain": f"cells of run {run_id}"}, raw=True)
        )
        return True


class InPlaceInserter:
    """Displays in the output of the `%%agent` cell: the one fallback that works in every front end."""

    placed: Placed = "output"
    knows_cells = False

    def __init__(self, on_main_thread: OnMainThread, line: str = "") -> None:
        """`line` explains what this front end cannot do."""
        self._on_main_thread = on_main_thread
        self._line = line

    async def insert(
        self,
        run_id: str,
        cells: Sequence[Cell],
        *,
        anchor: str | None,
        replace: Sequence[str],
        unless: Sequence[str] = (),
    ) -> bool:
        await self._on_main_thread(lambda: self._show(cells))
        return True

    def _show(self, cells: Sequence[Cell]) -> None:
        _show(cells)
        if self._line:
            print(self._line)


def show_outputs(outputs: Sequence[Output]) -> None:
    """Display recorded outputs, which were cleaned before they were recorded. Main thread."""
    for output in outputs:
        _show_output(output)


def _show(cells: Sequence[Cell]) -> None:
    for cell in cells:
        if cell["cell_type"] == "markdown":
            display({"text/markdown": cell["source"], "text/plain": cell["source"]}, raw=True)
            continue
        display(Code(visible_code(cell["source"]), language="python"))
        show_outputs(cell["outputs"])


def _show_output(output: Output) -> None:
    if output["output_type"] == "stream":
        print(output["text"], end="")
    elif output["output_type"] != "error":
        display(output["data"], raw=True, metadata=output["metadata"])
