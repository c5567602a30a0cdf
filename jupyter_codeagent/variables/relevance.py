"""Select the variables that a question is about, for the sandbox, where the user named none with ``--vars``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from jupyter_codeagent.types.variables import VariableSummary
from jupyter_codeagent.variables.mentions import (
    names_as_code,
    names_variable,
    order,
    refers_to,
    shares_word,
    words_of,
)
from jupyter_codeagent.variables.relations import Relation


@dataclass(frozen=True, kw_only=True)
class SelectionClues:
    """What shows, beside the prompt, which variables a question is about."""

    recent: Sequence[str] = ()
    """Names that the last cells used, the latest first."""
    relations: Sequence[Relation] = ()
    """Which columns join which tables."""
    earlier: Collection[str] = ()
    """Variables that the previous question was about."""
    made: Collection[str] = ()
    """Variables that accepted findings and next questions have made, which nobody asked for by name."""
    databases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Databases that it asked -> the tables and columns that were named, none for all."""


NO_CLUES = SelectionClues()


def relevant_variables(
    summaries: Sequence[VariableSummary], prompt: str, *, max_bytes: int, clues: SelectionClues = NO_CLUES
) -> tuple[str, ...]:
    """Select the variables that the prompt names and the frames that it may be about, within the limit.

    A prompt is about the frames that it means (by their name, a word of it, or a column that few tables have),
    those joined to them, and those that share a word with it. A prompt that means no frame is about those of the
    previous question and the databases that it asked, or about all frames. Where not all fit, those that it means
    go first, then those that the last cells used. The limit does not apply to frames that the prompt names.

    What accepted findings have made (`SelectionClues.made`) is left out unless the prompt names it as code, or the
    previous question was about it: their names are words like ``rows``, which a question has anyway.

    Small values that are not frames (numbers, text, lists) are included when the prompt has their name or a word
    of it.
    """
    words = words_of(prompt)
    unasked = {name for name in clues.made if name not in clues.earlier and not names_as_code(prompt, name)}
    summaries = [s for s in summaries if s.name not in unasked]
    named = [s.name for s in summaries if s.copyable and names_variable(words, s)]
    others = [s.name for s in summaries if s.copyable and not s.frame_like and refers_to(prompt, s)]
    selected, total = [], 0
    frames = [s for s in summaries if s.frame_like]
    databases = [] if _meant(frames, prompt) else [*clues.databases]
    for frame in order(_candidates(frames, prompt, clues), prompt, clues.recent):
        size = frame.size_bytes or 0
        if frame.name not in named and total + size <= max_bytes:
            selected.append(frame.name)
            total += size
    return tuple(dict.fromkeys((*named, *selected, *others, *databases)))


def _candidates(frames: Sequence[VariableSummary], prompt: str, clues: SelectionClues) -> list[VariableSummary]:
    meant = _meant(frames, prompt) or {frame.name for frame in frames if frame.name in clues.earlier}
    if not meant:
        return [] if clues.databases else list(frames)
    joined = {
        name for one in clues.relations for name in (one.table, one.key_table) if {one.table, one.key_table} & meant
    }
    return [frame for frame in frames if frame.name in meant | joined or shares_word(prompt, frame)]


def _meant(frames: Sequence[VariableSummary], prompt: str) -> set[str]:
    words = words_of(prompt)
    return {frame.name for frame in frames if names_variable(words, frame) or refers_to(prompt, frame)}
