"""The views of sandbox and variables that a page gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jupyter_codeagent.frontend.messages import (
    ColumnsMessage,
    ColumnView,
    ContextView,
    HouseRulesView,
    SandboxView,
    VariableView,
)
from jupyter_codeagent.types.house_rules import HouseRules
from jupyter_codeagent.types.sandbox import SandboxStatus
from jupyter_codeagent.types.tagged_text import TaggedText
from jupyter_codeagent.types.variables import Privacy, VariableSummary
from jupyter_codeagent.variables.privacy.column_lists import Column
from jupyter_codeagent.variables.privacy.sharing.rules import Shared, sharing_view
from jupyter_codeagent.variables.render import RenderedVariables

MAX_VARIABLES = 300
"""Variables listed in a message, besides those of which something is hidden."""
MAX_HIDDEN_VARIABLES = 1000
MAX_COLUMNS = 200
"""Columns listed of one variable; the page searches for others by a part of their name."""
MAX_COLUMNS_TOGETHER = 1000

Labels = Mapping[str, frozenset[str]]


@dataclass(frozen=True, kw_only=True)
class LookAtVariables:
    """State of the live variables, read on the main thread; views of it are made on any thread."""

    context: RenderedVariables = field(default_factory=lambda: RenderedVariables(tagged=TaggedText()))
    tokens: int = 0
    """Tokens of the whole text, by the best counter available."""
    summaries: tuple[VariableSummary, ...] = ()
    """Summaries of what is not hidden."""
    hidden: Mapping[str, str] = field(default_factory=dict)
    """Variable that is hidden as a whole -> name of its type, empty if it does not exist at present."""
    withheld: Mapping[str, str] = field(default_factory=dict)
    """See `LiveVariables.withheld`; these are among `hidden`."""
    columns: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)
    privacy: Privacy = "stats"
    budget_tokens: int = 0
    house_rules: HouseRules = field(default_factory=HouseRules)


def sandbox_view(status: SandboxStatus | None) -> SandboxView | None:
    if status is None:
        return None
    return SandboxView(
        level=status.level,
        label=status.label,
        layers=list(status.layers),
        closed=list(status.closed),
        open=list(status.open),
        limits=list(status.limits),
        hint=status.hint,
    )


def context_view(
    look: LookAtVariables, shared: Mapping[str, Shared], hidden_columns: Labels, forgotten: Sequence[str]
) -> ContextView:
    """Return what the prompt would contain, in its order; then what it would leave out, then what is hidden."""
    summaries = {summary.name: summary for summary in look.summaries}
    in_prompt = {one.name: one for one in look.context.variables}
    hidden = [name for name in look.hidden if name not in summaries][:MAX_HIDDEN_VARIABLES]
    in_order = dict.fromkeys((*in_prompt, *look.context.dropped, *summaries))
    names = [name for name in in_order if name in summaries]
    listed = names[:MAX_VARIABLES] + [name for name in names[MAX_VARIABLES:] if name in hidden_columns]
    variables: list[VariableView] = []
    room = MAX_COLUMNS_TOGETHER
    for name in (*listed, *hidden):
        labels = hidden_columns.get(name, frozenset())
        how = shared.get(name, "auto")
        summary = summaries.get(name)
        # A switch after this state was read is in force, so the text that it forbids is not displayed.
        line = in_prompt.get(name) if how != "hidden" and name not in look.withheld else None
        columns = listed_columns(look.columns.get(name, ()), labels, at_most=min(MAX_COLUMNS, room))
        room = max(room - len(columns), 0)
        variables.append(
            VariableView(
                name=name,
                type_name=summary.type_name if summary is not None else look.hidden.get(name, ""),
                headline=summary.headline if summary is not None else "",
                size_bytes=summary.size_bytes if summary is not None else None,
                shared=how,
                told=line.text if line is not None else "",
                tokens=line.tokens if line is not None else 0,
                withheld=look.withheld.get(name, ""),
                columns=columns,
                column_count=max(len(look.columns.get(name, ())), len(columns)),
                hidden_count=len(labels),
            )
        )
    return ContextView(
        privacy=look.privacy,
        tokens=look.tokens,
        budget_tokens=look.budget_tokens,
        text=look.context.text,
        variables=variables,
        variable_count=len(summaries) + len(hidden),
        house_rules=[
            HouseRulesView(path=file.path, told=file.text, tokens=file.tokens, left_out=file.left_out)
            for file in look.house_rules.files
        ],
        sharing=sharing_view(shared, hidden_columns),
        forgotten=list(forgotten),
    )


def listed_columns(columns: Sequence[Column], hidden: frozenset[str], *, at_most: int) -> list[ColumnView]:
    """Return the columns in order; of too many, the hidden ones first; hidden ones that are gone come last."""
    if len(columns) > at_most:
        columns = sorted(columns, key=lambda column: column.label not in hidden)[: max(at_most, 0)]
    views = [ColumnView(name=c.label, dtype=c.dtype, hidden=c.label in hidden) for c in columns]
    present = {column.label for column in columns}
    gone = sorted(hidden - present)[:MAX_COLUMNS]
    return [*views, *(ColumnView(name=label, dtype="", hidden=True) for label in gone)]


def columns_message(look: LookAtVariables, hidden_columns: Labels, name: str, search: str) -> ColumnsMessage:
    """Return the answer to `find_columns`."""
    part = search.casefold()
    found = [column for column in look.columns.get(name, ()) if part in column.label.casefold()]
    hidden = hidden_columns.get(name, frozenset())
    return ColumnsMessage(
        type="columns",
        name=name,
        search=search,
        columns=[ColumnView(name=c.label, dtype=c.dtype, hidden=c.label in hidden) for c in found[:MAX_COLUMNS]],
        column_count=len(found),
    )
