"""A column of another table is joined before the line that wants it, and no row is multiplied or lost."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from jupyter_codeagent.agent.rules.columns import join_lookup_table
from jupyter_codeagent.agent.rules.rule import Program
from jupyter_codeagent.types.sandbox import ExecutionError, ExecutionResult, NamespaceEntry
from jupyter_codeagent.types.variables import LiveNames
from jupyter_codeagent.variables.relations import Relation

JOIN = Relation(
    table="orders", columns=("'customer'",), key_table="customers", key_columns=("'cust_no'",), repeats=1
)


def tables() -> dict[str, pd.DataFrame]:
    return {
        "orders": pd.DataFrame({"customer": [1, 1, 2, 9], "net": [10.0, 5.0, 7.0, 3.0]}),
        "customers": pd.DataFrame({"cust_no": [1, 2, 2], "segment": ["a", "b", "b"], "since": [1, 2, 3]}),
    }


def failed(code: str, line: int, *, joins: tuple[Relation, ...] = (JOIN,), label: str = "segment") -> Program:
    names: dict[str, object] = dict(tables())
    for before in code.splitlines()[: line - 1]:
        exec(before, names)
    namespace = tuple(
        NamespaceEntry(name=name, type_name="DataFrame", shape=value.shape, columns=tuple(value.columns))
        for name, value in names.items()
        if isinstance(value, pd.DataFrame)
    )
    error = ExecutionError(ename="KeyError", evalue=repr(label), line=line)
    return Program(
        code=code,
        result=ExecutionResult(status="error", error=error, namespace=namespace),
        joins=joins,
        live=LiveNames(data={"orders": "DataFrame", "customers": "DataFrame"}),
    )


def result_of(code: str) -> pd.Series[float]:
    names: dict[str, object] = dict(tables())
    exec(code, names)
    found = names["found"]
    assert isinstance(found, pd.Series)
    assert list(names["orders"].columns) == ["customer", "net"]  # type: ignore[attr-defined]
    return found


def test_a_figure_by_a_column_of_the_lookup_table_counts_each_row_once() -> None:
    fix = join_lookup_table(failed("found = orders.groupby('segment')['net'].sum()", 1))
    assert fix is not None
    assert result_of(fix.code).to_dict() == {"a": 15.0, "b": 7.0}
    assert fix.notes[0] == "joined 'segment' of customers"


def test_rows_without_a_match_stay() -> None:
    code = "large = orders[orders['net'] > 2]\nfound = large['segment'].isna()"
    fix = join_lookup_table(failed(code, 2))
    assert fix is not None
    assert result_of(fix.code).sum() == 1


def test_a_table_that_the_program_has_cleaned_is_joined_in_its_place() -> None:
    code = (
        "customers_2 = customers.copy()\n"
        "customers_2['segment'] = customers_2['segment'].str.upper()\n"
        "found = orders.groupby('segment')['net'].sum()"
    )
    fix = join_lookup_table(failed(code, 3))
    assert fix is not None
    assert list(result_of(fix.code).index) == ["A", "B"]


def test_nothing_is_joined_that_is_not_known_to_join_or_not_missing_there_alone() -> None:
    code = "found = orders.groupby('segment')['net'].sum()"
    assert join_lookup_table(failed(code, 1, joins=())) is None
    assert join_lookup_table(failed(code, 1, label="region")) is None
    assert join_lookup_table(failed("found = customers['net'].sum()", 1, label="net")) is None
    both = Relation(table="orders", columns=("'net'",), key_table="customers", key_columns=("'since'",))
    assert join_lookup_table(failed(code, 1, joins=(JOIN, both))) is None


def test_the_users_own_table_is_joined_and_not_one_that_an_earlier_program_made_of_it() -> None:
    """The accepted code would need that one in the user's kernel, where it may not be."""
    code = "customers_2 = customers.dropna()\nfound = orders.groupby('segment')['net'].sum()"
    fix = join_lookup_table(replace(failed(code, 2), copied=("orders", "customers")))
    assert fix is not None
    assert fix.notes[0] == "joined 'segment' of customers"


def test_what_the_program_has_added_to_the_users_table_is_joined_from_there() -> None:
    code = "customers_2 = customers.assign(region='north')\nfound = orders.groupby('region')['net'].sum()"
    fix = join_lookup_table(replace(failed(code, 2, label="region"), copied=("orders", "customers")))
    assert fix is not None
    assert fix.notes[0] == "joined 'region' of customers_2"
