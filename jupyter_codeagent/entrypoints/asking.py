"""A question of the user: its expressions filled in, then sent or displayed as a dry run."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from jupyter_codeagent.entrypoints.interpolate import fill, find_expressions
from jupyter_codeagent.frontend.cell_origin import CellOrigin, find_cell_origin
from jupyter_codeagent.frontend.display import (
    CellDisplay,
    JsonDisplay,
    NotebookDisplay,
    TerminalDisplay,
    exploration_text,
    show_text,
)
from jupyter_codeagent.models.admission import address_to_confirm
from jupyter_codeagent.models.tokens import TokenCounter, find_tokenizer
from jupyter_codeagent.report.report import summary
from jupyter_codeagent.session.house_rules import house_rules_cost
from jupyter_codeagent.session.preparation import PreparedRun
from jupyter_codeagent.session.prompt_context import cost_lines
from jupyter_codeagent.session.session import AgentSession
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.options import ExploreOptions, ReportOptions, RunOptions
from jupyter_codeagent.types.sizes import format_bytes


class Asking:
    """Asks the session for the magics."""

    def __init__(self, shell: Any, session: AgentSession) -> None:
        self._shell = shell
        self._session = session

    def ask(self, prompt: str, options: RunOptions, cell_id: str | None = None) -> None:
        """Run a question and display it. `cell_id` is that of the question, if another cell is running.

        Raises
        ------
        CodeAgentError
        """
        origin = find_cell_origin(self._shell)
        if cell_id is not None:
            origin = replace(origin, cell_id=cell_id)
        if options.dry_run:
            prepared = self._session.preparation.prepare_run(prompt, options, origin)
            show_text(dry_run_text(prepared, self._session.live_context.counter))
        else:
            display: CellDisplay = JsonDisplay() if options.json else self._display(origin)
            self._session.run(prompt, options, origin, display)

    def explore(self, explored: ExploreOptions) -> None:
        """Explore tables and display what was found.

        Raises
        ------
        CodeAgentError
        """
        origin = find_cell_origin(self._shell)
        display = self._display(origin)
        started = time.monotonic()
        result = self._session.explore(explored, origin, display)
        display.end(exploration_text(result, time.monotonic() - started))

    def report(self, options: ReportOptions) -> None:
        """Write a report of the saved notebook and display where it is.

        Raises
        ------
        CodeAgentError
        """
        origin = find_cell_origin(self._shell)
        display = self._display(origin)
        draft = self._session.report(options, origin, display)
        display.end(f"{summary(draft.report)}\nwrote {draft.output}")

    def interpolate(self, prompt: str) -> str:
        """Replace each ``{{expr}}`` by the text of its value in the live kernel.

        Raises
        ------
        UsageError
            An expression failed.
        """
        values = {}
        for expression in find_expressions(prompt):
            try:
                values[expression] = str(self._session.live.evaluate(expression))
            except Exception as error:
                raise UsageError(
                    f"{{{{{expression}}}}} in the prompt failed, nothing was sent: {type(error).__name__}: {error}"
                ) from error
        return fill(prompt, values)

    def _display(self, origin: CellOrigin) -> NotebookDisplay | TerminalDisplay:
        return NotebookDisplay(self._session.has_panel) if origin.has_kernel else TerminalDisplay()


def dry_run_text(prepared: PreparedRun, counter: TokenCounter) -> str:
    """Return what a run would send and copy, and what it would cost."""
    request, manifest = prepared.run.request, prepared.run.manifest
    sent = [f"--- {message.role}\n{message.content}" for message in prepared.messages]
    tokenizer = find_tokenizer(prepared.endpoint, sends=False)
    tokens = str(counter.count("\n".join(sent), tokenizer))
    aside = "," if tokens.endswith("estimated") else ""
    copied = [
        f"  {c.name}: {c.type_name}, {format_bytes(c.size_bytes)}{f' ({c.note})' if c.note else ''}"
        for c in manifest.copied
    ]
    asks = address_to_confirm(prepared.endpoint, prepared.settings.model)
    reads = [file.path for c in manifest.copied for file in c.reads]
    copied += [f"  would ask whether the sandbox may read {path}" for path in reads]
    copied += [
        f"  {stub.name}: not copied; the code would query it in your kernel"
        for stub in manifest.tools
        if stub.kind != "function"
    ]
    skipped = [f"  {s.name}: not copied, {s.reason}" for s in manifest.skipped]
    return "\n".join(
        [
            f"Dry run: nothing was sent or run. A run would send {tokens}{aside} to {request.model} at "
            f"{request.server} ({'REMOTE' if request.remote else 'on this machine'}):",
            *([f"  would ask first whether prompts may go to {asks}"] if asks else []),
            *(f"  {line}" for line in prepared.settings.cuts),
            *sent,
            "--- cost",
            *house_rules_cost(prepared.house_rules),
            *cost_lines(prepared.context),
            "--- copies for the sandbox",
            *(copied or ["  none"]),
            *skipped,
        ]
    )
