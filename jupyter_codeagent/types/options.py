"""The options of one run, as written after `%%agent`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_codeagent.types.approvals import ApprovalPolicy
from jupyter_codeagent.types.variables import Privacy


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options after `%%agent`; None for an option that was not given."""

    variables: tuple[str, ...] | None = None
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(variable, its columns) for each ``df[a,b]``."""
    sample: int | None = None
    """Number of random rows to take from larger frames."""
    where: str | None = None
    """Row condition for the frames that have its columns."""
    model: str | None = None
    base_url: str | None = None
    privacy: Privacy | None = None
    approve: ApprovalPolicy | None = None
    max_steps: int | None = None
    timeout_s: float | None = None
    context_tokens: int | None = None
    candidates: int = 1
    new: bool = False
    returns: tuple[str, ...] = ()
    dry_run: bool = False
    json: bool = False
    rerun: bool = False
    debug: bool = False
    follows: str = ""
    """Run from which the question goes on; empty for the newest result."""
    refines: str = ""
    """Run to refine; set by `%agent refine`, not by an option."""
    refinement: str = ""
    """The refinement as it was typed."""


@dataclass(frozen=True, kw_only=True)
class ExploreOptions:
    """What is written after `%agent explore`."""

    tables: tuple[str, ...]
    goal: str = ""
    """The user's question in words: findings on the columns that it names come first."""
    minutes: float = 2.0
    """Time limit for looking at the data and running the programs of the findings."""
    sample: int | None = None
    where: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What is written after `%agent report`."""

    output: str = ""
    """File to write, by its ending HTML, Markdown or Quarto; empty for one beside the notebook."""
    title: str = ""
    """Empty for the first heading of the notebook."""
    notebook: str = ""
    """Notebook to report on; empty for the one of the kernel."""
    rerun: bool = True
    """Whether the code of the results is run again in a sandbox."""
    overwrite: bool = False
    """Whether any file may be replaced, not only an earlier report."""


def selection_line(options: RunOptions) -> str:
    """Return the data selection of a run as options, for its record and for a repeated run."""
    words = []
    if options.variables is not None:
        columns = dict(options.columns)
        words += ["--vars", ",".join(_selection(name, columns.get(name, ())) for name in options.variables)]
    if options.sample is not None:
        words += ["--sample", str(options.sample)]
    if options.where is not None:
        words += ["--where", options.where]
    return shlex.join(words)


def _selection(name: str, columns: Sequence[str]) -> str:
    # A column name has at most one kind of quotes: the option cannot express both.
    quoted = (f'"{column}"' if "'" in column else f"'{column}'" for column in columns)
    return f"{name}[{','.join(quoted)}]" if columns else name
