"""The columns that the user's goal is taken to mean: those whose names share a word with it. No model is asked."""

from __future__ import annotations

import re

from jupyter_codeagent.explore.names import listed, name_in_words
from jupyter_codeagent.explore.ranking import choose
from jupyter_codeagent.types.exploration import Exploration

MOST_NAMED = 6
MIN_WORD_CHARS = 3
"""Shorter words of a column's name (``id``, ``no``) stand in every other goal."""
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def columns_meant(exploration: Exploration, goal: str) -> frozenset[str]:
    """Return the columns of which the goal has a word; the names of tables are none."""
    tables = {_stem(one.table.lower()) for one in exploration.tables}
    said = _words_of(goal) - tables
    names = (column.name for table in exploration.tables for column in table.columns)
    return frozenset(name for name in names if _words_of(name) & said)


def goal_note(exploration: Exploration, goal: str) -> str:
    """Return a line on what the goal was taken to mean, and whether it has findings; empty without one."""
    if not goal.strip():
        return ""
    meant = columns_meant(exploration, goal)
    if not meant:
        return "goal: no column name has any of its words, so all columns were treated alike"
    names = sorted(meant)
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    columns = listed([*map(name_in_words, names[:MOST_NAMED]), *more])
    chosen = choose(exploration, meant)
    shown = (*chosen.joins, *chosen.quality, *chosen.insights)
    on_it = any(meant.intersection(finding.columns) for finding in shown)
    them = "it" if len(names) == 1 else "them"
    first = f"findings on {them} come first among joins, flaws and insights"
    found = first if on_it else f"nothing was found on {them}"
    return f"goal: read as {columns}; {found}"


def _words_of(text: str) -> set[str]:
    words = _WORD.findall(_CAMEL.sub(" ", text).lower())
    return {_stem(word) for word in words if len(word) >= MIN_WORD_CHARS}


def _stem(word: str) -> str:
    """Return the word without the ending of its plural or past: ``delayed`` and ``delays`` are ``delay``."""
    return re.sub(r"(?<=\w{3})(?:ed|s)$", "", word)
