"""``pandas.cut`` leaves values at the lowest edge without a bin: ages of 0 have no label with ``[0, 12, 19]``."""

from __future__ import annotations

import ast

from jupyter_codeagent.agent.rules.rule import Program, from_edits
from jupyter_codeagent.agent.source import Edit, add_argument, called_name


@from_edits
def include_lowest_edge(program: Program) -> list[tuple[Edit, str]]:
    """Edits of calls with edges written out that say nothing of the lowest one, each with its note.

    Only where the bins have labels: an interval such as ``(0, 12]`` says itself what it leaves out.
    """
    tree, code = program.tree, program.code
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or called_name(node) not in (("pd", "cut"), ("pandas", "cut")):
            continue
        words = {word.arg: word.value for word in node.keywords}
        bins = words.get("bins", node.args[1] if len(node.args) == 2 else None)
        is_settled = "labels" not in words or words.keys() & {"include_lowest", "right", None}
        if isinstance(bins, ast.List | ast.Tuple) and not is_settled:
            note = "included the lowest edge in the first bin"
            found.append((add_argument(code, node, "include_lowest=True"), note))
    return found
