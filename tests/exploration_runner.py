"""A program of a finding run as a cell would be, with its tables and figures looked at."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
from chart_faults import faults
from matplotlib.figure import Figure

__all__ = ["Ran", "faults", "run"]


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a program has shown."""

    printed: str
    table: Any
    figures: tuple[Figure, ...]
    displayed: tuple[Any, ...]
    """Charts of other libraries as their specifications, and tables before the last."""
    made: frozenset[str]
    """Names that it has assigned."""

    @property
    def output(self) -> str:
        """Return what a notebook would show of it, as text."""
        table = self.table.to_string() if hasattr(self.table, "to_string") else repr(self.table)
        return f"{self.printed}\n{table}"


def specified(value: Any) -> Any:
    """Return a chart as the kernel would send it at this moment, and any other value as it is."""
    match type(value).__module__.partition(".")[0]:
        case "altair":
            return value.to_dict()
        case "plotly":
            return json.loads(value.to_json())
    return value


def run(program: str, names: Mapping[str, Any]) -> Ran:
    """Run a program on these names; a warning is an error."""
    plt.close("all")
    namespace = dict(names)
    tree = ast.parse(program)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr | ast.With), ast.unparse(last)
    printed = io.StringIO()
    shown: list[Any] = []
    namespace["display"] = lambda value: shown.append(specified(value))
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(tree, "program", "exec"), namespace)
        if isinstance(last, ast.Expr):
            table = eval(compile(ast.Expression(last.value), "program", "eval"), namespace)
        else:
            exec(compile(ast.Module([last], []), "program", "exec"), namespace)
            table = shown.pop()
        figures = tuple(plt.figure(number) for number in plt.get_fignums())
        for figure in figures:
            figure.canvas.draw()
    made = frozenset(name for name, value in namespace.items() if name not in names or value is not names[name])
    return Ran(
        printed=printed.getvalue(),
        table=table,
        figures=figures,
        displayed=tuple(shown),
        made=made - {"__builtins__", "display"},
    )
