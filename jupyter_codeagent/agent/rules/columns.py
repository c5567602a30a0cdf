"""Columns and tables that the code names in a way that Python, pandas or the data does not follow."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from jupyter_codeagent.agent.rules.error_reading import frames, missing_labels, same_columns
from jupyter_codeagent.agent.rules.rule import Fix, Program, edited, with_line_before
from jupyter_codeagent.agent.rules.user_variables import keep_variables
from jupyter_codeagent.agent.source import (
    Edit,
    span,
    statement_at,
)
from jupyter_codeagent.types.sandbox import NamespaceEntry
from jupyter_codeagent.variables.mentions import label_text
from jupyter_codeagent.variables.relations import Relation


def respell_columns(program: Program) -> Fix | None:
    """Correct labels that differ from a column in case, blanks or underscores only.

    With the first come all others, each of which would otherwise cost a run of its own.
    """
    tree, code, error, namespace = program.tree, program.code, program.error, program.namespace
    right = same_columns(missing_labels(error), namespace)
    if not right:
        return None
    right |= same_columns(sorted(_read_labels(tree)), namespace)
    edits = [edit for node in ast.walk(tree) for edit in _relabel(code, node, right)]
    notes = tuple(f"column {label!r} is {column!r}" for label, column in right.items())
    return edited(program, edits, *notes)


def _read_labels(tree: ast.Module) -> set[str]:
    """Labels that the code takes from something by ``["label"]``, and that stand nowhere else in it.

    What `assign`, `agg` or `rename` make stands there as a keyword or as another text.
    """
    read: set[str] = set()
    as_index: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            parts = node.slice.elts if isinstance(node.slice, ast.List) else [node.slice]
            for part in parts:
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    read.add(part.value)
                    as_index.add(id(part))
    elsewhere = {word.arg for word in ast.walk(tree) if isinstance(word, ast.keyword)}
    elsewhere |= {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in as_index
        and isinstance(node.value, str)
    }  # fmt: skip
    return read - elsewhere


def _relabel(code: str, node: ast.AST, right: dict[str, str]) -> Iterator[Edit]:
    match node:
        case ast.Constant(value=str(label)) if label in right:
            start, end = span(code, node)
            if code[start:end] in (repr(label), f'"{label}"'):  # not a part of an f-string, not a docstring
                yield Edit(start=start, end=end, text=repr(right[label]))
        case ast.Attribute(attr=label) if label in right and right[label].isidentifier():
            _, end = span(code, node)
            yield Edit(start=end - len(label), end=end, text=right[label])


def use_joined_table(program: Program) -> Fix | None:
    """Use `flown`, joined of `planes` and `flights`, in ``planes.groupby("origin")["seats"]``.

    Only where the statement reads one table, writes none, and one other table alone has every column in it.
    """
    tree, code, error, namespace = program.tree, program.code, program.error, program.namespace
    statement = statement_at(tree, error.line)
    missing = set(missing_labels(error))
    if statement is None or not missing:
        return None
    tables = {entry.name: frozenset(entry.columns) for entry in frames(namespace)}
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id in tables]
    if len({node.id for node in names}) != 1 or any(isinstance(node.ctx, ast.Store) for node in names):
        return None
    columns, known = tables[names[0].id], frozenset().union(*tables.values())
    if missing & columns or any(isinstance(getattr(node, "ctx", None), ast.Store) for node in _parts(statement)):
        return None
    texts = {node.value for node in ast.walk(statement) if isinstance(node, ast.Constant)}
    attributes = {node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute)}
    wanted = missing | {text for text in texts | attributes if isinstance(text, str) and text in known}
    having = [name for name, others in tables.items() if wanted <= others]
    if "drop" in attributes or len(having) != 1:
        return None
    joined = tables[having[0]]
    if not any(_is_join(joined, columns, other) for other in tables.values() if missing <= other):
        return None
    edits = [Edit(start=start, end=end, text=having[0]) for start, end in (span(code, node) for node in names)]
    return edited(
        program, edits, f"{having[0]} has {' and '.join(map(repr, sorted(wanted)))}, {names[0].id} has not"
    )


def join_lookup_table(program: Program) -> Fix | None:
    """Join the column of `customers`, which alone has it, in the line before ``orders.groupby("segment")``.

    Only where the tables are known to join on one column. Each row of the table stays one row: of keys that stand
    twice in the other table the first counts, and rows without a match stay.
    """
    statement = statement_at(program.tree, program.error.line)
    labels = missing_labels(program.error)
    if statement is None or not labels:
        return None
    tables = {entry.name: entry for entry in frames(program.namespace) if entry.type_name == "DataFrame"}
    read = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} & tables.keys()
    found = [
        (frame, join, lookup)
        for frame in read
        for join in program.joins
        if len(join.columns) == 1
        and label_text(join.columns[0]) in tables[frame].columns
        and (lookup := _lookup_of(join, labels, tables, program.copied)) is not None
        and lookup.name != frame
        and not {*labels} & {*tables[frame].columns}
    ]
    if len(found) != 1:
        return None
    [(frame, join, lookup)] = found
    key, column = label_text(join.key_columns[0]), label_text(join.columns[0])
    used = {node.value for node in ast.walk(program.tree) if isinstance(node, ast.Constant)}
    wanted = [one for one in lookup.columns if one in used and one not in {*tables[frame].columns, key}]
    on = f"on={key!r}" if key == column else f"left_on={column!r}, right_on={key!r}"
    line = f'{frame} = {frame}.merge({lookup.name}[{[key, *wanted]!r}].drop_duplicates({key!r}), {on}, how="left")'
    joined = with_line_before(
        program, statement, line, f"joined {' and '.join(map(repr, wanted))} of {lookup.name}"
    )
    if joined is None:
        return None
    kept = keep_variables(replace(program, code=joined.code))
    return joined if kept is None else replace(kept, notes=(*joined.notes, *kept.notes))


def _lookup_of(
    join: Relation, labels: Collection[str], tables: Mapping[str, NamespaceEntry], copied: Collection[str]
) -> NamespaceEntry | None:
    """Return the user's table with the key and these columns, else the latest made in its place (`customers_2`).

    What an earlier program made may not be in the user's kernel, where the accepted code would need it.
    """
    form, wanted = re.compile(rf"{re.escape(join.key_table)}(?:_\d+)?"), {*labels, label_text(join.key_columns[0])}
    having = [one for name, one in tables.items() if form.fullmatch(name) and wanted <= {*one.columns}]
    return next((entry for entry in having if entry.name in copied), having[-1] if having else None)


def _is_join(whole: frozenset[str], one: frozenset[str], other: frozenset[str]) -> bool:
    """Check whether a table with these columns was joined from two with those.

    It has what only the one has, what only the other has, and nothing else. Of tables of the same kind, of two
    years for example, not each has a column of its own.
    """
    own = {re.sub(r"_[xy]$", "", column) for column in whole}
    return bool(own <= one | other and own & (one - other) and own & (other - one) and one - own <= other)


def _parts(statement: ast.stmt) -> list[ast.AST]:
    """Subscripts and attributes: what is written to a table."""
    return [node for node in ast.walk(statement) if isinstance(node, ast.Subscript | ast.Attribute)]


def _has(frame: str, label: str, namespace: Sequence[NamespaceEntry]) -> bool:
    return any(entry.name == frame and label in entry.columns for entry in namespace)
