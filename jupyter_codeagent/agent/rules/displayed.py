"""Results that came without an exception and are wrong all the same: one line for the model, or nothing.

Told once per run; the next result stands, and the same program again is asked for once more.
"""

from __future__ import annotations

import re

from jupyter_codeagent.agent.prompt.observe import FIGURE, cut, output_text
from jupyter_codeagent.agent.prompt.offered_words import none_shown
from jupyter_codeagent.agent.prompt.task import wanted_names
from jupyter_codeagent.agent.rules.duplicate_expressions import made_alike
from jupyter_codeagent.agent.rules.groups import forgotten_group, one_figure, one_for_all
from jupyter_codeagent.agent.rules.joins import exploded_join
from jupyter_codeagent.agent.rules.label_rows import unnamed_rows
from jupyter_codeagent.agent.rules.missing_columns import nothing_converted
from jupyter_codeagent.agent.rules.placeholders import unfilled_output
from jupyter_codeagent.agent.rules.plots import unfitted_line
from jupyter_codeagent.agent.rules.ranges import impossible_figure
from jupyter_codeagent.agent.rules.statistics import statistic_as_judgement
from jupyter_codeagent.agent.rules.unused import unused_data
from jupyter_codeagent.types.sandbox import ExecutionResult

MAX_CHARS = 200_000
"""Of the outputs that are looked at, from both ends."""
_FUNCTION = re.compile(r"<(?:bound method|function|built-in (?:method|function)|class) ?'?([\w.<>]*)")
_UNFINISHED = re.compile(
    r"<pandas\.[\w.]{0,100}(GroupBy|Rolling|Resampler)\w{0,100} object at|<(generator|map|filter|zip) object\b"
)
_EMPTY = re.compile(r"^Empty DataFrame|^Series\(\[\], |^shape: \(0, \d+\)|^\[\]$|^\{\}$", re.MULTILINE)
_MISSING = r"(?:nan|NaN|None|<NA>|NaT|null)"
_MISSING_VALUE = re.compile(rf"\b{_MISSING}\b|{_MISSING}")
CHECK_THE_FILTER = "Check the filter: spelling and type of the values, column names, join keys."
_NO_LABELS = re.compile(r"No artists with labels found to put in legend")
_LEGEND_WANTED = re.compile(r"\blegend|\b(?:one|a) (?:line|bar|curve|point|box) (?:per|for each)\b", re.IGNORECASE)
_NAMED_NAN = re.compile(r"^(?P<name>[^\W\d_][^:=|\n\d]{1,60})[:=] *nan\.?$", re.MULTILINE)
_DASHES = re.compile(r"^[\s\-=_.:|+]*$")


def concern(result: ExecutionResult, code: str, prompt: str = "") -> str:
    """What looks wrong, with what to do; empty if nothing does."""
    if result.status != "ok":
        return ""
    text = cut(output_text(result), MAX_CHARS)
    if not text.strip():
        return "Nothing was shown. Print the result, or end with the expression to show."
    if match := _FUNCTION.search(text):
        name = match.group(1) or "it"
        return f"A function was shown instead of its value ({name}). Call it with parentheses."
    if match := _UNFINISHED.search(text):
        kind = match.group(1) or match.group(2)
        return f"A {kind} object was shown instead of its values. Aggregate it, or turn it into a list."
    if _EMPTY.search(text) and "Empty" not in code:
        return f"The result is empty. {CHECK_THE_FILTER}"
    if _all_missing(text):
        return "Every value is missing (NaN). Check the column and the calculation; drop missing values first."
    if placeholder := unfilled_output(text, code):
        return f"The text {placeholder} was shown instead of its value. Print the computed value, with an f-string."
    return (
        _empty_legend(text, prompt)
        or nothing_converted(code, result.outputs)
        or statistic_as_judgement(code)
        or impossible_figure(text)
        or exploded_join(code, result.namespace, result.changes)
        or forgotten_group(prompt, code, result.namespace)
        or one_figure(prompt, text, code, result.namespace)
        or one_for_all(prompt, code, result.namespace)
        or none_shown(prompt, text)
        or made_alike(code)
        or unfitted_line(prompt, code)
        or unnamed_rows(prompt, text, code, result.namespace)
        or _one_missing(text)
        or unused_data(code, result.namespace, wanted_names(prompt))
    )


def _empty_legend(text: str, prompt: str) -> str:
    if _NO_LABELS.search(text) is None or _LEGEND_WANTED.search(prompt) is None:
        return ""
    return "The legend is empty: nothing was drawn with a label. Draw each group by itself, with its label."


def _one_missing(text: str) -> str:
    """``Mean after: nan`` among others that are there; in a table missing values are nothing unusual."""
    match = _NAMED_NAN.search(text)
    return f"{match['name'].strip()!r} is nan: it was computed of no rows, or of missing values." if match else ""


def _all_missing(text: str) -> bool:
    """Each line that ends with a value ends with a missing one; there is at least one such line."""
    lines = [line for line in text.split("\n") if line.strip() and line != FIGURE and not _DASHES.match(line)]
    values = [_last_word(line) for line in lines if not line.startswith(("Name:", "dtype:", "Length:", "["))]
    values = [value for value in values if _MISSING_VALUE.fullmatch(value) or re.search(r"\d", value)]
    return bool(values) and all(_MISSING_VALUE.fullmatch(value) for value in values)


def _last_word(line: str) -> str:
    """Of ``mean = nan``, ``share: nan%`` and ``@r[nan]`` the value."""
    return line.rstrip("])}%., ").replace("[", " ").replace("=", " ").replace(":", " ").split(" ")[-1]
