"""Mask the values of personal columns in text for the model.

The prompt describes such columns by type only, but the model's code runs on all columns and can print their values.
Whole values of the text columns in the user's variables (`text_columns`) are found, and their beginnings before
"..." or "…", as pandas and polars cut long texts in tables. Other parts of a value, and numbers, are not found.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jupyter_codeagent.types.variables import VariableSummary
from jupyter_codeagent.variables.mentions import label_text
from jupyter_codeagent.variables.privacy.pii_columns import personal_kind
from jupyter_codeagent.variables.privacy.pii_patterns import MASK
from jupyter_codeagent.variables.privacy.secret import mask_private
from jupyter_codeagent.variables.privacy.text_columns import text_columns
from jupyter_codeagent.variables.text import looks_personal

MAX_LABELS = 200
"""Labels of a frame that is checked for being a pivot table of people; one with more is not."""
MAX_WORDS = 8
"""Words of one value."""
MIN_LETTERS = 3
MIN_DIGITS = 7
"""Digits of a value without letters: a shorter one could be a number of an ordinary result."""
MIN_CUT_CHARS = 6
"""Characters of a value that is cut: a shorter beginning reveals little, and other words begin with it, too."""
MAX_CUT_CHARS = 200
"""Characters before "..." that are searched for the start of a value; pandas displays 47 by default, polars 30."""
_WORD = re.compile(r"\w+")
_BEFORE = re.compile(r"[^\w\s]{1,2}$")
_AFTER = re.compile(r"[^\w\s]{1,2}")
_CUT = re.compile(r"(?<=\S) ?(?:\.\.\.|…)")


def mask_values(text: str, values: Sequence[str]) -> str:
    """Replace each value that is not part of a word with ``***``."""
    longest_first = sorted({*values} - {""}, key=len, reverse=True)
    if not longest_first:
        return text
    return re.sub(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", MASK, text)


def masked(text: str, values: Sequence[str]) -> str:
    """Return the text as the model may have it: these values and everything that looks private are masked."""
    return mask_private(mask_values(text, values))


def values_to_mask(text: str, namespace: Mapping[str, Any]) -> tuple[str, ...]:
    """Find the values of personal columns in a text of some thousand characters. On the main thread.

    Costs a sample of each text column, and one pass over the rows of each personal one; two where text is cut.
    """
    spans, cut = _spans(text), _cut_spans(text)
    if not spans:
        return ()
    starts = {beginning[:MIN_CUT_CHARS] for beginning in cut.values()}
    found: set[str] = set()
    for value in namespace.values():
        for column in text_columns(value):
            if looks_personal(column.label) or personal_kind(column.label, column.sample()):
                found.update(map(str, column.among(spans)))
                found.update(_beginnings(column.starting(starts, MIN_CUT_CHARS), cut) if cut else ())
    return tuple(sorted(found))


def personal_columns(value: Any, labels: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of a table whose names or values look personal. On the main thread."""
    by_values = {column.label for column in text_columns(value) if personal_kind(column.label, column.sample())}
    return tuple(label for label in labels if looks_personal(label) or label in by_values)


def masked_summaries(
    summaries: Sequence[VariableSummary], namespace: Mapping[str, Any]
) -> tuple[VariableSummary, ...]:
    """Mask the values of personal columns in all summaries: other variables may have them as texts, keys or labels.

    Names of columns stay, since a column may have a person's name by chance; but they are masked where most of them
    are people, as in a pivot table.
    """
    names = {summary.name: [label_text(column.name) for column in summary.columns] for summary in summaries}
    texts = [text for summary in summaries for text in (*_texts(summary), *names[summary.name][:MAX_LABELS])]
    values = values_to_mask("\n".join(texts), namespace)
    if not values:
        return tuple(summaries)
    return tuple(_masked_summary(summary, values, names[summary.name]) for summary in summaries)


def _texts(summary: VariableSummary) -> list[str]:
    columns = (text for column in summary.columns for text in (column.stats, column.example) if text)
    return [summary.headline.removeprefix(f"{summary.name}:"), summary.rows, *columns]


def _masked_summary(summary: VariableSummary, values: Sequence[str], labels: Sequence[str]) -> VariableSummary:
    people = sum(label in values for label in labels)
    hides_labels = people > 1 and 2 * people >= len(labels)
    columns = tuple(
        replace(
            column,
            name=repr(MASK) if hides_labels and label in values else column.name,
            stats=mask_values(column.stats, values),
            example=mask_values(column.example, values),
        )
        for column, label in zip(summary.columns, labels, strict=True)
    )
    head, colon, rest = summary.headline.partition(":")
    headline = f"{head}{colon}{mask_values(rest, values)}"
    return replace(summary, headline=headline, columns=columns, rows=mask_values(summary.rows, values))


def _spans(text: str) -> list[str]:
    """Return all that could be a value: up to `MAX_WORDS` words of a line, with or without punctuation around."""
    spans: set[str] = set()
    for line in text.split("\n"):
        words = list(_WORD.finditer(line))
        for at, first in enumerate(words):
            before = _BEFORE.search(line, max(0, first.start() - 2), first.start())
            starts = {first.start(), before.start() if before else first.start()}
            for last in words[at : at + MAX_WORDS]:
                after = _AFTER.match(line, last.end())
                ends = {last.end(), last.end() + 1, after.end()} if after else {last.end()}
                spans.update(line[start:end] for start in starts for end in ends)
    return [span for span in spans if _is_identifying(span)]


def _cut_spans(text: str) -> dict[str, str]:
    """Return all that could be the beginning of a value before "...", as {text with dots: without}."""
    spans: dict[str, str] = {}
    for mark in _CUT.finditer(text):
        line = text[max(mark.start() - MAX_CUT_CHARS, 0) : mark.start()].rpartition("\n")[2]
        for word in _WORD.finditer(line):
            before = _BEFORE.search(line, max(0, word.start() - 2), word.start())
            for start in {word.start(), before.start() if before else word.start()}:
                if len(line) - start >= MIN_CUT_CHARS and _is_identifying(line[start:]):
                    spans[line[start:] + mark.group()] = line[start:]
    return spans


def _is_identifying(span: str) -> bool:
    letters = sum(map(str.isalpha, span))
    return letters >= MIN_LETTERS or (not letters and sum(map(str.isdigit, span)) >= MIN_DIGITS)


def _beginnings(values: Iterable[object], cut: Mapping[str, str]) -> list[str]:
    """Return those of the cut texts with which a value begins."""
    texts = sorted({value for value in values if isinstance(value, str)})
    return [
        text
        for text, beginning in cut.items()
        if (at := bisect_left(texts, beginning)) < len(texts) and texts[at].startswith(beginning)
    ]
