"""Data that a program prepares and then does not use: the result was computed from what was there before."""

from __future__ import annotations

import ast
import re

from jupyter_codeagent.agent.rules.plots import draws
from jupyter_codeagent.agent.rules.rule import Program, from_text
from jupyter_codeagent.agent.source import used_names

_DATA = frozenset({"DataFrame", "Series", "ndarray"})


@from_text
def unused_data(program: Program) -> str:
    """Report data that nothing reads, such as ``clean = df[~outliers]``.

    Of 570 programs that answered questions of our measurements 26 had a variable that nothing read; 3 of them were
    right. What is assigned last is the result, and displayed.
    """
    tree = program.tree
    data = {entry.name for entry in program.namespace if entry.type_name in _DATA}
    texts = [
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    named = {word for text in texts for word in re.findall(r"\w+", text)}  # ``df.query("id in @keep")``
    used = used_names(tree) | named | set(program.asked_names)
    for statement in tree.body[:-1]:
        match statement:
            case ast.Assign(targets=[ast.Name()], value=ast.Subscript(slice=ast.Constant(value=str(label)))) if (
                texts.count(label) > 1
            ):
                pass  # a column that is taken from the table again where it is used
            case ast.Assign(targets=[ast.Name()], value=ast.Call() as call) if draws(call):
                pass  # the axes of a chart
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in data - used and used_names(value):
                return f"{name} is made and never used. Compute the result from it, or leave it out."
    return ""
