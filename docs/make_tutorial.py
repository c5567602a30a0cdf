"""Write docs/tutorial.md from the quickstart notebook as it was executed: prose, cells, what came out.

`make pictures` does so, with the test that executes the notebook. `tests/unit/docs` holds that the page has all
that the notebook tells, and that its code prints what stands there.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

DOCS = Path(__file__).parent
QUICKSTART = DOCS.parent / "example_notebooks" / "quickstart.ipynb"
MADE = "<!-- Written by docs/make_tutorial.py (make pictures) from example_notebooks/quickstart.ipynb. -->"
PENDING = "A pending cell with its result:"
PICTURE = "tutorial.png"
MAX_LINES = 14
"""Of one output."""
MAX_CHARS = 110
"""Of one line of it."""


def write_tutorial(executed: NotebookNode) -> None:
    """Write the page and its chart."""
    (DOCS / PICTURE).write_bytes(chart(executed))
    (DOCS / "tutorial.md").write_text(page(executed), encoding="utf-8")


def page(notebook: NotebookNode) -> str:
    return f"{MADE}\n" + "\n\n".join(part for cell in notebook.cells for part in parts(cell)) + "\n"


def parts(cell: NotebookNode) -> Iterator[str]:
    """Yield a cell as pieces of Markdown."""
    source = str(cell.source).strip()
    if cell.cell_type == "markdown":
        yield source.replace("](../docs/", "](")
        return
    is_ours = "codeagent" in cell.metadata
    if is_ours:
        yield PENDING
    yield fenced("python" if is_ours else "ipython", source)
    for output in cell.outputs:
        if "image/png" in output.get("data", {}):
            yield f"![The chart that the code drew]({PICTURE})"
        else:
            yield fenced("text", shortened(str(output.get("text") or output.data.get("text/plain", ""))))


def chart(notebook: NotebookNode) -> bytes:
    """Return the only chart, as PNG."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    [found] = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return base64.b64decode(found)


def fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


def shortened(text: str) -> str:
    lines = text.rstrip().splitlines()
    lines = [line if len(line) <= MAX_CHARS else f"{line[: MAX_CHARS - 2]} …" for line in lines]
    return "\n".join(lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 1], "…"])


def read_quickstart() -> NotebookNode:
    notebook: NotebookNode = nbformat.read(QUICKSTART, as_version=4)
    return notebook
