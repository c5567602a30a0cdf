"""What code certainly means, where Python or pandas reads it in another way; each corrected program is run."""

from __future__ import annotations

import traceback
from typing import Any

import pandas as pd
import pytest
from rule_calls import as_meant, repair

from jupyter_codeagent.types.sandbox import ExecutionError, NamespaceEntry

FRAME = pd.DataFrame({"a": [1.0, None, 3.0, 4.0], "b": [1, 2, 3, 4], "g": ["x", "x", "y", "y"]})


def ran(code: str) -> tuple[Any, ExecutionError | None]:
    frames = {"df": FRAME, "penguins": FRAME}
    variables: dict[str, Any] = {name: frame.copy() for name, frame in frames.items()} | {"pd": pd}
    try:
        exec(code, variables)
    except Exception as error:
        lines = [
            entry.lineno for entry in traceback.extract_tb(error.__traceback__) if entry.filename == "<string>"
        ]
        return None, ExecutionError(
            ename=type(error).__name__, evalue=str(error), line=lines[-1] if lines else None
        )
    return variables["x"], None


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ('df["a"].fillna(0, inplace=True)\nx = df["a"].sum()', 8.0),
        ('df["a"].fillna(df.groupby("g")["a"].transform("median"), inplace=True)\nx = df["a"].isna().sum()', 0),
        ('df["g"].replace({"x": "z"}, inplace=True)\nx = (df["g"] == "z").sum()', 2),
        ('x = len(df[df["b"] >= 2 & df["b"] <= 3])', 2),
        ('x = len(df[df["b"] == 1 | df["g"] == "y"])', 3),
        ('x = len(df[df["b"] > 1 & df["b"] < 4 & df["g"] == "x"])', 1),
        ('x = len(df[df["b"] > 1 & df["g"].isin(["y"])])', 2),
        ('x = len(df[(df["b"] > 1) & df["b"] < 4])', 2),
        ('x = len(df[df["b"] > 1 & (df["b"] < 4)])', 2),
    ],
)
def test_what_has_no_or_another_effect_is_written_as_it_is_meant(code: str, value: object) -> None:
    corrected = as_meant(code)
    assert len(corrected.notes) == 1
    assert ran(corrected.code) == (value, None)


@pytest.mark.parametrize(
    "code",
    [
        "df.fillna(0, inplace=True)",
        'df["a"].fillna(0, inplace=False)',
        'y = df["a"].fillna(0, inplace=True)',
        'df["a"].append(1, inplace=True)',
        'df[(df["a"] > 1) & (df["b"] < 3)]',
        "1 < x < 3",
        "flags & 4 == 4",
        "a > 1 & b",
        "(a < 1) | (b > 3)",
    ],
)
def test_what_reads_as_it_is_meant_stays(code: str) -> None:
    assert as_meant(code).code == code


def table(name: str, *columns: str) -> NamespaceEntry:
    return NamespaceEntry(name=name, type_name="DataFrame", columns=columns)


def joined(*more: NamespaceEntry) -> list[NamespaceEntry]:
    """`rated` was joined of `df` and `ratings`."""
    both = table("rated", "a", "b_x", "g", "w", "b_y", "stars")
    return [table("df", "a", "b", "g", "w"), table("ratings", "a", "b", "stars"), both, *more]


def test_a_table_that_lacks_a_column_is_the_one_that_was_joined_of_it_and_has_it() -> None:
    error = ExecutionError(ename="KeyError", evalue="'stars'", line=2)
    repaired = repair('y = 1\nx = df[df["a"] > 1].groupby("stars")["w"].sum()', error, joined())
    assert repaired is not None
    assert repaired.code == 'y = 1\nx = rated[rated["a"] > 1].groupby("stars")["w"].sum()'
    assert repaired.notes == ("rated has 'a' and 'stars' and 'w', df has not",)


@pytest.mark.parametrize(
    ("code", "others"),
    [
        ('df["y"] = df["g"] + df["stars"]', []),
        ('x = df["stars"] + df["g"] + z["a"]', [table("z", "a")]),
        ('x = df.groupby("stars")["h"].sum()', [table("z", "h")]),
        ('x = df["g"] + df["stars"]', [table("z", "a", "g", "w", "stars")]),
        ('x = df.drop(columns=["g", "stars"])', []),
        ('x = df["stars"]', []),
    ],
)
def test_no_other_table_is_taken_where_it_was_not_made_of_this_one_or_several_were(
    code: str, others: list[NamespaceEntry]
) -> None:
    assert repair(code, ExecutionError(ename="KeyError", evalue="'stars'", line=1), joined(*others)) is None


@pytest.mark.parametrize(
    "others",
    [
        [table("df", "id", "g"), table("next_year", "id", "g", "stars")],
        [table("df", "id", "g"), table("train", "id", "g", "stars"), table("test", "id", "g", "stars", "w")],
    ],
)
def test_a_table_of_the_same_kind_with_a_column_more_is_not_taken(others: list[NamespaceEntry]) -> None:
    error = ExecutionError(ename="KeyError", evalue="'stars'", line=1)
    assert repair('x = df.groupby("g")["stars"].mean()', error, others) is None


def test_a_column_of_another_table_is_not_taken_from_there_where_the_tables_are_not_the_same_rows() -> None:
    namespace = [
        NamespaceEntry(name="late", type_name="DataFrame", columns=("carrier", "delay", "origin", "dest")),
        NamespaceEntry(name="airlines", type_name="DataFrame", columns=("carrier", "name")),
    ]
    error = ExecutionError(ename="KeyError", evalue="'name'", line=1)
    assert repair('x = late.groupby("carrier")["name"]', error, namespace) is None


def test_all_columns_that_are_written_otherwise_are_corrected_at_once_but_not_what_the_code_makes() -> None:
    columns = ("DATE TIME", " WINDSPEED", " BARO")
    namespace = [NamespaceEntry(name="df", type_name="DataFrame", columns=columns)]
    code = "df['hour'] = df['DATE_TIME']\ndf['baro'] = 1\nx = df[['WINDSPEED', 'hour']], df['BARO'], df['baro']"
    repaired = repair(code, ExecutionError(ename="KeyError", evalue="'DATE_TIME'", line=1), namespace)
    assert repaired is not None
    assert repaired.code == (
        "df['hour'] = df['DATE TIME']\ndf['baro'] = 1\nx = df[[' WINDSPEED', 'hour']], df[' BARO'], df['baro']"
    )
    assert len(repaired.notes) == 3


@pytest.mark.parametrize(
    "code",
    [
        "df = df.assign(total_sales=df['Total Sales'] * 2)\nx = df['total_sales'].sum(), df['region']",
        "g = df.groupby('region')['Total Sales'].agg(['total_sales'])\nx = g['total_sales']",
    ],
)
def test_labels_that_a_program_makes_are_not_taken_for_misspelt_ones(code: str) -> None:
    namespace = [NamespaceEntry(name="df", type_name="DataFrame", columns=("Region", "Total Sales"))]
    repaired = repair(code, ExecutionError(ename="KeyError", evalue="'region'", line=1), namespace)
    assert repaired is not None
    assert repaired.notes == ("column 'region' is 'Region'",)
