"""The questions of a suite asked of a database: the tables of each task lie in DuckDB, and no frame is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evals.task import Task

NAME = "db"
AS_TABLES = """
import duckdb as _duckdb
{name} = _duckdb.connect()
for _table in {tables}:
    {name}.register("_given", globals().pop(_table))
    {name}.execute(f'CREATE TABLE "{{_table}}" AS SELECT * FROM _given')
    {name}.unregister("_given")
del _table
"""


def asked_of_databases(tasks: Sequence[Task]) -> list[Task]:
    """Return the first question of each task, its tables in a database; plots are left out."""
    return [
        replace(
            task,
            setup=task.setup + AS_TABLES.format(name=NAME, tables=task.variables),
            variables=(NAME,),
            turns=task.turns[:1],
        )
        for task in tasks
        if task.topic != "plot"
    ]
