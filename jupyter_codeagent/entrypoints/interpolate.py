"""`{{expression}}` in a prompt. Everything else in a prompt is text: braces, percent signs, quotes, any Unicode.

The expression is on one line. `\\{{` is a literal `{{`; `{{}}` and a `{{` that is never closed are text.
Expressions are not evaluated here, but on the main thread of the live kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.syntax_trees import expression_tree

ESCAPE = "\\{{"


def find_expressions(prompt: str) -> tuple[str, ...]:
    """Return each expression once, in order, without the blanks around it.

    Raises
    ------
    UsageError
        If the text between the braces is not a Python expression.
    """
    return tuple(dict.fromkeys(expression for _, expression in _pieces(prompt) if expression))


def fill(prompt: str, values: Mapping[str, str]) -> str:
    """Return the prompt with each expression replaced by `values[expression]`.

    This is one pass: braces in the values are not expanded again.

    Raises
    ------
    UsageError
        As `find_expressions`.
    KeyError
        If an expression has no value.
    """
    return "".join(text + (values[expression] if expression else "") for text, expression in _pieces(prompt))


def _pieces(prompt: str) -> Iterator[tuple[str, str]]:
    """Yield (text, expression after it); the expression is empty at the end and after an escape."""
    position = 0
    text = ""
    while (start := prompt.find("{{", position)) >= 0:
        if prompt.endswith("\\", position, start):
            text += prompt[position : start - 1] + "{{"
            position = start + 2
            continue
        closed = _expression_at(prompt, start)
        if closed is None:
            text += prompt[position : start + 2]
            position = start + 2
            continue
        expression, end = closed
        yield text + prompt[position:start], expression
        text, position = "", end
    yield text + prompt[position:], ""


def _expression_at(prompt: str, start: int) -> tuple[str, int] | None:
    """Return the expression that opens at `start` and the position after its braces; None if this is plain text."""
    line_end = prompt.find("\n", start)
    line = prompt[start + 2 : line_end if line_end >= 0 else len(prompt)]
    # a dict or set inside the expression ends with braces too: the first pair that leaves an expression closes
    ends = [match.start() for match in re.finditer(r"(?=\}\})", line)]
    if not ends or not line[: ends[0]].strip():
        return None
    for end in ends:
        if _is_expression(line[:end].strip()):
            return line[:end].strip(), start + 2 + end + 2
    bad = line[: ends[0]].strip()
    raise UsageError(f"{{{{{bad}}}}} in the prompt is not a Python expression. For literal braces write {ESCAPE}.")


def _is_expression(text: str) -> bool:
    try:
        expression_tree(text)
    except (SyntaxError, ValueError):
        return False
    return True
