"""A figure was asked for each of something, and the program knows nothing of it: it has computed one for all."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jupyter_codeagent.values import NamespaceEntry
from jupyter_codeagent.variables.mentions import stemmed

_EACH = re.compile(r"\b(?:each|every|per|grouped by)\s+(?P<word>[A-Za-z_]\w*)", re.IGNORECASE)
_MEASURE = re.compile(
    r"\b(?:miles|kilomet\w+|km|met(?:er|re)s|feet|gallons?|lit(?:er|re)s|dollars?|euros?|pounds|degrees|times|"
    r"percent|rate|once|speed \w+)\s*$",
    re.IGNORECASE,
)
"""``miles per hour`` is a unit, not a group."""


def forgotten_group(prompt: str, code: str, namespace: Sequence[NamespaceEntry]) -> str:
    """What to say of ``mean yield per site`` where the code does not name the column ``site``; empty else."""
    labels = {stemmed(label): label for entry in namespace for label in entry.columns}
    for match in _EACH.finditer(prompt):
        label = labels.get(stemmed(match["word"]))
        is_unit = match[0].lower().startswith("per") and _MEASURE.search(prompt[: match.start()])
        if label is not None and not is_unit and label not in code:
            word = match["word"]
            return f"The task asks for each {word}, and the code does not use the column {label!r}: group by it."
    return ""
