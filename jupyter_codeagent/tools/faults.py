"""What code in the sandbox is told of a call that failed: a built-in exception, its message, no path of ours."""

from __future__ import annotations

import re

from jupyter_codeagent.sandbox.tool_calls import CallAnswer

MAX_CHARS = 500
_PATH = re.compile(r"(?<![\w:/.])(?:~|[A-Za-z]:)?(?:[/\\][^\s/\\'\"<>|:]+){2,}")


def explained(problem: Exception) -> CallAnswer:
    """The nearest built-in class of the exception; the name of its own stands before the message."""
    kinds = [kind for kind in type(problem).__mro__ if kind.__module__ == "builtins"]
    ename = kinds[0].__name__
    message = str(problem.args[0]) if isinstance(problem, KeyError) and problem.args else str(problem)
    own = "" if type(problem) is kinds[0] else f"{type(problem).__name__}: "
    return CallAnswer(ename=ename, evalue=without_paths(f"{own}{message}")[:MAX_CHARS])


def denied(reason: str) -> CallAnswer:
    """An exception, not a text that code could take for data."""
    return CallAnswer(ename="PermissionError", evalue=reason)


def without_paths(text: str) -> str:
    """``/home/ada/data/x.csv`` -> ``…/x.csv``."""
    return _PATH.sub(lambda match: "…/" + re.split(r"[/\\]", match.group())[-1], text)
