"""Explore whole tables: run all finders on each, within the time, and report what they found as plain values."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import chain, islice, zip_longest
from typing import Any

from .absence import find_missing
from .associations import find_associations, find_correlations, find_same
from .group_trends import find_group_trends
from .groups import find_group_differences
from .joins import KeyReader, find_joins
from .overview import describe
from .quality import count_repeated_rows, find_duplicates, find_extremes, find_gaps
from .ratios import find_ratios
from .reversals import find_reversals
from .search import Finding, Search
from .sources import open_source
from .spellings import find_key_spellings, find_spellings
from .table import Table
from .texts import find_text_types
from .time_patterns import find_time_patterns

MAX_FINDINGS = 60
LIMIT = 0.01
"""Of p-values, times the number of hypotheses tried."""

FINDERS: tuple[tuple[str, Callable[[Table, Search], None]], ...] = (
    ("text types", find_text_types),
    ("spellings", find_spellings),
    ("missing values", find_missing),
    ("extreme values", find_extremes),
    ("gaps", find_gaps),
    ("repeated columns", find_same),
    ("ratios", find_ratios),
    ("associations", find_associations),
    ("group differences", find_group_differences),
    ("correlations", find_correlations),
    ("time patterns", find_time_patterns),
    ("trends of groups", find_group_trends),
    ("reversals and interactions", find_reversals),
)
"""Cheap ones first; what is a copy or a recoding has to be known before relations are looked for."""


def explore(
    tables: dict[str, object], leave_out: dict[str, list[str]], seconds: float, max_rows: int
) -> dict[str, Any]:
    """Return overviews of the tables and what was found in them; `leave_out` names columns no finding is about."""
    began = time.monotonic()
    skipped: list[dict[str, str]] = []
    opened = _open(tables, leave_out, max_rows, skipped)
    overviews, findings, tried = [], [], 0
    for place, table in enumerate(opened):
        left = began + seconds - time.monotonic()
        sizes = [_cost(other) for other in opened[place:]]
        deadline = time.monotonic() + left * sizes[0] / sum(sizes)
        search = Search(table.name, deadline)
        overviews.append(_overview(table, search, skipped))
        _find(table, search, skipped)
        findings += search.findings
        tried += search.tried
        table.forget()
    if len(opened) > 1:
        search = Search("", began + seconds)
        reader = KeyReader()
        _try("joins", lambda: find_joins(opened, reader, search), search, skipped)
        _try("spellings of keys", lambda: find_key_spellings(opened, reader, search), search, skipped)
        findings += search.findings
    return {
        "tables": overviews,
        "findings": [finding.as_json() for finding in choose(findings, tried)],
        "tried": tried,
        "skipped": skipped,
    }


def _cost(table: Table) -> float:
    """Return the relative time that a table may take: also small ones need some."""
    return (table.size + 5000) * (len(table.columns) + 5)


def _open(
    tables: dict[str, object], leave_out: dict[str, list[str]], max_rows: int, skipped: list[dict[str, str]]
) -> list[Table]:
    opened = []
    for name, value in tables.items():
        try:
            source = open_source(value)
            if source is None:
                skipped.append(
                    {
                        "table": name,
                        "why": f"it is of type {type(value).__name__}: convert it to a pandas or polars DataFrame",
                    }
                )
                continue
            table = Table(name, source, leave_out.get(name, []), max_rows)
        except Exception as problem:  # noqa: BLE001  (a table may fail in any way; the others are looked at)
            skipped.append({"table": name, "why": f"{type(problem).__name__}: {problem}"[:300]})
            continue
        skipped += [{"table": name, "why": note} for note in table.notes]
        if table.columns:
            opened.append(table)
        elif not table.notes:
            skipped.append({"table": name, "why": "it has no columns"})
    return opened


def _overview(table: Table, search: Search, skipped: list[dict[str, str]]) -> dict[str, Any]:
    repeated = 0

    def find() -> None:
        nonlocal repeated
        repeated = count_repeated_rows(table)
        find_duplicates(table, search, repeated)

    _try("duplicates", find, search, skipped)
    return describe(table, repeated)


def _find(table: Table, search: Search, skipped: list[dict[str, str]]) -> None:
    if table.size < 2:
        return
    for name, find in FINDERS:
        if search.is_over():
            skipped.append({"table": table.name, "why": f"{name} and later steps were left out: time ran out"})
            return
        _try(name, lambda find=find: find(table, search), search, skipped)  # type: ignore[misc]


def _try(name: str, find: Callable[[], None], search: Search, skipped: list[dict[str, str]]) -> None:
    """Run one finder; its failure, or that it was cut short, is reported and the others go on."""
    was_cut_short = search.cut_short
    try:
        find()
    except Exception as problem:  # noqa: BLE001  (values of any kind: what one finder cannot take, others may)
        skipped.append({"table": search.table, "why": f"{name}: {type(problem).__name__}: {problem}"[:300]})
    if search.cut_short and not was_cut_short:
        skipped.append({"table": search.table, "why": f"{name}: time ran out before everything was examined"})


def choose(findings: list[Finding], tried: int) -> list[Finding]:
    """Return the best of each kind in turn, without what the number of tries explains.

    At most `MAX_FINDINGS`, and all columns of text that mean something else: the programs read them as these say.
    """
    kinds: dict[str, list[Finding]] = {}
    for finding in sorted(findings, key=lambda one: -one.effect):
        if finding.p_value * max(tried, 1) <= LIMIT and not _is_mirrored(finding, kinds):
            kinds.setdefault(finding.kind, []).append(finding)
    texts = kinds.pop("text_type", [])
    by_rank = chain.from_iterable(zip_longest(*kinds.values()))
    chosen = {id(one) for one in islice(filter(None, by_rank), MAX_FINDINGS)}
    return [*texts, *(finding for found in kinds.values() for finding in found if id(finding) in chosen)]


def _is_mirrored(finding: Finding, kinds: dict[str, list[Finding]]) -> bool:
    """Check for an interaction that is already there with group and stratum exchanged."""
    if finding.kind != "interaction":
        return False
    mirrored = (finding.columns[0], finding.columns[2], finding.columns[1])
    return any(one.columns == mirrored and one.table == finding.table for one in kinds.get("interaction", []))
