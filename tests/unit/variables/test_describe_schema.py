"""Under `schema` the prompt has no value of any kind of variable, and no length that is one."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import functools
import pathlib
import typing
import uuid
from collections.abc import Callable
from typing import Any

import duckdb
import matplotlib.figure
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sqlalchemy
import xarray as xr

from jupyter_codeagent.types.variables import Privacy
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.render import render

TEXT, NUMBER, YEAR = "Zoraquill", 714231, 2714
CANARIES = (TEXT, str(NUMBER), str(YEAR))
FEW: Any = [TEXT, "b"] * 10


def told(value: Any, privacy: Privacy = "schema") -> str:
    summaries = describe({"x": value}, privacy=privacy, mentioned="x")
    return render(summaries, budget_tokens=10_000, mentioned="x", count_tokens=len).text


def enum_of_duckdb() -> Any:
    connection = duckdb.connect()
    connection.execute(f"CREATE TYPE mood AS ENUM ('{TEXT}', 'b')")
    connection.execute(f"CREATE TABLE t AS SELECT '{TEXT}'::mood AS m, {{'k': ['{TEXT}'::mood]}} AS s")
    return connection


def drawn() -> Any:
    figure = matplotlib.figure.Figure()
    axes = figure.subplots()
    axes.set_title(TEXT)
    axes.set_xlabel(str(NUMBER))
    return figure


def kinds_of_members() -> Any:
    return enum.Enum("Kinds", {TEXT: 1, "b": 2})


@dataclasses.dataclass
class Record:
    name: str
    n: int


Row = collections.namedtuple("Row", ["a", "b"])


def function(x: typing.Literal["Zoraquill"] = "Zoraquill") -> None:
    """Zoraquill is what it is about."""


KINDS: dict[str, Callable[[], Any]] = {
    "categories": lambda: pd.DataFrame({"a": pd.Categorical(FEW)}),
    "a series of categories": lambda: pd.Series(pd.Categorical(FEW)),
    "an index of categories": lambda: pd.DataFrame({"a": range(20)}, index=pd.CategoricalIndex(FEW)),
    "categories by themselves": lambda: pd.Categorical(FEW),
    "intervals": lambda: pd.DataFrame({"a": pd.cut([NUMBER - 1, NUMBER + 5], [NUMBER - 2, NUMBER, NUMBER + 9])}),
    "an index of intervals": lambda: pd.Series([1], index=pd.IntervalIndex.from_breaks([1, NUMBER])),
    "index levels": lambda: pd.DataFrame({"a": [1]}, index=pd.MultiIndex.from_tuples([(TEXT, NUMBER)])),
    "sparse": lambda: pd.Series(pd.arrays.SparseArray([NUMBER, NUMBER, 1], fill_value=NUMBER)),
    "attributes": lambda: pd.DataFrame({"a": [1]}).pipe(lambda frame: [frame.attrs.update(of=TEXT), frame][1]),
    "a range of rows": lambda: pd.RangeIndex(NUMBER),
    "dates": lambda: pd.date_range(f"{YEAR}-01-01", periods=3),
    "periods": lambda: pd.Series(pd.period_range(f"{YEAR}-01", periods=3)),
    "texts": lambda: pd.DataFrame({"a": FEW, "n": [NUMBER] * 20}),
    "a grouping": lambda: pd.DataFrame({"a": FEW}).groupby("a"),
    "Enum": lambda: pl.DataFrame({"a": pl.Series([TEXT], dtype=pl.Enum([TEXT, "b"]))}),
    "Enum in Struct": lambda: pl.DataFrame(
        {"a": pl.Series([{"k": TEXT}], dtype=pl.Struct({"k": pl.Enum([TEXT])}))}
    ),
    "Enum in List": lambda: pl.Series([[TEXT]], dtype=pl.List(pl.Enum([TEXT]))),
    "Categorical": lambda: pl.Series(FEW, dtype=pl.Categorical),
    "LazyFrame": lambda: pl.LazyFrame({"a": [TEXT]}).filter(pl.col("a") == TEXT),
    "expression": lambda: pl.col("a") == TEXT,
    "dictionary of Arrow": lambda: pa.table({"a": pa.array(FEW).dictionary_encode()}),
    "array of Arrow": lambda: pa.array([TEXT]),
    "scalar of Arrow": lambda: pa.scalar(TEXT),
    "metadata of Arrow": lambda: pa.schema(
        [pa.field("a", pa.int64(), metadata={"of": TEXT})], metadata={"of": TEXT}
    ),
    "DuckDB": enum_of_duckdb,
    "relation": lambda: enum_of_duckdb().table("t"),
    "relation with a literal": lambda: duckdb.sql(f"SELECT '{TEXT}' || 'x', count(*) FILTER (WHERE 1 > {NUMBER})"),
    "xarray": lambda: xr.Dataset({"a": ("r", [NUMBER], {"units": TEXT})}, {"r": [TEXT]}, {"of": TEXT}),
    "DataArray": lambda: xr.DataArray([NUMBER], dims="r", coords={"r": [TEXT]}, attrs={"of": TEXT}),
    "dict": lambda: {TEXT: NUMBER, NUMBER: TEXT},
    "OrderedDict": lambda: collections.OrderedDict({TEXT: 1}),
    "Counter": lambda: collections.Counter([TEXT]),
    "set": lambda: {TEXT, NUMBER},
    "list": lambda: [TEXT, NUMBER, {TEXT: NUMBER}],
    "range": lambda: range(NUMBER),
    "text": lambda: TEXT,
    "whole number": lambda: NUMBER,
    "number": lambda: NUMBER + 0.5,
    "decimal": lambda: decimal.Decimal(NUMBER),
    "UUID": lambda: uuid.UUID(int=NUMBER),
    "date": lambda: datetime.date(YEAR, 2, 3),
    "timedelta": lambda: datetime.timedelta(NUMBER),
    "Timestamp": lambda: pd.Timestamp(f"{YEAR}-02-03"),
    "Interval": lambda: pd.Interval(NUMBER, NUMBER + 1),
    "path": lambda: pathlib.Path("/data") / TEXT,
    "members": kinds_of_members,
    "member": lambda: kinds_of_members()[TEXT],
    "record": lambda: Record(TEXT, NUMBER),
    "named tuple": lambda: Row(TEXT, NUMBER),
    "exception": lambda: ValueError(TEXT),
    "function": lambda: function,
    "partial": lambda: functools.partial(print, TEXT),
    "engine": lambda: sqlalchemy.create_engine(f"sqlite:///{TEXT}.db"),
    "URL": lambda: sqlalchemy.make_url(f"sqlite:///{TEXT}.db"),
    "table of SQLAlchemy": lambda: sqlalchemy.Table(
        "t", sqlalchemy.MetaData(), sqlalchemy.Column("a", sqlalchemy.Enum(TEXT, "b"), comment=TEXT)
    ),
    "figure": drawn,
    "array": lambda: np.array([TEXT, "b"]),
    "records": lambda: np.array([(TEXT, NUMBER)], [("a", "U9"), ("b", "i8")]),
    "text of numpy": lambda: np.str_(TEXT),
    "number of numpy": lambda: np.int64(NUMBER),
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_value_is_told_under_schema(kind: str) -> None:
    text = told(KINDS[kind]())
    assert text.startswith("x: ")
    assert not [canary for canary in CANARIES if canary in text]


@pytest.mark.parametrize(
    "kind", ["categories", "dict", "range", "text", "member", "members", "relation with a literal"]
)
def test_what_is_not_told_under_schema_is_told_under_stats(kind: str) -> None:
    """The canaries would be found."""
    assert [canary for canary in CANARIES if canary in told(KINDS[kind](), "stats")]


@pytest.mark.parametrize("value", ["x" * 4271, b"x" * 4271, range(4271), pd.RangeIndex(4271)])
def test_a_length_that_is_the_value_itself_is_not_told_under_schema(value: Any) -> None:
    assert "4271" not in told(value)
    assert "4271" in told(value, "stats") or isinstance(value, pd.RangeIndex)


@pytest.mark.parametrize("privacy", ["schema", "stats", "samples"])
@pytest.mark.parametrize("axis", ["first_name", "patient"])
def test_labels_of_a_pivot_table_that_are_people_are_told_in_no_mode(privacy: Privacy, axis: str) -> None:
    names = ["Yolvandra Pexmire", "Brustolf Anquedar", "Kelphine Ostravax"]
    people = pd.DataFrame({axis: names * 2, "year": [2020] * 3 + [2021] * 3, "n": range(6)})
    wide = people.pivot(index="year", columns=axis, values="n")
    both = people.pivot(index="year", columns=[axis, "n"], values="n")
    for frame in (wide, both):
        text = told(frame, privacy)
        assert "***" in text
        assert "Pexmire" not in text
    by_town = people.rename(columns={axis: "town"}).pivot(index="year", columns="town", values="n")
    assert "Oslo" in told(by_town.rename(columns={names[0]: "Oslo"}), privacy)
