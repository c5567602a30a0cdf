"""Whatever may hold a hidden column or be made of one: neither files of copies nor the prompt have any of it.

Each family has a frame `df` of which two columns are hidden. All variables are asked for by name, so that each is
either copied or has a reason why it is not. What the same variables give with nothing hidden has the canaries.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import duckdb
import matplotlib.figure
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from jupyter_codeagent.sandbox.data.spool import Spool
from jupyter_codeagent.session.variable_selection import select_variables
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.render import render
from jupyter_codeagent.variables.user_namespace import UserNamespace

TEXT, LABEL, NUMBERS = "canary-71423", "tailnumber", "wage71423"
FIRST = 7142398712345678.0
HIDDEN = frozenset({LABEL, NUMBERS})
CANARIES = {
    "a value": TEXT.encode(),
    "the column of texts": LABEL.encode(),
    "the column of numbers": NUMBERS.encode(),
    "a number": np.float64(FIRST).tobytes(),
}
Names = dict[str, Any]


def frame() -> pd.DataFrame:
    columns = {"a": range(20), "b": np.arange(20) % 7 / 2, LABEL: [TEXT] * 10 + ["u"] * 10}
    return pd.DataFrame({**columns, NUMBERS: [FIRST + row for row in range(20)]})


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What a run with all these variables would copy and tell."""

    copies: bytes
    prompt: str
    reasons: Mapping[str, str]

    def canaries(self) -> list[str]:
        told = self.prompt.encode()
        return [what for what, canary in CANARIES.items() if canary in self.copies or canary in told]


def share(names: Names, *, columns: frozenset[str] = frozenset(), whole: str = "") -> Shared:
    live = UserNamespace(cast("Any", SimpleNamespace(user_ns=names, user_ns_hidden={})))
    found = live.variables({whole: "hidden"} if whole else {}, {"df": columns} if columns else {})
    asked = " ".join(names)
    summaries = describe(found.values, privacy="samples", mentioned=asked)
    choice = select_variables(
        found.values,
        summaries,
        asked,
        RunOptions(),
        always=[name for name in names if name in found.values],
        max_bytes=1 << 28,
        ask=lambda _name, _files: None,
    )
    with tempfile.TemporaryDirectory() as directory:
        spool = Spool(Path(directory), max_bytes=1 << 28)
        refusal = found.hidden.refusal if found.hidden else None
        made = spool.export(choice.values, choice.names, required=False, refusal=refusal)
        copies = b"".join(path.read_bytes() for path in Path(directory).rglob("*") if path.is_file())
    described = choice.described(summaries, made, functools.partial(describe, privacy="samples", mentioned=asked))
    told = found.hidden.without_names(described, found.values)
    text = render(told, budget_tokens=1 << 20, mentioned=asked, count_tokens=len).text
    skipped = {one.name: one.reason for one in choice.complete(made).skipped}
    return Shared(copies=copies, prompt=text, reasons={**found.withheld, **skipped})


# --- taken away ---------------------------------------------------------------------------------------


def with_attributes(attributes: Callable[[pd.DataFrame], dict[str, Any]]) -> Callable[[], Names]:
    def make() -> Names:
        df = frame()
        df.attrs.update(attributes(df))
        return {"df": df}

    return make


def geo_frame() -> Names:
    geopandas = pytest.importorskip("geopandas")
    df = geopandas.GeoDataFrame(frame(), geometry=geopandas.points_from_xy(range(20), range(20)), crs=4326)
    df.attrs["raw"] = frame()
    return {"df": df}


def data_set() -> Names:
    xarray = pytest.importorskip("xarray")
    df = xarray.Dataset({"a": ("row", [1, 2], {"of": TEXT}), LABEL: ("row", [TEXT, "u"])}, attrs={"raw": frame()})
    df["a"].encoding = {"coordinates": LABEL, "source": TEXT}
    df[NUMBERS] = ("row", [FIRST, FIRST + 1])
    return {"df": df}


def arrow_table() -> Names:
    fields = [pa.field("a", pa.int64(), metadata={"of": TEXT}), pa.field(LABEL, pa.string())]
    table = pa.table([pa.array([1]), pa.array([TEXT])], schema=pa.schema(fields, metadata={"note": LABEL}))
    return {"df": table}


def pandas_in_arrow() -> Names:
    df = frame()
    df.attrs["first"] = TEXT
    return {"df": pa.Table.from_pandas(df)}


