"""The user's variables that programs leave as they are, and the names that new variables cannot have."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from jupyter_codeagent.types.variables import LiveNames, VariableSummary
from jupyter_codeagent.variables.mentions import label_text

CONTAINERS = frozenset({"list", "dict", "set", "tuple"})


def live_names(
    summaries: Iterable[VariableSummary], *, copied: Collection[str], own: Collection[str], taken: Iterable[str]
) -> LiveNames:
    """Return the data among the described variables, and all names.

    `copied` is what the question is about. Of the rest only frames and containers count: a number that is computed
    again under its old name is what notebooks do. `own` are names that the cell binds anew: those that its earlier
    versions made, and those that are to be returned.
    """
    data = [
        summary
        for summary in summaries
        if summary.name not in own
        and (summary.name in copied or summary.frame_like or summary.type_name in CONTAINERS)
    ]
    return LiveNames(
        data={summary.name: summary.type_name for summary in data},
        columns=frozenset(label_text(column.name) for summary in data for column in summary.columns),
        taken=frozenset(taken),
    )
