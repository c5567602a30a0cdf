"""Pending cells are not run in the user's kernel: `Run All` displays their recorded outputs instead.

Only the page knows what is pending in the notebook; the kernel knows which cell it is asked to run, by id.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from jupyter_codeagent.frontend.cell_origin import find_cell_origin
from jupyter_codeagent.notebook.cells import CELL_ID_PREFIX, cell_id
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.settings.enforcement import check_switched_on
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import CodeAgentError, UsageError
from jupyter_codeagent.types.run import KEPT_STATES, AgentRun

ACCEPT_S = 0.4
"""*Accept & run* sends both at once, on two channels: the acceptance may arrive second."""
POLL_S = 0.02
RECORDED = "_recorded"
"""Subcommand of `%agent` that displays a run's outputs from the record."""


class PendingGuard:
    """An IPython input transformer; see `extension.load`."""

    has_side_effects = False

    def __init__(self, shell: Any, run_log: RunLog, settings: Callable[[], Settings]) -> None:
        self._shell = shell
        self._run_log = run_log
        self._settings = settings

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the cell's lines; for a pending cell of ours, a line that displays the recorded outputs."""
        origin = find_cell_origin(self._shell)
        if origin.cell_id is None or not origin.cell_id.startswith(CELL_ID_PREFIX):
            return lines
        run_id = find_run(origin.cell_id, self._run_log.known_ids())
        source = "".join(lines)
        if run_id is None or not _stays(lambda: self._is_pending(run_id, source)):
            return lines
        return [f"get_ipython().run_line_magic('agent', '{RECORDED} {run_id}')\n"]

    def _is_pending(self, run_id: str, source: str) -> bool:
        """Check whether the cell is pending or discarded and unchanged: code that the user edited is the user's.

        Where no code of a result may run in the live kernel, an accepted cell is none that runs either.
        """
        run = self._run_log.find(run_id)
        codes = (run.code, *(step.code for step in run.steps))
        is_kept = run.cell_state in KEPT_STATES and not self._never_applies()
        return not is_kept and any(_code_lines(code) == _code_lines(source) for code in codes if code)

    def _never_applies(self) -> bool:
        try:
            return self._settings().apply == "never"
        except UsageError:
            return True  # the administrator's rules are not known


def find_run(wanted: str, run_ids: Iterable[str]) -> str | None:
    """Return the run whose code cell has this id."""
    # A copy in the same notebook has a suffix.
    return next((run_id for run_id in run_ids if wanted.startswith(cell_id(run_id, "code"))), None)


def recorded_note(run: AgentRun, settings: Callable[[], Settings]) -> str:
    """Return the note displayed below the outputs."""
    if run.cell_state in KEPT_STATES:
        try:
            check_switched_on(settings(), "apply", "Running this code in your kernel")
        except CodeAgentError as reason:
            return f"These outputs are from the sandbox. {reason}"
    return (
        "Pending: these outputs are from the sandbox, the code did not run in your kernel. To run it here, accept "
        f"the cell first (its button, the side panel, or %agent accept {run.id[:6]})."
    )


def _code_lines(code: str) -> list[str]:
    """Return the lines of the code without empty ones and blanks at their ends, which do not matter."""
    return [line.rstrip() for line in code.splitlines() if line.strip()]


def _stays(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + ACCEPT_S
    while condition():
        if time.monotonic() > deadline:
            return True
        time.sleep(POLL_S)
    return False
