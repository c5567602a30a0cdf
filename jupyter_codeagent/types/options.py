"""The options of one run: what the user wrote behind `%%agent`, as a frozen value."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_codeagent.types.approvals import ApprovalPolicy
from jupyter_codeagent.types.variables import Privacy


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What the user wrote behind `%%agent`; None where nothing was written."""

    variables: tuple[str, ...] | None = None
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(variable, its columns) for those that were written as ``df[a,b]``."""
    sample: int | None = None
    """Random rows of each frame that has more."""
    where: str | None = None
    """Rows of the frames that have its columns."""
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
    refines: str = ""
    """Not written there: the run of which another version is asked for, by `%agent refine`."""
    refinement: str = ""
    """What is to be different, as it was typed."""


def selection_line(options: RunOptions) -> str:
    """Which data a run is about, as options: for its record, to ask the same again."""
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
    # A column's name has at most one kind of quotes: with both it cannot have been written.
    quoted = (f'"{column}"' if "'" in column else f"'{column}'" for column in columns)
    return f"{name}[{','.join(quoted)}]" if columns else name
