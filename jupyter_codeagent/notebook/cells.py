"""Notebook cells of a run: creation, and insertion without a browser.

Cells are nbformat 4.5 dicts. Their ids are derived from the run, so that a cell that is sent or inserted twice is
recognised. nbformat is imported only where a notebook is written: `%load_ext` does not need it.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Collection, Sequence
from typing import Any, Literal

from jupyter_codeagent.notebook.outputs import clean_markdown
from jupyter_codeagent.types.errors import InsertError
from jupyter_codeagent.types.run import AgentRun, CellState
from jupyter_codeagent.types.sandbox import Output

CellRole = Literal["code", "answer"]
Cell = dict[str, Any]

TAG = "codeagent"
METADATA_VERSION = 1
TALL_LINES = 40
"""Longer outputs get their own scroll bar, so that they do not push the next cells out of the window."""


def cells_from_run(run: AgentRun, *, state: CellState) -> tuple[Cell, ...]:
    """Return the code cell with its outputs, then the answer; missing parts are left out.

    The code cell is marked trusted, because `Output` promises that every output passed the allow-list and the
    sanitizer: one untrusted cell with a rich output would cost the whole notebook its trust at the next save.
    A markdown cell has no such mark and is rendered at once, so the answer is cleaned here.
    """
    cells: list[Cell] = []
    if run.code:
        code = _cell(run, "code", state, run.code)
        code["metadata"]["trusted"] = True
        if _lines(run.outputs) > TALL_LINES:
            code["metadata"]["scrolled"] = True
        code |= {"execution_count": None, "outputs": [copy.deepcopy(dict(output)) for output in run.outputs]}
        cells.append(code)
    answer = clean_markdown(run.answer)
    if answer:
        cells.append(_cell(run, "answer", state, answer))
    return tuple(cells)


CELL_ID_PREFIX = "codeagent-"


def cell_id(run_id: str, role: CellRole) -> str:
    """Return the stable cell id of a run and role; hashed, because an nbformat id allows few characters."""
    return f"{CELL_ID_PREFIX}{role}-{sha256_of(run_id)[:20]}"


def _cell(run: AgentRun, role: CellRole, state: CellState, source: str) -> Cell:
    origin = {
        "version": METADATA_VERSION,
        "run_id": run.id,
        "role": role,
        "step": _step_of_code(run),
        "model": run.request.model,
        "prompt_sha256": sha256_of(run.request.prompt),
        "code_sha256": sha256_of(run.code),
        "sandbox": run.sandbox,
        "state": state,
    }
    if run.verdict is not None and run.verdict.level == "doubtful":
        origin["doubtful"] = True
    if run.request.refines:
        origin |= {"refines": run.request.refines, "refinement": run.request.refinement}
    return {
        "cell_type": "code" if role == "code" else "markdown",
        "id": cell_id(run.id, role),
        "metadata": {"tags": [TAG], "codeagent": origin},
        "source": without_surrogates(source),
    }


def _step_of_code(run: AgentRun) -> int:
    """Return the step with the run's code, as the model wrote it or a person edited it; else the last one."""
    for step in reversed(run.steps):
        if run.code in (step.code, step.decision.code if step.decision is not None else None):
            return step.index
    return len(run.steps)


def _lines(outputs: Sequence[Output]) -> int:
    """Count the lines of text and rows of tables in the outputs; images have their own height."""
    return sum(_lines_of(output) for output in outputs)


def _lines_of(output: Output) -> int:
    if output["output_type"] == "stream":
        return output["text"].count("\n")
    if output["output_type"] == "error":
        return sum(line.count("\n") + 1 for line in output["traceback"])
    data = output["data"]
    if "text/html" in data:
        return str(data["text/html"]).count("<tr")
    return 0 if len(data) > 1 else str(data.get("text/plain", "")).count("\n") + 1


def sha256_of(text: str) -> str:
    """Return the digest by which a cell's metadata knows a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def without_surrogates(text: str) -> str:
    """Return the text without lone surrogates, which neither a file nor SQLite can contain."""
    return text.encode("utf-8", "replace").decode("utf-8")


# --- in a notebook, without a browser ---------------------------------------------------------------


def insert_cells(
    notebook: Any, cells: Sequence[Cell], *, anchor: str | int | None, replace: Collection[str] = ()
) -> tuple[str, ...]:
    """Insert cells below the anchor, in place, and return the ids of the new ones.

    A cell that exists already stays unchanged, and the others of its run are inserted below it.

    Parameters
    ----------
    notebook
        A `NotebookNode`.
    cells
        Cells of one run.
    anchor
        A cell id, an index, or None for the end.
    replace
        Runs whose pending cells are removed.

    Raises
    ------
    InsertError
        The notebook has no such anchor, or is older than nbformat 4. It is unchanged then.
    """
    _require_ids(notebook)
    above = None if anchor is None else notebook.cells[_position(notebook, anchor)]
    remove_pending(notebook, replace)
    present = {cell.get("id") for cell in notebook.cells}
    new = [notebook_node(cell) for cell in cells if cell["id"] not in present]
    here = {cell["id"] for cell in cells}
    at = max(
        (i + 1 for i, cell in enumerate(notebook.cells) if cell.get("id") in here or cell is above), default=None
    )
    at = len(notebook.cells) if at is None else at
    notebook.cells[at:at] = new
    return tuple(cell.id for cell in new)


def _require_ids(notebook: Any) -> None:
    """Add cell ids to a notebook older than nbformat 4.5; refuse versions other than 4."""
    import nbformat

    if notebook.nbformat != 4:
        raise InsertError(
            f"The notebook has format {notebook.nbformat}; cells can be inserted into format 4. "
            "Open it once in JupyterLab and save it."
        )
    if notebook.nbformat_minor < 5:
        notebook.update(nbformat.v4.upgrade(notebook))


def notebook_node(value: dict[str, Any]) -> Any:
    """Return a copy as `NotebookNode`."""
    import nbformat

    return nbformat.from_dict(copy.deepcopy(value))


def _position(notebook: Any, anchor: str | int) -> int:
    if isinstance(anchor, int):
        if 0 <= anchor < len(notebook.cells):
            return anchor
        raise InsertError(f"The notebook has no cell {anchor}; it has {len(notebook.cells)}.")
    for index, cell in enumerate(notebook.cells):
        if cell.get("id") == anchor:
            return index
    raise InsertError(f"The notebook has no cell with the id {anchor!r}; the cells are kept in the history.")


def remove_pending(notebook: Any, run_ids: Collection[str]) -> None:
    """Remove the pending cells of these runs; accepted and edited ones stay."""
    notebook.cells = [
        cell for cell in notebook.cells if not (run_id_of(cell) in run_ids and cell_state(cell) == "pending")
    ]


def provenance(cell: Any) -> dict[str, Any]:
    """Return the cell's provenance; the metadata of another person's notebook may contain anything."""
    metadata = cell.get("metadata")
    found = metadata.get("codeagent") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def run_id_of(cell: Any) -> str | None:
    """Return the run that a cell belongs to; None for a cell of the user's own."""
    found = provenance(cell).get("run_id")
    return found if isinstance(found, str) else None


def cell_state(cell: Any) -> str:
    """Return the state in the metadata; a pending code cell with changed text was edited without the panel."""
    state = str(provenance(cell).get("state", ""))
    return "edited" if state == "pending" and has_changed_code(cell) else state


def has_changed_code(cell: Any) -> bool:
    """Check whether the code of a run's cell is no longer the run's."""
    known = provenance(cell)
    return known.get("role") == "code" and known.get("code_sha256") != sha256_of("".join(cell.get("source", "")))
