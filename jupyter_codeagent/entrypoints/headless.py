"""`%%agent` notebooks without a browser: execute, then turn the collected cells into real ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from nbformat import NotebookNode

from jupyter_codeagent.frontend.cell_origin import HAS_CELLS_BELOW, HEADLESS_VARIABLE
from jupyter_codeagent.frontend.insertion import CELLS_MIME
from jupyter_codeagent.notebook.cells import insert_cells
from jupyter_codeagent.notebook.outputs import plain_text
from jupyter_codeagent.settings.config import ALLOWED_SERVERS
from jupyter_codeagent.variables.privacy.sharing.notebook_metadata import lists_environment

Report = Callable[[str], None]


def run_notebook(
    notebook: NotebookNode, *, directory: Path, name: str, report: Report, servers: Sequence[str] = ()
) -> str:
    """Execute in place, cell by cell; insert the new cells with outputs below their `%%agent` cells.

    `servers` may be sent prompts although nobody can be asked.

    Return the first error as one line, empty if all went well. The notebook is valid in either case, with
    what had been done until then.
    """
    client = NotebookClient(
        notebook,
        timeout=None,
        resources={"metadata": {"path": str(directory)}},
        kernel_name=_kernel_name(notebook),
        extra_arguments=["--log-level=ERROR"],  # ipykernel warns of loopback TCP at every start
    )
    client.reset_execution_trackers()
    environment = {
        **os.environ,
        **lists_environment(notebook.metadata),
        HEADLESS_VARIABLE: "1",
        ALLOWED_SERVERS: " ".join([os.environ.get(ALLOWED_SERVERS, ""), *servers]).strip(),
        "JPY_SESSION_NAME": str(directory / name),
    }
    with client.setup_kernel(env=environment):
        originals = [cell for cell in notebook.cells if cell.cell_type == "code" and not _is_pending(cell)]
        for number, cell in enumerate(originals, start=1):
            report(f"[{number}/{len(originals)}] {_first_line(cell.source)}")
            # nbclient sends no cell ids; the session's default metadata goes with every request.
            assert client.kc is not None, "setup_kernel has made it"
            client.kc.session.metadata = {"cellId": cell.id, HAS_CELLS_BELOW: _has_cells_below(notebook, cell)}
            try:
                client.execute_cell(cell, notebook.cells.index(cell))
            except CellExecutionError as error:
                return f"cell {number} failed: {_error_line(cell, error)}"
            except DeadKernelError:
                return f"cell {number} failed: the kernel died"
            finally:
                _splice(notebook, cell)
    return ""


def displayed_text(cells: Sequence[NotebookNode]) -> str:
    """Return what cells display, as text; how a run failed is said elsewhere."""
    outputs = [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]
    return plain_text([output for output in outputs if output.output_type != "error"])


def _is_pending(cell: NotebookNode) -> bool:
    """Check whether the cell is a model's code that nobody has accepted: it does not run in the user's kernel."""
    provenance = cell.metadata.get("codeagent")
    # The metadata of a notebook that others wrote may hold anything.
    return isinstance(provenance, dict) and provenance.get("state") == "pending"


def _has_cells_below(notebook: NotebookNode, cell: NotebookNode) -> bool:
    """Check whether the next cell came from a run of the agent."""
    below = notebook.cells[notebook.cells.index(cell) + 1 :]
    return bool(below) and isinstance(below[0].metadata.get("codeagent"), dict)


def _splice(notebook: NotebookNode, cell: NotebookNode) -> None:
    """Move the cells that the run displayed out of the cell's outputs and below it."""
    collected = [output for output in cell.outputs if CELLS_MIME in output.get("data", {})]
    cell.outputs = [output for output in cell.outputs if output not in collected]
    for output in collected:
        data = output["data"][CELLS_MIME]
        # Findings of one exploration follow each other; everything else follows its own cell.
        anchor = data["anchor"] if any(other.id == data["anchor"] for other in notebook.cells) else cell.id
        insert_cells(notebook, data["cells"], anchor=anchor, replace=data["replace"])


def _kernel_name(notebook: NotebookNode) -> str:
    return str(notebook.metadata.get("kernelspec", {}).get("name", "python3"))


def _first_line(source: str) -> str:
    lines = [line for line in source.strip().splitlines() if line.strip()]
    if not lines:
        return "(empty)"
    return lines[1] if lines[0].startswith("%%agent") and len(lines) > 1 else lines[0]


def _error_line(cell: NotebookNode, error: CellExecutionError) -> str:
    errors: list[Any] = [output for output in cell.outputs if output.output_type == "error"]
    return f"{errors[-1].ename}: {errors[-1].evalue}" if errors else str(error).strip().splitlines()[-1]
