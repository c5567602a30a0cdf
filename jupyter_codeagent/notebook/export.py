"""One run as a notebook or a script of its own."""

from __future__ import annotations

import re
import time
from typing import Any

from jupyter_codeagent.notebook.cells import cells_from_run, notebook_node, sha256_of, without_surrogates
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.syntax_trees import module_tree


def export_notebook(run: AgentRun) -> Any:
    """Return a new notebook (`NotebookNode`) with the prompt, the code with its outputs, and the answer."""
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    head = {
        "cell_type": "markdown",
        "id": f"codeagent-prompt-{sha256_of(run.id)[:20]}",
        "metadata": {},
        "source": without_surrogates(f"{_fenced(run.request.prompt)}\n\n{_origin(run)}"),
    }
    cells = cells_from_run(run, state=run.cell_state)
    for cell in cells:
        cell["metadata"].pop("trusted", None)  # valid in memory only; in a file only a signature gives trust
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return notebook_node({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": [head, *cells]})


def export_script(run: AgentRun) -> str:
    """Return Python in the percent format, which jupytext, VS Code and Spyder read as cells."""
    parts = [("# %% [markdown]", _commented(f"{run.request.prompt}\n\n{_origin(run)}"))]
    if run.code:
        parts.append(("# %%", _python(run.code)))
    if run.answer:
        parts.append(("# %% [markdown]", _commented(run.answer)))
    return without_surrogates("\n\n".join(f"{marker}\n{text}" for marker, text in parts) + "\n")


def _origin(run: AgentRun) -> str:
    day = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.started_at))
    return f"Run {run.id} · {day} · {run.request.model} · sandbox: {run.sandbox or 'none used'} · {run.status}"


def _fenced(text: str) -> str:
    """Return the text in a fence that is longer than any in it, so that the prompt is not rendered."""
    longest = max((len(ticks) for ticks in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _commented(text: str) -> str:
    # splitlines, not split("\n"): Python ends a comment at \r and \f too, and the rest would be code.
    return "\n".join(f"# {line}".rstrip() for line in text.splitlines())


def _python(code: str) -> str:
    """Return the code, with notebook commands commented out if it is not plain Python."""
    try:
        module_tree(code)
    except (SyntaxError, ValueError):  # ValueError: a null character
        return re.sub(r"^([ \t]*)([%!])", r"\1# \2", code, flags=re.MULTILINE)
    return code
