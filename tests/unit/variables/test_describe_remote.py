"""Frames of Spark, Ray, Modin and PyTorch, by doubles that carry the real type names and raise on any action.

The real libraries are too heavy for the tests; the names and attributes are those of pyspark 4.3, Ray 2.60,
Modin 0.37 and torch 2.13, with which each describer was tried by hand.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jupyter_codeagent.variables.describe import describe_value


class ActionError(AssertionError):
    """An action was triggered."""


def double(path: str, *bases: type, **known: Any) -> Any:
    """An instance of a class of this name that knows some attributes and refuses all others."""
    module, _, name = path.rpartition(".")

    def refuse(self: object, attribute: str) -> Any:
        raise ActionError(attribute)

    kind = type(name, bases, {"__module__": module, "__getattr__": refuse})
    value = kind()
    vars(value).update(known)
    return value


def spark_schema() -> Any:
    fields = [("n", "bigint"), ("tags", "array<string>")]
    return SimpleNamespace(
        fields=[
            SimpleNamespace(name=name, dataType=SimpleNamespace(simpleString=lambda text=text: text))
            for name, text in fields
        ]
    )


@pytest.mark.parametrize("path", ["pyspark.sql.dataframe.DataFrame", "pyspark.sql.classic.dataframe.DataFrame"])
def test_spark_frames_tell_their_schema_and_run_no_job(path: str) -> None:
    summary = describe_value("x", double(path, schema=spark_schema()), "samples")
    assert summary.headline == "x: pyspark.DataFrame of 2 columns (not computed)"
    assert [(c.name, c.dtype) for c in summary.columns] == [("'n'", "bigint"), ("'tags'", "array[string]")]
    assert not summary.copyable


def test_spark_connect_is_not_asked_for_a_schema_that_it_has_not_sent_yet() -> None:
    path = "pyspark.sql.connect.dataframe.DataFrame"
    assert (
        describe_value("x", double(path), "stats").headline
        == "x: pyspark.DataFrame (columns not asked of the server)"
    )
    asked = describe_value("x", double(path, _cached_schema=spark_schema()), "stats")
    assert len(asked.columns) == 2


def test_sessions_and_rdds_are_not_asked() -> None:
    for path in ("pyspark.sql.session.SparkSession", "pyspark.core.rdd.RDD", "distributed.client.Client"):
        assert describe_value("x", double(path), "stats").headline.endswith("(not asked)")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (double("ray._raylet.ObjectRef"), "x: ray.ObjectRef (not fetched)"),
        (double("modin.pandas.series.Series"), "x: modin.Series (not computed)"),
        (
            double("pyspark.pandas.frame.DataFrame", dtypes={"n": np.dtype("int64")}),
            "x: pyspark.pandas.DataFrame of 1 columns (not computed)",
        ),
        (
            double("some.Backend", type("BaseBackend", (), {"__module__": "ibis.backends", "name": "postgres"})),
            "x: ibis connection postgres (not queried)",
        ),
    ],
    ids=["ray", "modin", "pandas_on_spark", "ibis"],
)
def test_references_and_connections_are_neither_fetched_nor_queried(value: Any, told: str) -> None:
    assert describe_value("x", value, "stats").headline == told


@pytest.mark.parametrize("known", [True, False])
def test_ray_datasets_tell_the_schema_only_if_it_is_known(known: bool) -> None:
    def schema(fetch_if_missing: bool = True) -> Any:
        if fetch_if_missing:
            raise ActionError("schema")
        return SimpleNamespace(names=["n"], types=["int64"]) if known else None

    summary = describe_value("x", double("ray.data.dataset.Dataset", schema=schema), "stats")
    state = "of 1 columns (not computed)" if known else "(columns not computed)"
    assert summary.headline == f"x: ray.Dataset {state}"


def test_modin_frames_tell_labels_and_types_that_are_there_already() -> None:
    def modin(**known: Any) -> Any:
        inner = double("modin.core.dataframe.Frame", **known)
        compiler = double("modin.core.Compiler", _modin_frame=inner)
        return double("modin.pandas.dataframe.DataFrame", _query_compiler=compiler)

    ready = modin(
        has_materialized_columns=True, columns=["n"], has_materialized_dtypes=True, dtypes=[np.dtype("int64")]
    )
    assert [(c.name, c.dtype) for c in describe_value("x", ready, "stats").columns] == [("'n'", "int")]
    half = modin(has_materialized_columns=True, columns=["n"], has_materialized_dtypes=False)
    assert [(c.name, c.dtype) for c in describe_value("x", half, "stats").columns] == [("'n'", "?")]
    waiting = modin(has_materialized_columns=False)
    assert describe_value("x", waiting, "stats").headline == "x: modin.DataFrame (columns not computed)"


def test_tensors_elsewhere_tell_shape_and_device_only() -> None:
    tensor = double(
        "torch.Tensor", shape=(2, 3), dtype="torch.float32", device="cuda:0", layout="torch.strided", nbytes=24
    )
    vars(tensor)["requires_grad"] = True
    summary = describe_value("x", tensor, "stats")
    assert summary.headline == "x: Tensor 2x3 float32 cuda:0, with gradient"
    assert summary.size_bytes == 24


def test_networks_tell_their_parameters_and_parts_and_are_not_run() -> None:
    weight = SimpleNamespace(numel=lambda: 12, device="cpu")
    layer = double("torch.nn.modules.linear.Linear", _parameters={"weight": weight, "bias": None}, _modules={})
    tied = double("torch.nn.modules.linear.Linear", _parameters={"weight": weight}, _modules={"self": layer})
    base = type("Module", (), {"__module__": "torch.nn.modules.module", "__call__": None})
    network = double("torch.nn.modules.container.Net", base, _parameters={}, _modules={"a": layer, "b": tied})
    vars(network)["training"] = False
    assert (
        describe_value("x", network, "stats").headline
        == "x: Net torch module, 12 parameters cpu, eval mode ['a' Linear, 'b' Linear]"
    )
