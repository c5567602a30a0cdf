"""Describe what a run left in the sandbox: copies that it changed, variables that it made.

The text goes to the receipt and into the prompt; names and columns come from the sandbox and stay quoted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from jupyter_codeagent.agent.prompt.known_words import is_library_type, words_of
from jupyter_codeagent.agent.source import bound_names, loop_names, parse
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.sandbox import CopyChange, NamespaceEntry
from jupyter_codeagent.variables.text import safe

MAX_LISTED = 4
"""Limit for columns of one kind in the receipt."""
MAX_MADE = 20
MAX_LINES_CHARS = 600
MAX_TEXT_CHARS = 80
NOT_VARIABLES = frozenset({"module", "function", "type", "builtin_function_or_method"})


def with_effects(run: AgentRun, variables: Sequence[NamespaceEntry], changes: Sequence[CopyChange]) -> AgentRun:
    """Return the run with its effects; `variables` and `changes` are those of the sandbox before it."""
    result = run.steps[-1].result if run.steps else None
    if run.status != "ok" or result is None:
        return run
    known = {replace(change, earlier=True) for change in changes}
    return replace(
        run,
        changes=tuple(replace(change, earlier=change.earlier and change in known) for change in result.changes),
        made=made_variables(run, variables, result.namespace),
    )


def made_variables(
    run: AgentRun, before: Sequence[NamespaceEntry], after: Sequence[NamespaceEntry]
) -> tuple[NamespaceEntry, ...]:
    """Return the variables that the code assigns, and those that are new or look different.

    Copies, functions and loop variables are no results.
    """
    tree = parse(run.code)
    assigned = bound_names(tree) if tree is not None else set()
    looped = loop_names(tree) if tree is not None else set()
    copies = {copied.name for copied in run.manifest.copied}
    known = {entry.name: entry for entry in before}
    made = [
        entry
        for entry in after
        if entry.name.isidentifier()
        and not entry.name.startswith("_")
        and entry.name not in looped
        and entry.type_name not in NOT_VARIABLES
        and (entry.name in assigned or (entry.name not in copies and known.get(entry.name) != entry))
    ]
    return tuple(made[:MAX_MADE])


def receipt_lines(changes: Sequence[CopyChange]) -> tuple[str, ...]:
    """Format a line for each copy: ``changed its copy of flights (+ column 'speed')``."""
    return tuple(_receipt_line(change) for change in changes)


def _receipt_line(change: CopyChange) -> str:
    parts = _parts(change)
    details = f" ({', '.join(parts)})" if parts else ""
    if change.earlier:
        return f"its copy of {change.name} was {change.kind} by an earlier run{details}"
    if change.kind == "changed":
        return f"changed its copy of {change.name}{details}"
    return f"{change.kind} {change.name}{details}"


def _parts(change: CopyChange) -> list[str]:
    kinds = (("+", change.added), ("−", change.removed), ("values of", change.values))
    parts = [f"{sign} {_labels(labels)}" for sign, labels in kinds if labels]
    return [*parts, *(_safe(note) for note in change.notes[:MAX_LISTED])]


def _labels(labels: Sequence[str]) -> str:
    listed = ", ".join(_safe(label) for label in labels[:MAX_LISTED])
    return f"{listed} and {len(labels) - MAX_LISTED} more" if len(labels) > MAX_LISTED else listed


def format_differences(changes: Sequence[CopyChange], known: str, *, names_only: bool = False) -> str:
    """Format, for the prompt, how the sandbox's copies differ from the lines on the live variables.

    Labels are named if they occur in `known`, the code and context that the model sees anyway: others may be
    made of values, as those of dummy variables are. With `names_only` nothing else is included, not even a
    number of rows.
    """
    words = words_of(known)
    lines = [
        _difference_line(change, words, names_only=names_only) for change in changes if change.kind != "deleted"
    ]
    return "\n".join(line for line in lines if line)[:MAX_LINES_CHARS]


def _difference_line(change: CopyChange, words: frozenset[str], *, names_only: bool) -> str:
    if not words_of(change.name) <= words:
        return ""
    parts = []
    kinds = (("also has", change.added), ("no longer has", change.removed), ("has other values in", change.values))
    for verb, labels in kinds:
        known = [label for label in labels if words_of(label) <= words]
        more = "" if names_only else f"{len(labels) - len(known)} more"
        listed = [*([_labels(known)] if known else []), *([more] if more and len(labels) > len(known) else [])]
        if listed:
            parts.append(f"{verb} {' and '.join(listed)}")
    if not names_only:
        parts += [f"differs in: {_safe(note)}" for note in change.notes[:MAX_LISTED] if "'" not in note]
    what = "; ".join(parts) or "was changed"
    return f"In the sandbox, after the code above, {_safe(change.name)} {what}."


def format_made(made: Iterable[str], known: str) -> str:
    """Format, for the prompt, what earlier code made, the latest of each name.

    Variables that have a line in `known`, the lines on the live variables, are left out.
    """
    latest = {line.partition(":")[0]: line for line in made}
    live = {line.partition(":")[0] for line in known.split("\n")}
    lines = [f"{line}, made by the code above" for name, line in latest.items() if name not in live]
    return "\n".join(lines[-MAX_MADE:])[:MAX_LINES_CHARS]


def format_variable(entry: NamespaceEntry, *, names_only: bool = False) -> str:
    """Format a variable for the next prompt: ``daily: DataFrame 365x3 (day, flights)``.

    With `names_only` it is ``daily: DataFrame``.
    """
    if names_only:
        return f"{_safe(entry.name)}: {entry.type_name if is_library_type(entry.type_name) else 'object'}"
    text = f"{_safe(entry.name)}: {_safe(entry.type_name)}"
    shape = "x".join(str(size) for size in entry.shape)
    columns = ", ".join(_safe(column) for column in entry.columns[:12]) + (", …" if len(entry.columns) > 12 else "")
    return text + (f" {shape}" if shape else "") + (f" ({columns})" if columns else "")


def _safe(text: str) -> str:
    """Return one line that can neither end a fence nor hide its content."""
    return safe(text, MAX_TEXT_CHARS)
