"""Exceptions of code in the sandbox as `ExecutionError`: short, clean, with the line of the cell."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_codeagent.sandbox.guard import MAX_NAME_CHARS, MAX_REPLY_TEXT, RequestGuard, one_line, printable
from jupyter_codeagent.types.sandbox import ExecutionError, Output


def execution_error(
    code: str, outputs: Sequence[Output], guard: RequestGuard, compiled_line: int | None
) -> ExecutionError:
    """Return name and value of the last error output, which has been cleaned, or else of the reply."""
    name, value = guard.error_name, guard.error_value
    for output in outputs:
        if output["output_type"] == "error":
            name = one_line(output["ename"], MAX_NAME_CHARS)
            value = printable(output["evalue"], MAX_REPLY_TEXT)
    line, source = find_line(code, compiled_line)
    return ExecutionError(ename=name or "Error", evalue=value, line=line, source=source)


def find_line(code: str, compiled_line: int | None) -> tuple[int | None, str]:
    """Return the line of the code as it was given, and its text."""
    lines = code.splitlines()
    if compiled_line is None:
        return None, ""
    number = compiled_line + blank_lines(code)
    return (number, lines[number - 1].strip()) if number <= len(lines) else (None, "")


def blank_lines(code: str) -> int:
    """Return the number of blank lines at the beginning, which IPython removes before it counts lines."""
    return next((index for index, line in enumerate(code.splitlines()) if line.strip()), 0)