TAKEN_AWAY: dict[str, Callable[[], Names]] = {
    "a frame in the attributes": with_attributes(lambda _: {"raw": frame()}),
    "a frame deep in the attributes": with_attributes(lambda _: {"steps": [{"before": (frame(),)}]}),
    "the frame itself in its attributes": with_attributes(lambda df: {"me": df}),
    "values in the attributes": with_attributes(lambda _: {"first": [TEXT]}),
    "words in the attributes": with_attributes(lambda _: {"note": f"{LABEL} begins with {TEXT}"}),
    "attributes of a series": lambda: {
        "df": with_attributes(lambda _: {LABEL: TEXT})()["df"].set_index(LABEL)["a"]
    },
    "labels of a categorical index": lambda: {"df": frame().set_axis(pd.CategoricalIndex(frame().columns), axis=1)},
    "levels of labels": lambda: {"df": pd.concat({"x": frame()[["a"]], LABEL: frame()[[LABEL]]}, axis=1)},
    "an index level": lambda: {"df": frame().set_index(["a", LABEL])},
    "geopandas": geo_frame,
    "xarray": data_set,
    "metadata of Arrow": arrow_table,
    "metadata of pandas in Arrow": pandas_in_arrow,
    "a frame of polars": lambda: {"df": pl.from_pandas(frame())},
    "fields of records": lambda: {"df": frame().to_records(index=False).view(np.ndarray)},
    "keys of dicts": lambda: {"df": {"a": 1, LABEL: TEXT, "rows": [{LABEL: TEXT}]}},
}


@pytest.mark.parametrize("family", TAKEN_AWAY)
def test_what_is_hidden_is_taken_away_with_all_that_hangs_on_the_value(family: str) -> None:
    shown = share(TAKEN_AWAY[family]())
    assert shown.canaries()
    hidden = share(TAKEN_AWAY[family](), columns=HIDDEN)
    assert hidden.canaries() == []
    assert hidden.reasons == {}
    assert hidden.copies


# --- not shared, with a reason ------------------------------------------------------------------------


