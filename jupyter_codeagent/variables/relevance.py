"""Which variables are copied into the sandbox when the user named none with ``--vars``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jupyter_codeagent.types.variables import VariableSummary
from jupyter_codeagent.variables.mentions import hints_at, names_variable, order, points_to, words_of
from jupyter_codeagent.variables.relations import Relation


@dataclass(frozen=True, kw_only=True)
class SelectionClues:
    """What tells, beside the prompt, which variables a question is about."""

    recent: Sequence[str] = ()
    """Names that the last cells used, the latest first."""
    relations: Sequence[Relation] = ()
    """Which columns join which tables."""
    earlier: Collection[str] = ()
    """Variables that the question before was about."""


NO_CLUES = SelectionClues()


def default_variables(
    summaries: Sequence[VariableSummary], prompt: str, *, max_bytes: int, clues: SelectionClues = NO_CLUES
) -> tuple[str, ...]:
    """Choose the variables that the prompt names and the frames it may be about, within the limit.

    It is about the frames that it means (by their name, a word of it, or a column that few tables have), those
    joined to them, and those that share a word with it. A prompt that means no frame is about those of the question
    before, or about all of them. Where not all fit, first those that it means, then those that the last cells used;
    a frame that it names is not measured here.

    Small values that are not frames (numbers, text, lists) come along when the prompt has their name or a word of
    it.
    """
    words = words_of(prompt)
    named = [s.name for s in summaries if s.copyable and names_variable(words, s)]
    others = [s.name for s in summaries if s.copyable and not s.frame_like and points_to(prompt, s)]
    chosen, total = [], 0
    frames = [s for s in summaries if s.frame_like]
    for frame in order(_candidates(frames, prompt, clues), prompt, clues.recent):
        size = frame.size_bytes or 0
        if frame.name not in named and total + size <= max_bytes:
            chosen.append(frame.name)
            total += size
    return tuple(dict.fromkeys((*named, *chosen, *others)))


def _candidates(frames: Sequence[VariableSummary], prompt: str, clues: SelectionClues) -> list[VariableSummary]:
    words = words_of(prompt)
    meant = {frame.name for frame in frames if names_variable(words, frame) or points_to(prompt, frame)}
    meant = meant or {frame.name for frame in frames if frame.name in clues.earlier}
    if not meant:
        return list(frames)
    joined = {
        name for one in clues.relations for name in (one.table, one.key_table) if {one.table, one.key_table} & meant
    }
    return [frame for frame in frames if frame.name in meant | joined or hints_at(prompt, frame)]
