"""Find the variables and columns that a prompt names, and rank variables for the prompt."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_codeagent.types.variables import VariableSummary

_WORD = re.compile(r"\w+")
_CAMEL = re.compile(r"([a-z0-9])([A-Z])")
MIN_LABEL_CHARS = 3
"""Shorter labels occur in every other sentence: ``a``, ``id``, ``n``."""
UNINFORMATIVE_WORDS = frozenset(
    (
        "all",
        "array",
        "arr",
        "copy",
        "data",
        "dataframe",
        "dataset",
        "df",
        "dict",
        "frame",
        "list",
        "new",
        "old",
        "raw",
        "res",
        "series",
        "table",
        "tbl",
        "temp",
        "test",
        "tmp",
    )
)
"""Words of variable names that say nothing about the content."""
COMMON_LABELS = frozenset(
    (
        "amount",
        "category",
        "class",
        "code",
        "count",
        "date",
        "day",
        "group",
        "hour",
        "index",
        "kind",
        "label",
        "mean",
        "minute",
        "month",
        "name",
        "number",
        "order",
        "percent",
        "quarter",
        "rank",
        "rate",
        "share",
        "size",
        "status",
        "sum",
        "time",
        "total",
        "type",
        "unit",
        "value",
        "week",
        "weekday",
        "year",
    )
)
"""Column labels that occur in questions about any table: alone they do not identify one."""
MIN_HINT_CHARS = 4


@dataclass(frozen=True, kw_only=True)
class RankedVariable:
    """One variable, in the order of the prompt."""

    summary: VariableSummary
    named: bool
    """The prompt names it, a word of its name, or one of its columns."""
    columns: tuple[int, ...]
    """Positions of the columns that the prompt names."""


def words_of(prompt: str) -> frozenset[str]:
    """Return the words in lower case, identifiers whole."""
    return frozenset(word.lower() for word in _WORD.findall(prompt))


def names_variable(words: frozenset[str], summary: VariableSummary) -> bool:
    """Check whether the variable's name is among the words."""
    return summary.name.lower() in words


def names_as_code(prompt: str, name: str) -> bool:
    """Check whether the prompt has this name in a form that no other word has: in backquotes, or with a ``_``."""
    return f"`{name}`" in prompt or ("_" in name and name.lower() in words_of(prompt))


def names_label(prompt: str, label: str) -> bool:
    """Check whether the prompt names a column with this label.

    Case and number (singular, plural) are ignored; blanks and ``_`` are the same.
    """
    return _contains(stemmed(prompt), label)


def rank(summaries: Sequence[VariableSummary], prompt: str, recent: Sequence[str] = ()) -> list[RankedVariable]:
    """Rank variables for the prompt: what it names, then what the last cells used, then by size.

    A prompt names, the surest first, a variable by its name, a frame by a word of its name (``customers`` for
    ``df_customer``), and frames by their columns, those with most of them first. `recent` are names that the
    last cells used, the latest first.
    """
    words, text = words_of(prompt), stemmed(prompt)
    used = {name: at for at, name in reversed(list(enumerate(recent)))}

    def sort_key(one: RankedVariable) -> tuple[int, int, int]:
        summary = one.summary
        if names_variable(words, summary):
            return (0, 0, 0)
        if one.named:
            return (1 if _names_frame(text, summary) else 2, -len(one.columns), 0)
        if summary.name in used:
            return (3, 0 if summary.frame_like else 1, used[summary.name])
        return (4, -(summary.size_bytes or 0), 0) if summary.frame_like else (5, 0, 0)

    ranked = []
    for summary in summaries:
        columns = _columns_in(text, summary)
        named = bool(columns) or names_variable(words, summary) or _names_frame(text, summary)
        ranked.append(RankedVariable(summary=summary, named=named, columns=columns))
    return sorted(ranked, key=sort_key)


def order(summaries: Sequence[VariableSummary], prompt: str, recent: Sequence[str] = ()) -> list[VariableSummary]:
    """Return the summaries in the order of `rank`."""
    return [one.summary for one in rank(summaries, prompt, recent)]


def refers_to(prompt: str, summary: VariableSummary) -> bool:
    """Check whether the prompt means this variable, by a word of its name or by a column that few tables have."""
    text = stemmed(prompt)
    labels = (label_text(column.name) for column in summary.columns)
    return _has_word_of_name(text, summary.name) or any(
        stemmed(label).strip() not in COMMON_LABELS and _contains(text, label) for label in labels
    )


def shares_word(prompt: str, summary: VariableSummary) -> bool:
    """Check whether a word of the prompt is in the variable's name or in a label: ``delay`` for ``dep_delay``."""
    asked = set(stemmed(prompt).split())
    labels = (summary.name, *(label_text(column.name) for column in summary.columns))
    words = {word for label in labels for word in stemmed(_CAMEL.sub(r"\1 \2", label)).split()}
    return any(len(word) >= MIN_HINT_CHARS for word in (words & asked) - COMMON_LABELS)


def _columns_in(text: str, summary: VariableSummary) -> tuple[int, ...]:
    if not text.strip():
        return ()
    return tuple(at for at, column in enumerate(summary.columns) if _contains(text, label_text(column.name)))


def _contains(text: str, label: str) -> bool:
    stem = stemmed(label)
    return len(stem.strip()) >= MIN_LABEL_CHARS and stem in text


def _names_frame(text: str, summary: VariableSummary) -> bool:
    return summary.frame_like and _has_word_of_name(text, summary.name)


def _has_word_of_name(text: str, name: str) -> bool:
    words = stemmed(_CAMEL.sub(r"\1 \2", name)).split()
    return any(
        len(word) >= MIN_LABEL_CHARS
        and not word.isdigit()
        and word not in UNINFORMATIVE_WORDS
        and f" {word} " in text
        for word in words
    )


def stemmed(text: str) -> str:
    """Return the words in lower case and singular, with blanks around each: `` unit price by country ``."""
    words = _WORD.findall(text.lower().replace("_", " "))
    return f" {' '.join(map(_singular, words))} "


def _singular(word: str) -> str:
    """Return ``country`` for ``countries``, ``flight`` for ``flights``, ``box`` for ``boxes``; ``status`` stays."""
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes", "zzes")):
        return word[:-2]
    return word.removesuffix("s")


def label_text(quoted: str) -> str:
    """Return the label whose `repr` is `ColumnSummary.name`."""
    if len(quoted) > 1 and quoted[0] == quoted[-1] == "'" and "\\" not in quoted:
        return quoted[1:-1]
    try:
        return str(ast.literal_eval(quoted))
    except (ValueError, SyntaxError):
        return quoted
