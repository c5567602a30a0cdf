"""Hints and repairs on the errors that pandas and Python really raise."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rule_calls import hint_of, repair

from jupyter_codeagent.types.sandbox import ExecutionError, NamespaceEntry


def variables() -> dict[str, Any]:
    flights = pd.DataFrame(
        {
            "dep_delay": [1.0, 2.0],
            "carrier": ["UA", "AA"],
            "tailnum": ["N1", "N2"],
            "when": pd.to_datetime(["2013-01-01", "2013-02-01"]),
            "flight": [1, 2],
        }
    )
    airlines = pd.DataFrame({"carrier": ["UA", "AA"], "Airline Name": ["United", "American"]})
    return {"flights": flights, "airlines": airlines, "limit": 5}


def entries(namespace: dict[str, Any]) -> tuple[NamespaceEntry, ...]:
    return tuple(
        NamespaceEntry(
            name=name, type_name=type(value).__name__, columns=tuple(map(str, getattr(value, "columns", ())))
        )
        for name, value in namespace.items()
        if not name.startswith("_") and name not in ("pd", "np")
    )


def run(code: str) -> tuple[ExecutionError | None, tuple[NamespaceEntry, ...], dict[str, Any]]:
    namespace = {**variables(), "pd": pd, "np": np}
    try:
        exec(compile(code, "<cell>", "exec"), namespace)
    except Exception as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<cell>"]
        line = frames[-1].lineno if frames else getattr(error, "lineno", None)
        source = code.split("\n")[line - 1] if line else ""
        found = ExecutionError(ename=type(error).__name__, evalue=str(error), line=line, source=source)
        return found, entries(namespace), namespace
    return None, entries(namespace), namespace


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("flights['Dep Delay'].mean()", "the column is 'dep_delay' (in flights)"),
        ("flights.groupby('DepDelay').size()", "the column is 'dep_delay' (in flights)"),
        ("flights[['carrier', 'dep_delays']]", "no column 'dep_delays'; flights has 'dep_delay'"),
        (
            "flights['Airline Name']",
            "'Airline Name' is a column of airlines, not of what is indexed here; "
            "join first: airlines.merge(flights, on='carrier')",
        ),
        (
            "flights['dep_delay'].mean().idxmax()",
            "this is a single number already: aggregate by group first, df.groupby(key)[column].mean()",
        ),
        ("airlines.Airline_Name", "the column is 'Airline Name' (in airlines)"),
        ("airlines.sort_values('xyz')", "no column 'xyz'; airlines has 'carrier', 'Airline Name'"),
        ("flights.dropna(subset=['Carrier'])", "the column is 'carrier'"),
        ("flights.drop(columns='TailNum')", "the column is 'tailnum'"),
        ("flights.query('depdelay > 1')", "the column is 'dep_delay'"),
        ("flight.head()", "did you mean flights?"),
        ("plt.plot([1])", "add: import matplotlib.pyplot as plt"),
        ("qqq + 1", "defined are: flights, airlines, limit"),
        ("from pandasql import sqldf", "pandasql is not installed and cannot be; use pandas itself"),
        ("import flights", "flights is a variable that exists already: no import"),
        ("pd.read_csv('flights.csv')", "no file is here; the data is already loaded as: flights, airlines"),
        ("flights.set_index('when').resample('M').size()", "write 'ME' instead of 'M'"),
        ("flights.set_index('when').resample('H').size()", "write 'h' instead of 'H'"),
        ("flights['when'].dt.to_period('ME')", "periods take 'M', 'Q', 'Y'"),
        ("flights.append(flights)", "use pd.concat([a, b])"),
        ("flights.applymap(str)", "use .map()"),
        ("flights.sort_values()", ".stack().sort_values()"),
        ("import statsmodels.api as sm\nsm.OLS([1.0, 3.0], [[1, 2], [1, 3]]).fit().slope", "they are in .params"),
        ("import statsmodels.api as sm\nsm.OLS([1.0, 3.0], [[1, 2], [1, 3]]).fit().p_value", "use .pvalues"),
        (
            "from sklearn.linear_model import LinearRegression\nLinearRegression().fit([[1], [2]], [1, 2]).slope",
            "use .coef_ and .intercept_",
        ),
        ("flights['carrier'].mean()", "choose numeric columns or pass numeric_only=True"),
        ("flights.groupby('flight').mean()", "choose numeric columns or pass numeric_only=True"),
        ("flights.corr()", "the column holds text"),
        ("flights['carrier'].astype(float)", "the column holds text"),
        ("float('42 years')", r"pd.to_numeric(x.str.extract(r'(-?\d+\.?\d*)')[0])"),
        ("float('about 1,200')", r"pd.to_numeric(x.str.replace(',', '').str.extract(r'(-?\d+\.?\d*)')[0])"),
        ("flights.drop('carrier', 1)", "use drop(columns=...)"),
        ("flights['carrier'].str.split('A', 1)", "name the argument: n=1"),
        ("flights['flight'].str.upper()", "convert first: x.astype(str)"),
        ("flights['carrier'].dt.month", "convert first: pd.to_datetime(x)"),
        ("flights.set_axis(list('abcde'), axis=1, inplace=True)", "assign the result: df = df.set_axis(...)"),
        ("flights['flight'].fillna(method='ffill')", "use .ffill() or .bfill()"),
        ("flights[flights['flight'] > 1 and flights['flight'] < 3]", "combine conditions with & and |"),
        ("flights.merge(airlines, left_on='flight', right_on='carrier')", "'flight' is int64 on one side and str"),
        ("np.trapz([1, 2])", "use np.trapezoid"),
        ("a = np.arange(3); a.flags.writeable = False; a[0] = 1", "work on a copy"),
        ("flights['x'] = [1, 2, 3]", "the lengths differ"),
        ("flights.shape()", "leave the parentheses out"),
        ("flights.groupby('carrier').foo", "aggregate first"),
    ],
)
def test_an_error_gets_the_hint(code: str, hint: str) -> None:
    error, namespace, _ = run(code)
    assert error is not None
    assert hint in hint_of(error, namespace)


def test_an_unknown_error_gets_no_hint() -> None:
    assert hint_of(ExecutionError(ename="ZeroDivisionError", evalue="division by zero"), ()) == ""


@pytest.mark.parametrize(
    "code",
    [
        "x = flights['Dep Delay'].mean()",
        'x = flights.groupby("Carrier")["dep_delay"].mean()',
        "x = flights.DepDelay.mean()",
        "x = flights.groupby('carrier')['Dep Delay'].mean()",
        "x = flights.groupby('carrier')[['Dep Delay', 'Flight']].mean()",
        "x = flights.groupby('carrier').agg({'Dep Delay': 'mean'})",
        "x = flights.groupby('carrier').DepDelay.mean()",
        "x = f\"means: {flights.groupby('carrier')['dep_delay'].mean():.2f} of {len(flights):,.0f}\"",
        "x = (\n    f\"{flights['dep_delay'].mean():.1f} and \"\n    f\"{flights['dep_delay'] / 2:.1f}\"\n)",
    ],
)
def test_a_certain_error_is_repaired_and_the_code_then_runs(code: str) -> None:
    error, namespace, _ = run(code)
    assert error is not None
    repaired = repair(code, error, namespace)
    assert repaired is not None
    assert repaired.notes
    again, _, after = run(repaired.code)
    assert again is None
    assert "x" in after


def test_the_root_that_scikit_learn_no_longer_takes_is_taken_here() -> None:
    error = ExecutionError(ename="TypeError", evalue="got an unexpected keyword argument 'squared'")
    repaired = repair("rmse = metrics.mean_squared_error(y, z, squared=False)", error, ())
    assert repaired is not None
    assert repaired.code == "rmse = metrics.mean_squared_error(y, z) ** 0.5"
    assert repair("split(y, squared=False)", error, ()) is None


@pytest.mark.parametrize(
    "code",
    [
        "flights['delays'].mean()",
        "import nothing_of_this_name",
        "flights['Airline Name']",
        "qqq",
        "1 / 0",
        "flights['when'].dt.to_period('ME')",
        "flights['carrier'].astype(float)",
    ],
)
def test_an_uncertain_error_is_left_to_the_model(code: str) -> None:
    error, namespace, _ = run(code)
    assert error is not None
    assert repair(code, error, namespace) is None


def test_a_column_name_that_two_frames_write_differently_is_not_guessed() -> None:
    namespace = (
        NamespaceEntry(name="a", type_name="DataFrame", columns=("Name",)),
        NamespaceEntry(name="b", type_name="DataFrame", columns=("name",)),
    )
    error = ExecutionError(ename="KeyError", evalue="'NAME'", line=1)
    assert repair("a['NAME']", error, namespace) is None
    assert repair("a['NAME']", error, namespace[:1]) is not None