class Frame(pd.DataFrame):
    """A subclass with memories of its own, of a module that a sandbox could import."""

    _metadata = ("before",)

    @property
    def _constructor(self) -> Callable[..., Frame]:
        return functools.partial(Frame, before=getattr(self, "before", None))

    def __init__(self, *args: Any, before: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        object.__setattr__(self, "before", before)


class Backed(pd.arrays.IntegerArray):
    """An extension array that remembers the frame it is of."""

    frame: Any


def other(made: Callable[[pd.DataFrame], Any]) -> Callable[[], Names]:
    def make() -> Names:
        df = frame()
        return {"df": df, "other": made(df)}

    return make


def with_back_reference(df: pd.DataFrame) -> pd.Series[Any]:
    array = Backed(np.arange(3), np.zeros(3, bool))
    array.frame = df
    return pd.Series(array, copy=False)


def attributes_of_another(df: pd.DataFrame) -> pd.DataFrame:
    made = pd.DataFrame({"x": [1]})
    made.attrs["from"] = df
    return made


def fitted(kind: str, steps: bool = False) -> Callable[[], Names]:
    def make() -> Names:
        pytest.importorskip("sklearn")
        from sklearn.linear_model import LinearRegression
        from sklearn.neighbors import KNeighborsRegressor
        from sklearn.pipeline import make_pipeline

        model: Any = {"line": LinearRegression, "neighbours": KNeighborsRegressor}[kind]()
        df = frame()
        return {"df": df, "other": (make_pipeline(model) if steps else model).fit(df[["a", NUMBERS]], df["b"])}

    return make


def formula(df: pd.DataFrame) -> Any:
    smf = pytest.importorskip("statsmodels.formula.api")
    return smf.ols(f"{NUMBERS} ~ a", df).fit()


def drawn(df: pd.DataFrame) -> Any:
    figure = matplotlib.figure.Figure()
    figure.subplots().plot(df[NUMBERS].to_numpy(), label=LABEL)
    return figure


def plotted(df: pd.DataFrame) -> Any:
    px = pytest.importorskip("plotly.express")
    return px.scatter(df, x="a", y=NUMBERS, hover_name=LABEL)


def chart(df: pd.DataFrame) -> Any:
    altair = pytest.importorskip("altair")
    return altair.Chart(df).mark_point().encode(x="a")


def lazy(made: Callable[[Any], Any]) -> Callable[[], Names]:
    def make() -> Names:
        df = pl.from_pandas(frame())
        return {"df": df, "other": made(df.lazy())}

    return make


def over_dask(df: pd.DataFrame) -> Any:
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(df, npartitions=1)


REFUSED: dict[str, Callable[[], Names]] = {
    "a subclass": lambda: {"df": Frame(frame(), before=frame())},
    "the name of the labels": lambda: {"df": frame().rename_axis(columns=LABEL)},
    "an extension array that refers back": other(with_back_reference),
    "attributes of another frame": other(attributes_of_another),
    "a grouping": other(lambda df: df.groupby(LABEL)),
    "a grouping of another column": other(lambda df: df.groupby(LABEL)["a"]),
    "a window": other(lambda df: df.rolling(2)),
    "a resampler": other(lambda df: df.set_index(pd.date_range("2024", periods=20)).resample("2D")),
    "a styled frame": other(lambda df: df.style),
    "a partial": other(lambda df: functools.partial(pd.concat, [df])),
    "a bound method": other(lambda df: df.head),
    "a list of lists": other(lambda df: [[df]]),
    "a dict of dicts": other(lambda df: {"x": {"y": df}}),
    "a dict of a copy": other(lambda df: {"x": df.copy()}),
    "a cell": other(lambda df: pd.DataFrame({"x": [df]})),
    "an array of objects": other(lambda df: np.array([df, None], dtype=object)),
    "an object": other(lambda df: SimpleNamespace(data=df)),
    "an object with its index": other(lambda df: SimpleNamespace(at=df.set_index(LABEL).index)),
    "a fitted line": fitted("line"),
    "fitted neighbours": fitted("neighbours"),
    "a fitted pipeline": fitted("neighbours", steps=True),
    "a fitted formula": other(formula),
    "a figure": other(drawn),
    "the axes of a figure": other(lambda df: drawn(df).axes[0]),
    "a figure of plotly": other(plotted),
    "a chart": other(chart),
    "a lazy frame": lazy(lambda whole: whole),
    "some columns of a lazy frame": lazy(lambda whole: whole.select("a")),
    "a join with a lazy frame": lazy(lambda whole: pl.LazyFrame({"a": [1]}).join(whole, on="a")),
    "a grouping of polars": lazy(lambda whole: whole.collect().group_by("a")),
    "a relation of DuckDB": other(duckdb.from_df),
    "a frame of Dask": other(over_dask),
}


@pytest.mark.parametrize("family", REFUSED)
def test_what_holds_something_hidden_or_is_made_of_it_is_not_shared_and_says_why(family: str) -> None:
    names = REFUSED[family]()
    assert share(names).canaries()
    hidden = share(names, columns=HIDDEN)
    assert hidden.canaries() == []
    [(name, reason)] = hidden.reasons.items()
    assert name in ("df", "other")
    assert "hidden" in reason or "cannot be left out" in reason


@pytest.mark.parametrize(
    "family",
    [
        *("attributes of another frame", "a window", "a styled frame", "a partial", "a bound method"),
        *("a list of lists", "a cell", "an object", "a figure", "a chart", "a lazy frame"),
    ],
)
def test_what_holds_a_variable_that_is_hidden_as_a_whole_is_not_shared_either(family: str) -> None:
    hidden = share(REFUSED[family](), whole="df")
    assert hidden.canaries() == []
    assert "hidden" in hidden.reasons["other"]


def test_functions_and_classes_of_the_notebook_are_never_copied_whatever_they_close_over() -> None:
    df = frame()

    def closes(at: int, key: str = TEXT) -> Any:
        return df.iloc[at]

    closes.__module__ = "__main__"
    hidden = share({"df": df, "other": closes}, columns=HIDDEN)
    assert hidden.canaries() == []
    assert "defined in the notebook" in hidden.reasons["other"]


# --- and what has nothing to do with it ---------------------------------------------------------------


def test_other_values_are_shared_as_ever_while_something_is_hidden() -> None:
    sales = pd.DataFrame({"city": ["Oslo", "Rome"] * 5, "n": range(10)}, index=pd.Index(range(10), name="day"))
    sales.attrs = {"units": {"n": "t"}}
    names = {
        "df": frame(),
        "sales": sales,
        "totals": {"x": [sales, sales["n"]]},
        "by_city": sales.groupby("city"),
        "plan": pl.from_pandas(sales).lazy().filter(pl.col("n") > 3),
        "table": pa.table({"n": [1, 2]}).replace_schema_metadata({"of": "sales"}),
        "rows": [{"city": "Oslo"}],
        "half": functools.partial(pd.concat, [sales]),
    }
    hidden = share(names, columns=HIDDEN)
    assert hidden.canaries() == []
    assert hidden.reasons == {}
    assert b"Oslo" in hidden.copies
    assert "by_city: DataFrameGroupBy of 10x2 by 'city'" in hidden.prompt


def test_another_frame_with_such_a_column_is_another_value_and_is_hidden_by_its_own_name() -> None:
    names = {"df": frame(), "other": frame().copy()}
    assert share(names, columns=HIDDEN).reasons == {}
    assert share(names, columns=HIDDEN).canaries()


@pytest.mark.parametrize("value", [f"see {LABEL} of df", {LABEL: 1}, lambda tailnumber: tailnumber])
def test_the_name_of_a_hidden_column_is_not_told_by_way_of_another_variable(value: Any) -> None:
    names = {"df": frame(), "other": value}
    hidden = share(names, columns=HIDDEN)
    assert "other" in hidden.prompt
    assert (LABEL in hidden.prompt) == isinstance(value, dict), "keys of a dict are hidden by its own name"
