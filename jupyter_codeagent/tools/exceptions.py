"""What code in the sandbox gets for a failed call: a built-in exception with its message, no path, no secret."""

from __future__ import annotations

import re

from jupyter_codeagent.notebook.outputs import visible_code
from jupyter_codeagent.sandbox.tool_calls import CallAnswer
from jupyter_codeagent.variables.privacy.masking import masked

MAX_CHARS = 500
SEARCHED_CHARS = 4000
_PATH = re.compile(r"(?<![\w/.])(?:~|[A-Za-z]:)?(?:[/\\][^\s/\\'\"<>|:]+){2,}")
_LOCAL_URL = re.compile(r"\b((?:file|sqlite|duckdb)[\w+]{0,40}+):/{2,3}(?=/)")


def explained(problem: Exception) -> CallAnswer:
    """Return the exception under its nearest built-in class; the name of its own class precedes the message."""
    kinds = [kind for kind in type(problem).__mro__ if kind.__module__ == "builtins"]
    ename = kinds[0].__name__
    try:
        message = str(problem.args[0]) if isinstance(problem, KeyError) and problem.args else str(problem)
    except Exception:  # noqa: BLE001  (of the user's own class)
        message = "(its message cannot be read)"
    own = "" if type(problem) is kinds[0] else f"{type(problem).__name__}: "
    message = masked(without_paths(f"{own}{message[:SEARCHED_CHARS]}"), ())[:MAX_CHARS]
    return CallAnswer(ename=ename, evalue=visible_code(message))


def denied(reason: str) -> CallAnswer:
    """Return a denial as an exception, not as a text that code could take for data."""
    return CallAnswer(ename="PermissionError", evalue=reason)


def without_paths(text: str) -> str:
    """Return ``…/x.csv`` for ``/home/ada/data/x.csv``; addresses of other machines stay."""
    text = _LOCAL_URL.sub(r"\1:", text)
    return _PATH.sub(lambda match: "…/" + re.split(r"[/\\]", match.group())[-1], text)
