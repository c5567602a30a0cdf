"""What profilers tell of the tables with planted findings: skrub's TableReport and ydata-profiling.

``python -m evals.suites.explore_peers``, with the extra ``bench``. They profile a table; they do not look for
findings. So they are judged kindly: a planted finding counts as told if a statement of theirs names its columns
and a fair reader could see it from that: a pair among the eight most associated ones of its table (as many insights
as `%agent explore` shows), an alert, or a count beside a column (values that are negative or far outside). Of three
columns a pair says nothing; of a change over time the association of the column with time does.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from evals.explore.case import Case, Planted
from evals.explore.judge import SHOWN, connections
from evals.explore.planted import planted_cases

PAIRS = ("group_difference", "correlation", "association", "same", "trend", "break", "season")
FEW = 0.05
"""Share up to which a count of negative or far values reads as a flaw."""


class Statement(NamedTuple):
    """What a report says of columns; `kinds` are the planted ones that a fair reader sees in it."""

    kinds: tuple[str, ...]
    columns: frozenset[str]


class Told(NamedTuple):
    """The statements of a report, and the page."""

    statements: list[Statement]
    html: str


def by_skrub(table: Any) -> Told:
    """Return what `TableReport` says: its strongest associations, and outliers and missing values by column."""
    from skrub import TableReport

    report = TableReport(table, verbose=0)
    html, told = report.html(), json.loads(report.json())
    pairs = [frozenset((one["left_column_name"], one["right_column_name"])) for one in told["top_associations"]]
    statements = [Statement(PAIRS, pair) for pair in pairs[:SHOWN]]
    for column in told["columns"]:
        outliers = column.get("n_low_outliers", 0) + column.get("n_high_outliers", 0)
        if 0 < outliers <= FEW * told["n_rows"]:
            statements.append(Statement(("outliers", "impossible"), frozenset([column["name"]])))
    return Told(statements, html)


def by_ydata(table: Any) -> Told:
    """Return what `ProfileReport` says: alerts, the strongest correlations, and negative values by column."""
    from data_profiling import ProfileReport

    report = ProfileReport(table, progress_bar=False)
    html, told = report.to_html(), report.get_description()
    matrix = told.correlations["auto"].abs().stack() if "auto" in told.correlations else {}
    pairs = {frozenset(pair): value for pair, value in dict(matrix).items() if len(set(pair)) == 2}
    strongest = sorted(pairs, key=lambda pair: -pairs[pair])
    statements = [Statement(PAIRS, pair) for pair in strongest[:SHOWN]]
    for alert in told.alerts:
        named = frozenset(filter(None, [alert.column_name]))
        kind = alert.alert_type.name
        if kind == "DUPLICATES":
            statements.append(Statement(("duplicates",), frozenset()))
        elif kind == "SKEWED":
            statements.append(Statement(("outliers", "impossible"), named))
        elif kind == "HIGH_CORRELATION":
            statements += [Statement(PAIRS, named | {other}) for other in alert.values.get("fields", ())]
    for name, column in told.variables.items():
        if 0 < column.get("p_negative", 0) <= FEW:
            statements.append(Statement(("impossible", "outliers"), frozenset([name])))
        if column["type"] in ("Numeric", "DateTime") and table[name].dtype == object:
            statements.append(Statement(("text_type",), frozenset([name])))
    absent = [name for name in table if table[name].isna().any()]
    together = table[absent].isna().corr() if absent else {}
    for one in absent:  # the heatmap of missing values
        others = [other for other in absent if other != one and together[one][other] > 1 / 2]
        statements += [Statement(("missing_together",), frozenset([one, other])) for other in others]
    return Told(statements, html)


def is_told(planted: Planted, case: Case, statements: list[Statement]) -> bool:
    """Check whether a fair reader sees what was planted in one of these statements about its table."""
    columns = planted.columns
    if planted.kind in ("trend", "break", "season") and planted.table in case.time:
        columns |= {case.time[planted.table]}
    if planted.kind == "missing_together":  # told by pairs
        return any(one.kinds == ("missing_together",) and one.columns <= columns for one in statements)
    return any(planted.kind in one.kinds and columns <= one.columns for one in statements)


def false_pairs(case: Case, table: str, statements: list[Statement]) -> Iterator[Statement]:
    """Yield the pairs among the strongest that no planted effect connects."""
    groups = [group for name, group in connections(case) if name == table]
    for one in [one for one in statements if one.kinds == PAIRS][:SHOWN]:
        if not any(one.columns <= group for group in groups):
            yield one


def main() -> None:
    """Print recall by kind, false pairs, processor time and size of the output."""
    warnings.simplefilter("ignore")
    cases = planted_cases("development")
    planted = Counter(one.kind for case in cases for one in case.planted)
    for name, report in (("skrub", by_skrub), ("ydata-profiling", by_ydata)):
        _print(name, report, cases, planted)


def _print(name: str, report: Callable[[Any], Told], cases: list[Case], planted: Counter[str]) -> None:
    told, pairs, false, size, words, seconds = Counter[str](), 0, 0, 0, 0, 0.0
    for case in cases:
        of_table = {}
        for table_name, table in case.tables.items():
            started = time.process_time()
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                of_table[table_name] = report(table)
            seconds += time.process_time() - started
            statements, html = of_table[table_name]
            pairs += min(SHOWN, sum(one.kinds == PAIRS for one in statements))
            false += sum(1 for _ in false_pairs(case, table_name, statements))
            size += len(html)
            words += len(re.sub(r"(?s)<(script|style|svg)\b.*?</\1>|<[^>]*>", " ", html).split())
        told.update(one.kind for one in case.planted if is_told(one, case, of_table[one.table].statements))
    tables = sum(len(case.tables) for case in cases)
    print(f"{name}: {told.total()} of {planted.total()} planted findings told")
    print(f"  {seconds:.0f} s of one core for {tables} tables")
    print(f"  of its {pairs} strongest pairs {false} have no planted effect; {size / 1e6:.0f} MB, {words:,} words")
    for kind, count in planted.items():
        print(f"  {kind}: {told[kind]} of {count}")


if __name__ == "__main__":
    main()
