"""Pandas spoken to polars frames is said in polars' words, and the code then runs."""

from __future__ import annotations

import datetime
from typing import Any

import polars as pl
import pytest
from rule_calls import repair

from jupyter_codeagent.types.sandbox import ExecutionError, NamespaceEntry


def variables() -> dict[str, Any]:
    frame = pl.DataFrame(
        {
            "a": [1.0, 2.0, None, 4.0],
            "b": [2.0, 4.0, 6.0, 8.0],
            "g": ["x", "y", "x", "Y"],
            "day": [datetime.date(2020, month, 1) for month in (1, 2, 3, 4)],
        }
    )
    return {"df": frame, "other": pl.DataFrame({"g": ["x"], "name": ["ex"]}), "pl": pl}


def run(code: str) -> tuple[ExecutionError | None, dict[str, Any]]:
    namespace = variables()
    try:
        exec(code, namespace)
    except Exception as error:
        return ExecutionError(ename=type(error).__name__, evalue=str(error), line=1), namespace
    return None, namespace


def entries(namespace: dict[str, Any]) -> list[NamespaceEntry]:
    return [
        NamespaceEntry(
            name=name,
            type_name="DataFrame",
            columns=tuple(value.columns),
            dtypes=tuple(str(dtype) for dtype in value.dtypes),
        )
        for name, value in namespace.items()
        if isinstance(value, pl.DataFrame)
    ]


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ('x = df.groupby("g")["b"].mean().sort_values("b", ascending=False)["b"][0]', 8.0),
        ('x = df.groupby("g").agg({"b": "sum"}).sort_values(by="b")["b"].tolist()', [4.0, 8.0, 8.0]),
        ('x = df.groupby("g").agg(n=("b", "count"), m=("b", "mean"))["m"].sum()', 16.0),
        ('x = df.groupby("g").size().reset_index(name="n").sort_values("n")["n"].tolist()', [1, 1, 2]),
        ('x = df.groupby("g").b.max().reset_index()["b"].max()', 8.0),
        ('x = df["a"].isnull().sum()', 1),
        ('x = df[df["a"].notna()].shape[0]', 3),
        ('x = other[(other["name"] == "ex") & ~other["g"].isin(["Y"])].shape[0]', 1),
        ("x = df.dropna().shape[0]", 3),
        ('df["c"] = df["a"] * 2\nx = df["c"].sum()', 14.0),
        ('df["low"] = df["g"].str.lower()\nx = df["low"].nunique()', 2),
        ('x = df["a"].corr(df["b"])', 1.0),
        ('x = (df["day"].dt.month + 1).max()', 5),
        ('x = df.merge(other, on="g", how="inner").shape[0]', 2),
        ('x = df.rename(columns={"a": "z"}).columns[0]', "z"),
        ('x = df.nlargest(1, "b")["b"].tolist()', [8.0]),
        ('x = df["g"].isin(["x"]).sum()', 2),
    ],
)
def test_pandas_is_said_in_polars_and_the_code_runs(code: str, value: object) -> None:
    error, namespace = run(code)
    assert error is not None
    repaired = repair(code, error, entries(namespace))
    assert repaired is not None
    [note] = repaired.notes
    assert note.startswith("translated to polars: ")
    again, namespace = run(repaired.code)
    assert again is None
    assert namespace["x"] == pytest.approx(value) if isinstance(value, float) else namespace["x"] == value


def test_where_pandas_frames_stand_beside_them_nothing_is_certain() -> None:
    error, namespace = run('x = df.groupby("g")')
    assert error is not None
    pandas = NamespaceEntry(name="p", type_name="DataFrame", columns=("a",), dtypes=("int64",))
    assert repair('x = df.groupby("g")', error, [*entries(namespace), pandas]) is None


@pytest.mark.parametrize("code", ["x = df.loc[0]", 'x = df["nothing"]', "x = df.query('a > 1')"])
def test_what_polars_has_no_word_for_is_left_to_the_model(code: str) -> None:
    error, namespace = run(code)
    assert error is not None
    assert repair(code, error, entries(namespace)) is None
