"""Programs run one after another in one namespace, in a process of its own; what they left, as evidence.

``python -m evals.worker`` reads one JSON request a line: ``{"setup": …}`` starts a new namespace, ``{"code": …}``
runs a program in it. It answers one JSON line each. `evals.programs` starts it, behind walls.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
import textwrap
import traceback
from typing import Any

from evals.facts import as_in_a_notebook, evidence, figures_now


def main() -> None:
    as_in_a_notebook()
    answers, sys.stdout = sys.stdout, sys.stderr
    namespace: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if "setup" in request:
            namespace = {"__name__": "__main__", "display": display}
        answer = run(request.get("setup", request.get("code", "")), namespace)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def run(code: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """``text``, ``error``, ``figures`` and ``tables`` of one program; the last expression is shown as in a cell."""
    import matplotlib.pyplot as plt

    shown, error = io.StringIO(), ""
    with contextlib.redirect_stdout(shown):
        try:
            execute(code, namespace)
        except BaseException as failure:  # noqa: BLE001  (SystemExit of a program ends the program, not the worker)
            error = "".join(traceback.format_exception_only(failure)).strip()
    figures = figures_now(plt)
    plt.close("all")
    return {"error": error, **evidence(shown.getvalue(), namespace, figures)}


def display(*values: Any) -> None:
    """As IPython's, in plain text."""
    for value in values:
        print(value if isinstance(value, str) else repr(value))


def execute(code: str, namespace: dict[str, Any]) -> None:
    """As a cell: the value of a last expression is shown."""
    tree = ast.parse(textwrap.dedent(code))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<program>", "exec"), namespace)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), "<program>", "eval"), namespace)
        if value is not None:
            display(value)


if __name__ == "__main__":
    main()
