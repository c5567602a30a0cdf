"""Charts that are drawn beside the figure that was made for them, which stays empty."""

from __future__ import annotations

import ast

from jupyter_codeagent.agent.rules.rule import Program, from_edits
from jupyter_codeagent.agent.source import Edit, add_argument, called_name

_KINDS = frozenset({"line", "bar", "barh", "hist", "box", "kde", "density", "area", "pie", "scatter", "hexbin"})
_OTHER_AXES = frozenset({"ax", "subplots"})
_PLOTS = frozenset({"plot", "hist", "boxplot", "bar", "barh", "scatter", "line", "pie", "legend", "tight_layout"})


def draws(call: ast.Call) -> bool:
    """Check for ``df.plot(...)``, ``s.plot.bar(...)``, ``plt.title(...)``; ``plt.show()`` returns None."""
    owner, name = called_name(call)
    return name != "show" and (owner in ("plt", "sns", "ax") or name in _PLOTS)


@from_edits
def draw_on_the_figure(program: Program) -> list[tuple[Edit, str]]:
    """Give ``frame.plot(…)`` the axes of ``plt.figure(…)`` before it; else pandas draws on its own figure.

    Only where the program makes figures by ``plt.figure`` alone, which has one place to draw on.
    """
    tree, code = program.tree, program.code
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    made = [call for call in calls if called_name(call) == ("plt", "figure")]
    if not made or any(called_name(call)[1] in ("subplots", "subplot", "add_subplot") for call in calls):
        return []
    found = []
    for call in calls:
        if not _is_drawn_by_pandas(call) or call.lineno < min(one.lineno for one in made):
            continue
        note = "drew the chart on the figure created for it"
        found.append((add_argument(code, call, "ax=plt.gca()"), note))
    return found


def _is_drawn_by_pandas(call: ast.Call) -> bool:
    """``x.plot(kind="bar")`` and ``x.plot.bar()``, not ``ax.plot(x, y)``."""
    if call.args or any(word.arg in _OTHER_AXES or word.arg is None for word in call.keywords):
        return False
    match call.func:
        case ast.Attribute(value=ast.Name(id="plt" | "ax" | "axes" | "sns" | "px"), attr="plot"):
            return False
        case ast.Attribute(attr="plot"):
            return True
        case ast.Attribute(value=ast.Attribute(attr="plot"), attr=kind):
            return kind in _KINDS
    return False
