"""Text of charts as literals of a program: in lines that fit, and without what a library would not take as text."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap

from jupyter_codeagent.explore.programs.draft import MAX_LABEL_CHARS, Draft, literal
from jupyter_codeagent.explore.programs.forms import Around
from jupyter_codeagent.types.charts import ChartLibrary

TITLE_CHARS = 62
"""Width of a title on a figure of seven inches."""
NARROW_CHARS, LONG_LABEL_CHARS, CHARS_PER_INCH = 40, 20, 13
"""Width of an axis' label beside long categories, what counts as long, and characters along the other axis."""
_PLAIN: Mapping[ChartLibrary, Mapping[str, str]] = {
    "matplotlib": {"$": r"\$"},  # begins mathematics
    "altair": {},
    "plotly": {"&": "&amp;", "<": "&lt;"},  # markup
}
"""What a sign has to be written as to be only a sign."""


def in_chart(draft: Draft, text: str) -> str:
    """Return text as a literal for a chart."""
    return _lines(draft, [text])


def title_of(draft: Draft) -> str:
    """Return the title's literal, in lines that fit the figure."""
    return _lines(draft, title_lines(draft))


def title_lines(draft: Draft) -> list[str]:
    """Return the lines of the title."""
    return wrap(draft.words.title, TITLE_CHARS)


def axis_titles(draft: Draft, around: Around) -> tuple[str, str]:
    """Return the literals of both axes' labels."""
    across = NARROW_CHARS if has_long_labels(draft) else TITLE_CHARS
    up = int(CHARS_PER_INCH * (around.height - 1))
    return _lines(draft, wrap(around.x, across)), _lines(draft, wrap(around.y, up))


def has_long_labels(draft: Draft) -> bool:
    """Check whether the finding names a long category."""
    finding = draft.finding
    return any(len(finding.text(fact)) > LONG_LABEL_CHARS for fact in finding.facts)


def _lines(draft: Draft, lines: list[str]) -> str:
    plain = [_plain(draft, line) for line in lines]
    match draft.charts:
        case "matplotlib":
            return literal("\n".join(plain))
        case "plotly":
            return literal("<br>".join(plain))
        case "altair":
            return literal(plain[0]) if len(plain) == 1 else f"[{', '.join(map(literal, plain))}]"


def _plain(draft: Draft, text: str) -> str:
    for sign, written in _PLAIN[draft.charts].items():
        text = text.replace(sign, written)
    return text


def labels(draft: Draft, table: str, place: int, *facts: str) -> str:
    """Return the expression for the categories of a table as text, short enough for an axis."""
    column = f"{table}[{draft.col(place)}].cast(pl.String)" if draft.is_polars else f"{table}.index.astype(str)"
    texts = [draft.finding.text(fact) for fact in facts]
    if not draft.knows_levels or any(len(text) > MAX_LABEL_CHARS for text in texts):
        column += f".str.slice(0, {MAX_LABEL_CHARS})"
    for sign, written in _PLAIN[draft.charts].items():
        if not draft.knows_levels or any(sign in text for text in texts):
            column += _replaced(draft, sign, written)
    return column


def _replaced(draft: Draft, sign: str, written: str) -> str:
    if not draft.is_polars:
        shown = f'r"{written}"' if "\\" in written else f'"{written}"'
        return f'.str.replace("{sign}", {shown}, regex=False)'
    shown = 'r"\\\\$"' if "\\" in written else f'"{written}"'  # there, too, a dollar sign is no plain text
    return f'.str.replace_all("{sign}", {shown}, literal=True)'


def caption(around: Around) -> str:
    """Return the expression for what is said of the number of rows."""
    return f'f"n = {{{around.n}:,}}"'
