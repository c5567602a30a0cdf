"""The report of the sandbox about tables, read: it is text from hostile code, so that only what fits comes in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from keyword import iskeyword
from typing import Any, cast, get_args

from jupyter_codeagent.explore.facts import SHAPES, NotAFactError, count, iso_date, read_facts, share
from jupyter_codeagent.sandbox.guard import one_line
from jupyter_codeagent.sandbox.guest_reports import items_of, json_object
from jupyter_codeagent.types.errors import VariableError
from jupyter_codeagent.types.exploration import (
    OF_TWO_TABLES,
    ColumnOverview,
    ColumnRole,
    DatesCovered,
    Exploration,
    Finding,
    FindingKind,
    Library,
    SkippedTable,
    TableOverview,
)

MAX_REPORT_CHARS = 4 << 20
MAX_TABLES = 20
MAX_COLUMNS = 2000
MAX_FINDINGS = 2000
MAX_KEYS, MAX_KEY_COLUMNS = 2, 2
MAX_LEVELS = 20
MAX_TYPE_CHARS = 60
MAX_REASON_CHARS = 200

Columns = Mapping[str, Collection[str]]
"""Columns by table, as the host knows them: no other name gets into words or code."""


def read_report(text: str, columns: Columns) -> Exploration:
    """Read the guest's report; tables, columns and findings that are malformed or not the user's are left out.

    Raises
    ------
    VariableError
        It is not a JSON object at all.
    """
    try:
        if len(text) > MAX_REPORT_CHARS:
            raise ValueError(f"it has {len(text):,} characters, the limit is {MAX_REPORT_CHARS:,}")
        report = json_object(text)
    except ValueError as problem:
        raise VariableError(f"The sandbox's report on the tables cannot be read: {problem}.") from problem
    known = {name: frozenset(of) for name, of in columns.items() if name.isidentifier() and not iskeyword(name)}
    tables = {
        one.table: one for item in _objects(report.get("tables"), MAX_TABLES) if (one := _overview(item, known))
    }
    return Exploration(
        tables=tuple(tables.values()),
        findings=tuple(
            found
            for item in _objects(report.get("findings"), MAX_FINDINGS)
            if (found := _finding(item, {name: known[name] for name in tables}))
        ),
        tried=_count(report.get("tried")),
        skipped=tuple(
            SkippedTable(table=name, why=one_line(item.get("why"), MAX_REASON_CHARS))
            for item in _objects(report.get("skipped"), MAX_TABLES)
            if isinstance(name := item.get("table"), str) and name in known
        ),
    )


def _finding(item: dict[str, Any], known: Columns) -> Finding | None:
    kind, table, facts = item.get("kind"), item.get("table"), item.get("facts")
    if not isinstance(kind, str) or kind not in get_args(FindingKind) or not isinstance(facts, dict):
        return None
    if not isinstance(table, str) or table not in known:
        return None
    kind = cast("FindingKind", kind)
    try:
        read = read_facts(kind, facts)
        columns = _columns(kind, table, item.get("columns"), facts, known)
        return Finding(
            kind=kind,
            table=table,
            columns=columns,
            effect=share(item.get("effect")),
            p_value=share(item.get("p_value")),
            facts=read,
        )
    except NotAFactError:
        return None


def _columns(
    kind: FindingKind, table: str, value: object, facts: Mapping[str, Any], known: Columns
) -> tuple[str, ...]:
    shape = SHAPES[kind]
    fewest, most = shape.columns
    is_join = kind in OF_TWO_TABLES
    if not isinstance(value, list) or not fewest <= len(value) <= most:
        raise NotAFactError("not so many columns")
    if not all(isinstance(name, str) for name in value):
        raise NotAFactError("not a name")
    right = facts["right"] if is_join else table
    if is_join and (facts["left"] != table or right not in known or right == table):
        raise NotAFactError("not a table")
    ours = len(value) // 2 if is_join else len(value)
    theirs = len(value) - ours
    if is_join and ours != theirs:
        raise NotAFactError("not so many keys as columns")
    if len(set(value[:ours])) < ours or len(set(value[ours:])) < theirs:
        raise NotAFactError("the same column twice")
    for place, name in enumerate(value):
        of = table if place < ours else right
        if name not in known[of] and not (place == 0 and name == "" and shape.may_count_rows):
            raise NotAFactError("not a column")
    return tuple(value)


def _overview(item: dict[str, Any], known: Columns) -> TableOverview | None:
    table, library = item.get("table"), item.get("library")
    if not isinstance(table, str) or table not in known or library not in get_args(Library):
        return None
    columns = known[table]
    keys = [key for key in items_of(item.get("keys"), MAX_KEYS) if _is_key(key, columns)]
    described = {
        one["name"]: ColumnOverview(
            name=one["name"],
            type=one_line(one.get("type"), MAX_TYPE_CHARS),
            role=cast("ColumnRole", role if (role := one.get("role")) in get_args(ColumnRole) else "other"),
            missing=_count(one.get("missing")),
            distinct=_count(one.get("distinct")),
            infinite=_count(one.get("infinite")),
        )
        for one in _objects(item.get("columns"), MAX_COLUMNS)
        if isinstance(one.get("name"), str) and one["name"] in columns
    }
    index = tuple(items_of(item.get("index"), MAX_LEVELS))
    index = index if all(isinstance(name, str) and name in described for name in index) else ()
    return TableOverview(
        table=table,
        library=cast("Library", library),
        rows=_count(item.get("rows")),
        columns=tuple(described.values()),
        keys=tuple(tuple(key) for key in keys),
        repeated_rows=_count(item.get("repeated_rows")),
        dates=_dates(item.get("dates"), columns),
        sampled=_count(item.get("sampled")),
        labels=max(_count(item.get("labels")), len(described) - len(index)),
        labelled=item.get("labelled") is True,
        index=index,
    )


def _is_key(key: object, columns: Collection[str]) -> bool:
    return (
        isinstance(key, list)
        and 1 <= len(key) <= MAX_KEY_COLUMNS
        and all(isinstance(name, str) and name in columns for name in key)
    )


def _dates(value: object, columns: Collection[str]) -> DatesCovered | None:
    if not isinstance(value, dict) or not isinstance(column := value.get("column"), str) or column not in columns:
        return None
    try:
        return DatesCovered(column=column, first=iso_date(value.get("first")), last=iso_date(value.get("last")))
    except NotAFactError:
        return None


def _count(value: object) -> int:
    try:
        return count(value)
    except NotAFactError:
        return 0


def _objects(value: object, limit: int) -> list[dict[str, Any]]:
    return [item for item in items_of(value, limit) if isinstance(item, dict)]
