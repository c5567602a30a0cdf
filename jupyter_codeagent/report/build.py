"""From a saved notebook to a report, without looking at anything else."""

from __future__ import annotations

import ast
import os
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from jupyter_codeagent.notebook.outputs import clean_text
from jupyter_codeagent.report.notebook_file import SavedNotebook, discarded_runs, pending_runs
from jupyter_codeagent.report.packages import imported_packages
from jupyter_codeagent.report.report import DataUsed, Passage, Report, Rerun, Result
from jupyter_codeagent.report.results import find_title, read_items
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.syntax_trees import module_tree
from jupyter_codeagent.types.variables import CopiedVariable
from jupyter_codeagent.variables.privacy.secret import mask_keys

MAX_TITLE_CHARS = 200
_SHAPE = re.compile(r"\b(?P<rows>\d+)x(?P<columns>\d+)\b")


def build_report(
    saved: SavedNotebook, *, title: str, output: Path, now: float, shapes: Mapping[str, str] | None = None
) -> Report:
    """Return the report of what is accepted in the notebook; nothing of it has been run again.

    `shapes` are of the variables as they are now: ``DataFrame 365x3``.

    Raises
    ------
    UsageError
        Nothing is accepted.
    """
    items = read_items(saved.cells, saved.runs)
    results = [item for item in items if isinstance(item, Result)]
    if not results:
        raise UsageError(
            f"{saved.path.name} has no accepted result: accept one, save the notebook, then make the report."
        )
    found, items = find_title(items, saved.path.stem) if not title else (title, items)
    return Report(
        title=mask_keys(" ".join(clean_text(found, MAX_TITLE_CHARS).split())) or saved.path.stem,
        created_at=now,
        notebook=saved.path.name,
        link=quote(os.path.relpath(saved.path.resolve(), output.resolve().parent).replace(os.sep, "/")),
        items=items,
        data=tuple(_data(results, shapes or {})),
        python=saved.language_version or platform.python_version(),
        packages=imported_packages(line for result in results for line in _imports(result)),
        pending=len(pending_runs(saved)),
        discarded=len(discarded_runs(saved)),
    )


def with_reruns(report: Report, reruns: Sequence[Rerun]) -> Report:
    """Return the report with what came of running its results again, in their order."""
    left = list(reruns)
    items = tuple(item if isinstance(item, Passage) else replace(item, rerun=left.pop(0)) for item in report.items)
    return replace(report, items=items)


def _data(results: Sequence[Result], shapes: Mapping[str, str]) -> Iterator[DataUsed]:
    """Yield what was copied for runs whose code reads it."""
    copies: dict[str, list[tuple[CopiedVariable, Result]]] = {}
    for result in results:
        used = _names(result.source)
        for copy in result.run.manifest.copied if result.run is not None else ():
            if copy.name in used:
                copies.setdefault(copy.name, []).append((copy, result))
    for name, found in copies.items():
        last, result = found[-1]
        yield DataUsed(
            name=name,
            type_name=last.type_name,
            shape=_shape(shapes.get(name, "")) or _shape(_headline(name, result)),
            size_bytes=last.size_bytes,
            copies=len({(copy.version, copy.size_bytes) for copy, _ in found}),
            parts=tuple(dict.fromkeys(copy.note for copy, _ in found if copy.note)),
        )


def _headline(name: str, result: Result) -> str:
    """Return the line of the prompt that describes a variable; empty where no model was asked."""
    context = result.run.context if result.run is not None else ""
    found = re.search(rf"^{re.escape(name)}: (.*)$", context, re.MULTILINE)
    return found[1] if found is not None else ""


def _shape(outline: str) -> str:
    found = _SHAPE.search(outline)
    return f"{int(found['rows']):,} × {int(found['columns']):,}" if found is not None else ""


def _imports(result: Result) -> Iterator[str]:
    """Yield the code, and the import lines of the user's that it relies on: ``import pandas as pd``."""
    yield result.source
    used = _names(result.source)
    for line in result.run.manifest.modules if result.run is not None else ():
        if used & {line.split()[-1].partition(".")[0]}:
            yield line


def _names(code: str) -> frozenset[str]:
    """Return the names that stand in code; all words where it is no plain Python."""
    try:
        tree = module_tree(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(re.findall(r"\w+", code))
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
