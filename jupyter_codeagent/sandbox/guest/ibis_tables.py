"""Ibis tables of the user's for code in the sandbox: what an expression compiles to is a call, rows come back.

The table is of Ibis itself, over a backend without a connection, so that the code runs as it is on the user's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

CONVERTERS = {"duckdb": "DuckDBPandasData", "sqlite": "SQLitePandasData"}
HOW = "Write methods of the Ibis table, and .to_pandas() at the end."


def ibis_table(
    ask: Callable[[str, dict[str, Any]], Any], name: str, dialect: str, columns: Sequence[Sequence[str]]
) -> Any:
    """Return a table of Ibis with these columns, (name, type)."""
    import ibis
    import ibis.expr.operations as ops

    table = ops.DatabaseTable(
        name=f"{{{name}}}",  # as the host names it, where a table of the database may be called so
        schema=ibis.schema([(label, kind) for label, kind in columns]),
        source=_backend(ask, dialect),
        namespace=ops.Namespace(),
    )
    return table.to_expr()


@cache
def _backend(ask: Callable[[str, dict[str, Any]], Any], dialect: str) -> Any:
    """Return one backend for all tables, which can be joined then; the host knows which can in truth."""
    import ibis.expr.operations as ops

    module = f"ibis.backends.{dialect}"
    backend = import_module(module).Backend
    converter = getattr(import_module(f"{module}.converter"), CONVERTERS[dialect])

    class Asked(backend):  # type: ignore[misc, valid-type]  # of a module that is known only now
        def execute(self, expr: Any, /, *, params: Any = None, limit: Any = None, **_: Any) -> Any:
            return expr.__pandas_result__(self._rows(expr.as_table(), params, limit))

        def to_pyarrow(self, expr: Any, /, *, params: Any = None, limit: Any = None, **_: Any) -> Any:
            import pyarrow as pa

            table = expr.as_table()
            schema = table.schema().to_pyarrow()
            rows = pa.Table.from_pandas(self._rows(table, params, limit), schema=schema, preserve_index=False)
            return expr.__pyarrow_result__(rows)

        def to_polars(self, expr: Any, /, *, params: Any = None, limit: Any = None, **_: Any) -> Any:
            import polars as pl

            table = expr.as_table()
            return expr.__polars_result__(pl.from_arrow(self.to_pyarrow(table, params=params, limit=limit)))

        def _rows(self, table: Any, params: Any, limit: Any) -> Any:
            tables = [one for one in table.op().find(ops.DatabaseTable) if one.source is self]
            if not tables or table.op().find(ops.InMemoryTable):
                raise TypeError(f"only tables of the user's can be asked together. {HOW}")
            sql = self.compile(table, params=params, limit=limit)
            return converter.convert_table(ask(tables[0].name[1:-1], {"sql": sql}), table.schema())

        @property
        def con(self) -> Any:
            raise TypeError(f"no connection is here. {HOW}")

    return Asked()
