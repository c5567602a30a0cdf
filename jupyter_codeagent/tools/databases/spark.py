"""Spark: one SELECT over tables, views and DataFrames of the user's session, checked before Spark plans it.

A DataFrame is named in braces, as `spark.sql("… {trips}", trips=trips)` has it. Such text is never formatted with
attributes of anything: a name in braces is that of a shared DataFrame, or the query is refused.

Behind the SQL check stands Spark's own parser: the relations that it reads have to be the shared ones, and the
parts of its plan known. Views and DataFrames run as the user made them.

"""

from __future__ import annotations

import logging
import re
import sys
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from string import Formatter
from typing import TYPE_CHECKING, Any

from jupyter_codeagent.tools.databases import rows
from jupyter_codeagent.tools.databases.functions import KNOWN, names_of
from jupyter_codeagent.tools.databases.statements import Statement
from jupyter_codeagent.tools.databases.table_sharing import KnownTable, SharedTables, checked_statement, in_braces
from jupyter_codeagent.types.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

MAX_LISTED = 50
"""Tables whose columns are looked up unless some are named."""
RELATION = "'UnresolvedRelation ["
"""Before the name of a table, and ``]``, in a plan as Spark prints it."""
PART = re.compile(r"(?:\A|[:+]- )'?(\w+)")
"""A line of a plan as Spark prints it: ``:  +- 'Project [*]``."""
PARTS = names_of("""
    Project Filter Aggregate Join Sort GlobalLimit LocalLimit Offset Distinct Union Except Intersect SubqueryAlias
    UnresolvedRelation UnresolvedWith CTE UnresolvedSubqueryColumnAliases UnresolvedHaving WithWindowDefinition
    Generate LateralJoin UnresolvedInlineTable LocalRelation OneRowRelation UnresolvedTableValuedFunction Sample
    Pivot Unpivot UnresolvedQualify
""")
OWN_CLASSES = "org.apache.spark.sql.catalyst."
OWN_NAME = re.compile(r"`?_pyspark_[0-9a-f]{32}`?\.?")
"""What PySpark calls a DataFrame in a query."""
STOPPED_S = 0.2
UNKNOWN_BYTES = 1 << 60
"""What Spark says of a table whose size it does not know is larger (`spark.sql.defaultSizeInBytes`)."""

Frames = Mapping[str, Any]
"""DataFrames of the user's that queries may name in braces."""


def check_spark(session: Any) -> None:
    """Raise UsageError for a session whose queries cannot be kept to what is shared."""
    if session.conf.get("spark.sql.caseSensitive") != "false":
        raise UsageError("sql_tool: names are compared without case here, and spark.sql.caseSensitive is set.")


def is_local(session: Any) -> bool:
    """Check whether Spark runs on this machine, for the user alone."""
    return str(session.sparkContext.master).startswith("local")


def run_spark(session: Any, sql: str, shared: SharedTables, frames: Frames) -> pd.DataFrame:
    """Run a query in a job group of its own, which ends with this call, on a thread: Ctrl+C waits for no job.

    Raises
    ------
    PermissionError
        It is more than a query of shared tables.
    ValueError
        Spark does not understand it, or its result is too large.
    """
    group = f"codeagent-{uuid.uuid4().hex}"
    with ThreadPoolExecutor(1, "codeagent-spark") as thread:
        running = thread.submit(_rows, session, sql, shared, frames, group)
        try:
            return running.result()
        except BaseException:
            while not running.done():  # one query may be several jobs
                session.sparkContext.cancelJobGroup(group)
                wait([running], timeout=STOPPED_S)
            raise


def _rows(session: Any, sql: str, shared: SharedTables, frames: Frames, group: str) -> pd.DataFrame:
    text, used = checked_query(session, sql, shared, frames)
    session.sparkContext.setJobGroup(group, "a query that %%agent asks")
    with _plain_errors():
        query = session.sql(text, **used).limit(rows.MAX_ROWS + 1)
        frame: pd.DataFrame = query.toPandas()
    rows.check_size(rows=len(frame), size_bytes=int(frame.memory_usage(deep=True).sum()))
    return rows.with_rows_scanned(frame, _rows_scanned(query))


def _rows_scanned(query: Any) -> int:
    """Return the rows that a query has read, as Spark counted them in its plan; 0 if it did not."""
    total = 0
    try:
        plans = [query._jdf.queryExecution().executedPlan()]
        while plans:
            plan = plans.pop()
            kind = str(plan.getClass().getSimpleName())
            if kind == "AdaptiveSparkPlanExec":
                plans.append(plan.executedPlan())
                continue
            if kind.endswith("QueryStageExec"):
                plans.append(plan.plan())
                continue
            parts = (plan.children(), plan.subqueries())
            plans += [part.apply(at) for part in parts for at in range(part.size())]
            metric = plan.metrics().get("numOutputRows")
            if plan.children().isEmpty() and metric.isDefined():
                total += int(metric.get().value())
    except Exception:  # noqa: BLE001  (of a Spark whose plans are other than those known: the rows are here all the same)
        return 0
    return total


def spark_bytes(session: Any, sql: str, shared: SharedTables, frames: Frames) -> int:
    """Return how much a query reads as Spark expects; 0 if it does not know. Raises what running it would first."""
    text, used = checked_query(session, sql, shared, frames)
    with _plain_errors():
        leaves = session.sql(text, **used)._jdf.queryExecution().optimizedPlan().collectLeaves()
        sizes = [int(leaves.apply(at).stats().sizeInBytes()) for at in range(leaves.size())]
    return sum(sizes) if max(sizes, default=0) < UNKNOWN_BYTES else 0


