"""The end of a cell that its user stopped or rejected: it fails, as it must, but not in red.

Front ends learn from the reply that a cell has failed, and drop the cells queued behind it. The error that a cell
displays is another message, which IPython lets a handler replace.
"""

from __future__ import annotations

from typing import Any

from jupyter_codeagent.types.errors import CodeAgentError


def install(shell: Any) -> None:
    """Install the handler, unless this shell has another one: then the error is displayed in red."""
    if not shell.custom_exceptions:
        shell.set_custom_exc((CodeAgentError,), _show)


def uninstall(shell: Any) -> None:
    if shell.custom_exceptions == (CodeAgentError,):
        shell.set_custom_exc((), None)


def _show(shell: Any, kind: type, error: CodeAgentError, traceback: Any, tb_offset: int | None = None) -> list[str]:
    if error.neutral_text is None:
        shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
        return []
    if error.neutral_text:
        print(error.neutral_text)
    shell._last_traceback = [str(error)]  # traceback of the reply: otherwise it would be that of an earlier cell
    return []
