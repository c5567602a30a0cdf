"""A figure was asked for each of something, and the program has computed one for all."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from jupyter_codeagent.agent.prompt.sentences import SENTENCE_END
from jupyter_codeagent.agent.rules.rule import Program, from_text
from jupyter_codeagent.agent.source import used_names
from jupyter_codeagent.types.sandbox import NamespaceEntry
from jupyter_codeagent.variables.mentions import stemmed

_EACH = re.compile(r"\b(?:each|every|per|grouped by)\s+(?P<word>[A-Za-z_]\w*)", re.IGNORECASE)
_MEASURE = re.compile(
    r"\b(?:miles|kilomet\w+|km|met(?:er|re)s|feet|gallons?|lit(?:er|re)s|dollars?|euros?|pounds|degrees|times|"
    r"percent|once|speed \w+)\s*$",
    re.IGNORECASE,
)
"""``miles per hour`` is a unit, not a group."""
_TELLS = re.compile(
    r"\s*(?:the |each |every )?(?!(?:what|which|who|how|it|that|this|there|here)\b)[\w.]+(?: \w+){0,2}? "
    r"(?:is|are|was|were|has|have|holds?|contains?|counts?|gives?)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\?|\b(?:show|give|tell|print|plot|draw|find|list|want|need|compute|calculate|count how)\b", re.I
)
_RATE = re.compile(r"\brate$")
_OVER_TIME = re.compile(
    r"\b(?:growth|interest|inflation|decay|birth|death|mortality|infection|burn|run|flow) rate\b", re.IGNORECASE
)
"""A rate of its own unit: one number per year, over many years."""
_WORD = re.compile(r"\w+")
_TEXT = re.compile(r"(['\"])(\w+)\1")
_PERIODS = frozenset({"year", "quarter", "month", "week", "weekday", "hour"})
_OF_DATES = {"year": ".year", "hour": ".hour", "weekday": ".day_name()"}
"""Of the others it is not certain whether those of different years belong together."""
_BY_TIME = re.compile(r"\b(?:resample|Grouper|to_period|strftime|isocalendar|dayofweek|day_name|date_range)\b")
_ONE_OF_MANY = re.compile(
    r"\b(?:which|who|when|where|(?<!at )most|(?<!at )least|\w+est|best|worst|max(?:im\w+)?|min(?:im\w+)?|top|"
    r"overall|average number|how many|differ\w*|test\w*|correlat\w*|share|spread|range)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d+(?:\.\d+)?")


@from_text
def forgotten_group(program: Program) -> str:
    """Report that ``mean yield per site`` is asked for and the code does not name the column ``site``."""
    prompt, code, namespace = program.prompt, program.code, _used(program)
    if _spelled_out(prompt, code, frozenset(label for entry in namespace for label in entry.columns)):
        return ""
    for word, label, is_rate in _asked_for_each(prompt, namespace):
        if is_rate:
            continue
        if label and label not in code:
            return f"The task asks for each {word}, and the code does not use the column {label!r}: group by it."
        if not label and (date := _date_to_take(word.lower(), code, namespace)):
            return f"The task asks for each {word}, and the code does not take it of {date}: group by that."
    return ""


@from_text
def one_number(program: Program) -> str:
    """Report that groups were asked for, and the output is only one number.

    Not where one number can be the answer: *which month*, *the highest mean per month*.
    """
    prompt, code, namespace = program.prompt, program.code, _used(program)
    if _ONE_OF_MANY.search(prompt) or len(_FIGURE.findall(program.output)) != 1:
        return ""
    for word, label, is_rate in _asked_for_each(prompt, namespace):
        is_grouped = label and label in code and "groupby" in code
        if is_grouped or (is_rate and word.lower() in _PERIODS and not _OVER_TIME.search(prompt)):
            return f"The task asks for each {word}, and one number was shown for all: show the groups."
    return ""


def _used(program: Program) -> list[NamespaceEntry]:
    """Return the variables that the code reads: what others have, it need not group by."""
    used = used_names(program.tree)
    return [entry for entry in program.namespace if entry.name in used]


def _asked_for_each(prompt: str, namespace: Sequence[NamespaceEntry]) -> Iterator[tuple[str, str, bool]]:
    """(word, the column of this name or nothing, whether it may be a unit: *growth rate per year*)."""
    labels = {stemmed(label): label for entry in namespace for label in entry.columns}
    for sentence, match in _each_asked(prompt):
        before = sentence[: match.start()].rstrip().lower()
        is_per = match[0].lower().startswith("per")
        if not (is_per and _MEASURE.search(before)):
            yield match["word"], labels.get(stemmed(match["word"]), ""), is_per and _RATE.search(before) is not None


def _each_asked(prompt: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Not of ``pop is the population for each quarter.``, which tells what there is and asks for nothing."""
    for sentence in SENTENCE_END.split(" ".join(prompt.split())):
        if _TELLS.match(sentence) is None or _ASKS.search(sentence):
            yield from ((sentence, match) for match in _EACH.finditer(sentence))


def _date_to_take(period: str, code: str, namespace: Sequence[NamespaceEntry]) -> str:
    """``weather['date'].dt.year`` where the code uses this table with its one date, and takes no year of it."""
    if period not in _PERIODS or re.search(rf"\b{period}|_{period}", code) or _BY_TIME.search(code):
        return ""
    dates = [
        f"{entry.name}[{column!r}].dt{_OF_DATES.get(period, '')}"
        for entry in namespace
        if re.search(rf"\b{re.escape(entry.name)}\b", code)
        for column, kind in zip(entry.columns, entry.dtypes, strict=False)
        if kind.startswith("datetime")
    ]
    return dates[0] if len(dates) == 1 else ""


def _spelled_out(prompt: str, code: str, labels: Collection[str]) -> bool:
    """Whether the program has the groups one by one, as the prompt does: ``each airport (EWR, JFK, LGA)``."""
    words = set(_WORD.findall(prompt))
    return len({text for _, text in _TEXT.findall(code) if text in words and text not in labels}) > 1
