"""The magics `%%agent` and `%agent`: parse, then ask the session or carry out a subcommand."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand

from jupyter_codeagent.entrypoints.asking import Asking
from jupyter_codeagent.entrypoints.failed_cells import Failure, Failures
from jupyter_codeagent.entrypoints.options import parse_options
from jupyter_codeagent.entrypoints.subcommands import Subcommands, help_text
from jupyter_codeagent.frontend.cell_origin import find_cell_origin
from jupyter_codeagent.session.session import AgentSession
from jupyter_codeagent.types.errors import CodeAgentError
from jupyter_codeagent.types.options import RunOptions


class DebugError(Exception):
    """Carries an error whose whole traceback was requested with ``--debug``."""


@magics_class
class AgentMagics(Magics):
    """Registered by `%load_ext jupyter_codeagent`."""

    shell: Any

    def __init__(self, shell: Any, session: AgentSession) -> None:
        super().__init__(shell)
        self.session = session
        self.failures = Failures()
        self._asking = Asking(shell, session)
        self._subcommands = Subcommands(shell, session, self._asking, self.failures).all()

    @no_var_expand
    @cell_magic("agent")  # type: ignore[arg-type]
    def agent_cell(self, line: str, cell: str) -> None:
        """Ask the agent; `%agent help` lists the options."""
        options = parse_options(line)
        if not cell.strip():
            print(help_text())
            return
        try:
            self._asking.ask(self._asking.interpolate(cell.strip()), options)
        except CodeAgentError as error:
            if options.debug:
                raise DebugError(str(error)) from error
            raise

    @no_var_expand
    @line_magic("agent")  # type: ignore[arg-type]
    def agent_line(self, line: str) -> None:
        """Carry out a subcommand; any other first word begins a one-line prompt."""
        word, _, rest = line.strip().partition(" ")
        command = self._subcommands.get(word)
        if command is not None:
            command(rest.strip())
        elif word:
            self._asking.ask(self._asking.interpolate(line.strip()), RunOptions())
        else:
            print(help_text())

    def remember_failure(self, result: Any) -> None:
        """Keep a failed cell for `%agent fix`; a `post_run_cell` hook."""
        if not result.info.store_history:
            return  # a request of the front end, not a cell of the user
        error = result.error_in_exec or result.error_before_exec
        source = getattr(result.info, "raw_cell", "") or ""
        cell = find_cell_origin(self.shell).cell_id
        if error is None:
            self.failures.forget(cell, source)
        elif not source.lstrip().startswith(("%%agent", "%agent")):
            text = f"{type(error).__name__}: {error}"
            self.failures.remember(cell, Failure(source=source, error=text, count=result.execution_count))
