"""A cell that its user has ended, by a stop or a no, fails as it must, but not in red: it did what was asked.

Front ends learn from the reply that a cell has failed, and give up what waits behind it; what a cell shows of an
error is another message, which IPython lets a handler replace.
"""

from __future__ import annotations

from typing import Any

from jupyter_codeagent.types.errors import CodeAgentError


def install(shell: Any) -> None:
    """Unless somebody else handles exceptions in this shell: then it is a line in red as any other error."""
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
    shell._last_traceback = [str(error)]  # of the reply: else it would be that of an earlier cell
    return []
