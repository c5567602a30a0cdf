"""Variables that the user asks for by name: ``keep it as late``, ``a table called shares``.

Small models compute what was asked for and give it another name, or none.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Sequence

from jupyter_codeagent.agent.rules.plots import draws
from jupyter_codeagent.agent.source import Edit, apply_edits, bound_names, called_name, parse, span

_NAME = r"(?P<{}>[A-Za-z_]\w*)"
_ENDS = r"(?=\s*(?:[.,;:!?]|$)|\s+and\b)"
_ASKED = re.compile(
    rf"\b(?:called|named|name it|call it)\s+{_NAME.format('called')}"
    rf"|\b(?:keep|save|store|put|assign)\b[^.;?!]{{0,200}}?\b(?:as|in|to|into)\s+{_NAME.format('kept')}{_ENDS}"
    rf"|\b(?:as|in|need|make|build|create|into) (?:a|the) (?:table|frame|dataframe) {_NAME.format('table')}"
    rf"(?=\s+(?:with|of|for|that|having|where|holding)\b|\s*[.,;:]|$)"
    rf"|^\W*(?:table|frame|dataframe) {_NAME.format('heading')}(?=\s+with\b)|(?<=[.?!;] )(?:Table|Frame) "
    rf"{_NAME.format('further')}(?=\s+with\b)",
    re.IGNORECASE,
)
_NO_VARIABLE = re.compile(r"\b(?:columns?|files?|labels?|titles?|axis|axes)\s*$", re.IGNORECASE)
"""What stands before ``called late`` where no variable is meant."""
BEFORE_CHARS = 40
"""As far before a name as that may begin."""
_NO_NAMES = frozenset(
    {"a", "an", "the", "it", "its", "is", "one", "this", "that", "well", "with", "of", "for", "percent",
     "percentage", "percentages", "numbers", "bars", "dates", "text", "order", "place", "memory", "variable"}
)  # fmt: skip


def asked_names(prompt: str) -> tuple[str, ...]:
    """Names of the variables that the prompt wants, in its order."""
    names = []
    for match in _ASKED.finditer(prompt):
        name = next(found for found in match.groups() if found)
        is_word = name.lower() in _NO_NAMES or keyword.iskeyword(name)
        if not is_word and not _NO_VARIABLE.search(prompt, max(0, match.start() - BEFORE_CHARS), match.start()):
            names.append(name)
    return tuple(dict.fromkeys(names))


def bind_asked(code: str, names: Sequence[str]) -> str:
    """With the result bound to the one name that was asked for and that the code does not bind.

    The result is the value of the last expression, what the last line prints, or what the last line assigns.
    """
    tree = parse(code)
    if tree is None or not tree.body or len(names) != 1 or names[0] in bound_names(tree):
        return code
    [name] = names
    last = tree.body[-1]
    start, end = span(code, last)
    match last:
        case ast.Expr(value=ast.Call(args=[ast.expr() as shown], keywords=[]) as call) if called_name(call) in (
            ("", "print"),
            ("", "display"),
        ):
            if not isinstance(shown, ast.Name | ast.Subscript | ast.Attribute | ast.Call):
                return code
            shown_start, shown_end = span(code, shown)
            edit = Edit(start=start, end=end, text=f"{name} = {code[shown_start:shown_end]}\n{name}")
        case ast.Expr(value=ast.Name() | ast.Subscript() | ast.Attribute() | ast.Call() as value) if not _draws(
            value
        ):
            edit = Edit(start=start, end=end, text=f"{name} = {code[start:end]}\n{name}")
        case ast.Assign(targets=[ast.Name(id=other)]):
            edit = Edit(start=end, end=end, text=f"\n{name} = {other}\n{name}")
        case _:
            return code
    return apply_edits(code, [edit])


def _draws(value: ast.expr) -> bool:
    """Of drawing nothing is kept, nor of showing what was drawn."""
    return isinstance(value, ast.Call) and (draws(value) or called_name(value)[1] == "show")
