"""Results that look wrong as they are displayed: nothing, an object in place of its value, no rows, no values."""

from __future__ import annotations

import ast
import re

from jupyter_codeagent.agent.output_text import FIGURE
from jupyter_codeagent.agent.prompt.offered_words import missing_word_advice
from jupyter_codeagent.agent.rules.rule import FILTER_ADVICE, Program, from_text

_FUNCTION = re.compile(r"<(?:bound method|function|built-in (?:method|function)) ?'?([\w.<>]*)")
_UNFINISHED = re.compile(
    r"<pandas\.[\w.]{0,100}(GroupBy|Rolling|Resampler)\w{0,100} object at|<(generator|map|filter|zip) object\b"
)
_OF_IBIS = re.compile(r"^(?:r0 := \w|DatabaseTable: \{)", re.MULTILINE)
"""How Ibis shows what it has not asked."""
_EMPTY = re.compile(r"^Empty DataFrame|^Series\(\[\], |^shape: \(0, \d+\)|^\[\]$|^\{\}$", re.MULTILINE)
_MISSING = r"(?:nan|NaN|None|<NA>|NaT|null)"
_MISSING_VALUE = re.compile(_MISSING)
_NAMED_NAN = re.compile(r"^(?P<name>[^\W\d_][^:=|\n\d]{1,60})[:=] *nan\.?$", re.MULTILINE)
_DASHES = re.compile(r"^[\s\-=_.:|+]*$")


@from_text
def nothing_displayed(program: Program) -> str:
    """Report a program that displays nothing."""
    advice = "Print the result, or end with the expression to show."
    return "" if program.output.strip() else f"Nothing was shown. {advice}"


@from_text
def function_displayed(program: Program) -> str:
    """Report ``<bound method …>`` in place of a value."""
    if (match := _FUNCTION.search(program.output)) is None:
        return ""
    return f"A function was shown instead of its value ({match.group(1) or 'it'}). Call it with parentheses."


@from_text
def unfinished_object(program: Program) -> str:
    """Report a GroupBy, a generator or an expression of Ibis in place of its values."""
    if _OF_IBIS.search(program.output):
        return "An expression of Ibis was shown instead of its values. Write .to_pandas() after it."
    if (match := _UNFINISHED.search(program.output)) is None:
        return ""
    kind = match.group(1) or match.group(2)
    return f"A {kind} object was shown instead of its values. Aggregate it, or turn it into a list."


@from_text
def empty_result(program: Program) -> str:
    """Report a table or list without rows; not where the code speaks of empty ones."""
    is_empty = _EMPTY.search(program.output) is not None and "Empty" not in program.code
    return f"The result is empty. {FILTER_ADVICE}" if is_empty else ""


@from_text
def all_missing(program: Program) -> str:
    """Report a result whose every value is NaN; not where the code itself writes the word, as for an empty list."""
    written = {node.value for node in ast.walk(program.tree) if isinstance(node, ast.Constant)}
    if any(isinstance(value, str) and _MISSING_VALUE.fullmatch(value) for value in written):
        return ""
    advice = "Check the column and the calculation; drop missing values first."
    return f"Every value is missing (NaN). {advice}" if _all_missing(program.output) else ""


@from_text
def no_offered_word(program: Program) -> str:
    """Report an output that holds none of the words that the prompt offers as answers."""
    return missing_word_advice(program.prompt, program.output)


@from_text
def one_missing(program: Program) -> str:
    """Report ``Mean after: nan`` among others that are there; in a table missing values are nothing unusual."""
    match = _NAMED_NAN.search(program.output)
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