def checked_query(session: Any, sql: str, shared: SharedTables, frames: Frames) -> tuple[str, Frames]:
    """Return the text and the DataFrames for `session.sql`, which has tables and frames with shared columns alone.

    Raises
    ------
    PermissionError
    """
    if not session._jsparkSession.sessionState().catalogManager().tempVariableManager().isEmpty():
        raise PermissionError("the session has variables of SQL, which a query could read: drop them first")
    statement = checked_statement(with_quoted_frames(sql, frames), "spark", shared)
    _check_functions(session, statement)
    _check_plan(session, statement, shared)
    tables = {key: table for key, table in shared.by_name.items() if table.source[0] not in map(in_braces, frames)}
    text = replace(shared, by_name=tables).narrowed(statement)
    used = {name: frame for name, frame in frames.items() if (in_braces(name).lower(),) in statement.outer}
    if used:  # else PySpark formats nothing
        text = text.replace("{", "{{").replace("}", "}}")
    for name in used:
        text = text.replace(f"`{in_braces(in_braces(name))}`", in_braces(name))
    columns = {name: shared.by_name[in_braces(name).lower()].columns for name in used}
    return text, {name: _selected(frame, columns[name]) for name, frame in used.items()}


def with_quoted_frames(sql: str, frames: Frames) -> str:
    """Return the SQL with ```{trips}``` for ``{trips}``, a name like any other.

    Raises
    ------
    PermissionError
        What stands in braces is not the name of a frame alone.
    """
    pieces: list[str] = []
    try:
        for text, name, form, conversion in Formatter().parse(sql):
            pieces.append(text)
            if name is None:
                continue
            if name not in frames or form or conversion:
                known = ", ".join(map(in_braces, frames)) or "none"
                raise PermissionError(f"{in_braces(name[:60])} is no DataFrame that is shared; those are: {known}")
            pieces.append(f"`{in_braces(name)}`")
    except ValueError as problem:
        raise PermissionError(f"the braces of the query cannot be read: {problem}") from problem
    return "".join(pieces)


def _check_functions(session: Any, statement: Statement) -> None:
    """Refuse functions of the user with the name of a known one, which Spark before 4 calls in its place."""
    for name in sorted(statement.words & KNOWN["spark"]):
        if not session.catalog.functionExists(name):
            continue  # part of the language, or a column
        known = str(session.catalog.getFunction(name).className)
        if not known.startswith(OWN_CLASSES):
            raise PermissionError(f"{name[:60]}() is a function of this session, which is not allowed here")


def _check_plan(session: Any, statement: Statement, shared: SharedTables) -> None:
    """Check what Spark's own parser makes of the statement: the relations that it reads, and its parts."""
    with _plain_errors():
        plan = str(session._jsparkSession.sessionState().sqlParser().parsePlan(statement.text).toString())
    relations = {found.partition("]")[0].lower() for found in plan.split(RELATION)[1:]}
    if unknown := sorted(relations - {*shared.by_name} - statement.named):
        raise PermissionError(f"there is no table {unknown[0][:60]!r}")
    if unknown := sorted({part for line in plan.split("\n") for part in PART.findall(line)} - PARTS):
        raise PermissionError(f"{unknown[0][:60]} is not allowed here")


def _selected(frame: Any, columns: Sequence[str]) -> Any:
    return frame if [*columns] == frame.columns else frame.select(*map(_quoted, columns))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Raise Spark's errors as a line without its plan, and keep what it logs of them off the user's screen."""
    thread = threading.get_ident()

    def of_others(record: logging.LogRecord) -> bool:
        return record.thread != thread

    module = sys.modules.get("pyspark.logger")  # since PySpark 4; its loggers are of a class of their own
    loggers = [module.PySparkLogger.getLogger("SQLQueryContextLogger")] if module else []
    for logger in loggers:
        logger.addFilter(of_others)
    try:
        yield
    except Exception as problem:
        lines = [line.strip() for line in str(problem).split("\n") if line.strip()]
        said = " ".join(lines[:2] if lines and lines[0].startswith("An error occurred") else lines[:1])
        raise ValueError(f"Spark: {OWN_NAME.sub('', said)}") from problem
    finally:
        for logger in loggers:
            logger.removeFilter(of_others)


# --- tables -----------------------------------------------------------------------------------------------


def spark_found(session: Any, parts: Sequence[str]) -> list[KnownTable]:
    """Return the table or view of this name, ``trips`` or ``sales.trips``.

    For no parts: those of the current database and temporary views.

    Raises
    ------
    UsageError
        There are too many.
    """
    if parts:
        name = ".".join(map(_quoted, parts))
        found = [session.catalog.getTable(name)] if session.catalog.tableExists(name) else []
    else:
        found = session.catalog.listTables()
    if len(found) > MAX_LISTED:
        raise UsageError(
            f"sql_tool: the database has {len(found)} tables: name those that the question is about, in brackets."
        )
    sources = [(*filter(None, [table.catalog]), *(table.namespace or ()), table.name) for table in found]
    return [
        KnownTable(source=source, columns=_columns(session.table(".".join(map(_quoted, source)))))
        for source in sources
    ]


def frame_found(name: str, frame: Any, _parts: Sequence[str]) -> list[KnownTable]:
    """Return a DataFrame as queries name it."""
    return [KnownTable(source=(in_braces(name),), columns=_columns(frame))]


def _columns(frame: Any) -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in frame.schema.fields}
