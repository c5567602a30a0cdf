"""A figure was asked for each of something, and the program knows nothing of it: it has computed one for all."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from jupyter_codeagent.values import NamespaceEntry
from jupyter_codeagent.variables.mentions import stemmed

_EACH = re.compile(r"\b(?:each|every|per|grouped by)\s+(?P<word>[A-Za-z_]\w*)", re.IGNORECASE)
_MEASURE = re.compile(
    r"\b(?:miles|kilomet\w+|km|met(?:er|re)s|feet|gallons?|lit(?:er|re)s|dollars?|euros?|pounds|degrees|times|"
    r"percent|rate|once|speed \w+)\s*$",
    re.IGNORECASE,
)
"""``miles per hour`` is a unit, not a group."""
_WORD = re.compile(r"\w+")
_TEXT = re.compile(r"(['\"])(\w+)\1")


def forgotten_group(prompt: str, code: str, namespace: Sequence[NamespaceEntry]) -> str:
    """What to say of ``mean yield per site`` where the code does not name the column ``site``; empty else."""
    labels = {stemmed(label): label for entry in namespace for label in entry.columns}
    if _spelled_out(prompt, code, frozenset(labels.values())):
        return ""
    for match in _EACH.finditer(prompt):
        label = labels.get(stemmed(match["word"]))
        is_unit = match[0].lower().startswith("per") and _MEASURE.search(prompt[: match.start()])
        if label is not None and not is_unit and label not in code:
            word = match["word"]
            return f"The task asks for each {word}, and the code does not use the column {label!r}: group by it."
    return ""


def _spelled_out(prompt: str, code: str, labels: Collection[str]) -> bool:
    """Whether the program has the groups one by one, as the prompt does: ``each airport (EWR, JFK, LGA)``."""
    words = set(_WORD.findall(prompt))
    return len({text for _, text in _TEXT.findall(code) if text in words and text not in labels}) > 1
