"""The report of a session: the saved notebook, its results run again, one file. On the main thread."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.report.build import build_report
from jupyter_codeagent.report.notebook_file import read_saved, with_decisions
from jupyter_codeagent.report.output_file import check_output
from jupyter_codeagent.report.report import Report
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.options import ReportOptions
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.variables.user_namespace import UserNamespace

NOT_ASKED = "--no-rerun was given"


@dataclass(frozen=True, kw_only=True)
class ReportDraft:
    """A report before its results are run again, and where it goes."""

    report: Report
    output: Path


@dataclass(frozen=True, kw_only=True)
class ReportDrafts:
    """Drafts the reports of a session."""

    live: UserNamespace
    run_log: RunLog

    def draft(self, options: ReportOptions, origin: CellOrigin) -> ReportDraft:
        """Read the saved notebook and check that its report may be written.

        Raises
        ------
        UsageError, HistoryError
        """
        notebook = notebook_of(options, origin)
        output = Path(options.output) if options.output else notebook.with_name(f"{notebook.stem}-report.html")
        check_output(output, overwrite=options.overwrite)
        names = () if origin.notebook is None or options.notebook else (origin.notebook,)
        saved = with_decisions(read_saved(notebook, self.run_log.history, also_named=names))
        report = build_report(
            saved, title=options.title, output=output, now=time.time(), shapes=self._shapes(saved.runs.values())
        )
        return ReportDraft(report=report if options.rerun else replace(report, not_rerun=NOT_ASKED), output=output)

    def _shapes(self, runs: Iterable[AgentRun]) -> dict[str, str]:
        return self.live.outlines({copy.name for run in runs for copy in run.manifest.copied})


def notebook_of(options: ReportOptions, origin: CellOrigin) -> Path:
    """Return the file of the notebook that is meant.

    Raises
    ------
    UsageError
        Nobody knows it, or it is not there.
    """
    named = options.notebook or origin.notebook
    if not named:
        raise UsageError(
            "%agent report: this front end does not say which notebook this is; give --notebook FILE.ipynb."
        )
    path = Path(named)
    if not path.is_file():
        raise UsageError(
            f"There is no notebook {str(path)!r} on disk: save it, or give --notebook FILE if it was renamed."
        )
    return path
