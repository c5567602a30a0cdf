"""Which variables and columns a prompt names."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from jupyter_codeagent.values import VariableSummary

_WORD = re.compile(r"\w+")


def words_of(prompt: str) -> frozenset[str]:
    """Lower-case words, identifiers whole."""
    return frozenset(word.lower() for word in _WORD.findall(prompt))


def names_variable(words: frozenset[str], summary: VariableSummary) -> bool:
    return summary.name.lower() in words


def mentioned_columns(prompt: str, summary: VariableSummary) -> tuple[int, ...]:
    """Positions of the columns whose name stands in the prompt, ignoring case; blanks and ``_`` are the same."""
    text = f" {' '.join(_WORD.findall(prompt.lower().replace('_', ' ')))} "
    found = []
    for at, column in enumerate(summary.columns):
        label = " ".join(_WORD.findall(_label(column.name).lower().replace("_", " ")))
        if len(label) > 2 and f" {label} " in text:
            found.append(at)
    return tuple(found)


def order(summaries: Sequence[VariableSummary], prompt: str) -> list[VariableSummary]:
    """Named in the prompt first, then with named columns, then frames by size, then the rest as they are."""
    words = words_of(prompt)

    def rank(summary: VariableSummary) -> tuple[int, int]:
        if names_variable(words, summary):
            return (0, 0)
        if mentioned_columns(prompt, summary):
            return (1, 0)
        return (2, -(summary.size_bytes or 0)) if summary.frame_like else (3, 0)

    return sorted(summaries, key=rank)


def _label(quoted: str) -> str:
    try:
        return str(ast.literal_eval(quoted))
    except (ValueError, SyntaxError):
        return quoted
