"""Which variables are copied into the sandbox when the user named none."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_codeagent.values import VariableSummary
from jupyter_codeagent.variables.mentions import mentioned_columns, names_variable, order, words_of


def default_variables(
    summaries: Sequence[VariableSummary], prompt: str, *, max_bytes: int, recent: Sequence[str] = ()
) -> tuple[str, ...]:
    """Those that the prompt names, with the frames whose columns it names; else every frame within the limit.

    Where not all fit, first those that the prompt means by a word or a column, then those that the last cells used.

    Small values that are not frames (numbers, text, lists) come along when the prompt names them.
    """
    words = words_of(prompt)
    named = [s.name for s in summaries if s.copyable and names_variable(words, s)]
    if named:
        related = [s.name for s in summaries if s.frame_like and mentioned_columns(prompt, s)]
        return tuple(dict.fromkeys((*named, *related)))
    chosen, total = [], 0
    for summary in order([s for s in summaries if s.frame_like], prompt, recent):
        size = summary.size_bytes or 0
        if total + size <= max_bytes:
            chosen.append(summary.name)
            total += size
    return tuple(chosen)
