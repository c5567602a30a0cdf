"""Describers of distributed frames: Spark, Dask, Ray, Modin. Only what is known without an action.

The description has no row count, partition or type that would have to be computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jupyter_codeagent.types.variables import ColumnSummary, Privacy, VariableSummary
from jupyter_codeagent.variables.columns import column_name, type_text
from jupyter_codeagent.variables.describers.pandas import dtype_text
from jupyter_codeagent.variables.introspection import instance_attributes, is_a, type_name
from jupyter_codeagent.variables.text import safe


def describe_spark(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Spark DataFrame by the schema of its plan; no job runs."""
    return _summary(name, "pyspark.DataFrame", _spark_fields(frame.schema), "not computed")


def describe_spark_connect(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Spark Connect DataFrame by its cached schema; without one, the server would have to answer."""
    cached = instance_attributes(frame).get("_cached_schema")
    columns = _spark_fields(cached) if cached is not None else ()
    return _summary(
        name, "pyspark.DataFrame", columns, "not computed" if columns else "columns not asked of the server"
    )


def describe_pandas_on_spark(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """Describe a pandas-on-Spark DataFrame by its types."""
    columns = _pandas_columns(frame.dtypes.items())
    return _summary(name, "pyspark.pandas.DataFrame", columns, "not computed")


def describe_dask_frame(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Dask DataFrame by the empty example frame that Dask keeps with it."""
    return _summary(name, "dask.DataFrame", _pandas_columns(frame._meta.dtypes.items()), "not computed")


def describe_dask_series(name: str, series: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Dask Series by the empty example that Dask keeps with it."""
    meta = series._meta
    kind = f"dask.{safe(type_name(type(series)), 40)}"
    return _line(name, kind, f" {column_name(meta.name)} {dtype_text(meta.dtype)} (not computed)")


def describe_dask_array(name: str, array: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Dask array by the part of its shape that is known."""
    # A length that has to be computed is NaN.
    shape = "x".join("?" if length != length else str(length) for length in array.shape)  # noqa: PLR0124
    return _line(name, "dask.Array", f" {shape or 'scalar'} {safe(str(array.dtype))} (not computed)")


def describe_dask_other(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Bag or Delayed by its type."""
    return _line(name, f"dask.{safe(type_name(type(value)), 40)}", " (not computed)")


def describe_ray(name: str, dataset: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Ray Dataset by its schema, if known; `fetch_if_missing` would run the first tasks."""
    schema = dataset.schema(fetch_if_missing=False)
    columns = () if schema is None else _typed(zip(schema.names, schema.types, strict=True))
    return _summary(name, "ray.Dataset", columns, "not computed" if columns else "columns not computed")


def describe_ray_reference(name: str, reference: Any, privacy: Privacy) -> VariableSummary:
    """Describe a reference to a Ray object, which is not fetched."""
    return _line(name, "ray.ObjectRef", " (not fetched)")


def describe_modin(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Modin frame by labels and types that are known already; others would wait for its workers."""
    inner = getattr(frame._query_compiler, "_modin_frame", None)
    columns: tuple[ColumnSummary, ...] = ()
    if inner is not None and inner.has_materialized_columns:
        labels = list(inner.columns)
        types = (
            [dtype_text(kind) for kind in inner.dtypes] if inner.has_materialized_dtypes else ["?"] * len(labels)
        )
        columns = tuple(
            ColumnSummary(name=column_name(label), dtype=kind) for label, kind in zip(labels, types, strict=True)
        )
    return _summary(name, "modin.DataFrame", columns, "not computed" if columns else "columns not computed")


def describe_modin_series(name: str, series: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Modin Series by its type."""
    return _line(name, "modin.Series", " (not computed)")


def describe_remote(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe a session, client or RDD by its type."""
    return _line(name, safe(type_name(type(value)), 60), " (not asked)")


def _spark_fields(schema: Any) -> tuple[ColumnSummary, ...]:
    return _typed((field.name, field.dataType.simpleString()) for field in schema.fields)


def _pandas_columns(items: Iterable[tuple[object, Any]]) -> tuple[ColumnSummary, ...]:
    return tuple(ColumnSummary(name=column_name(label), dtype=dtype_text(kind)) for label, kind in items)


def _typed(items: Iterable[tuple[object, Any]]) -> tuple[ColumnSummary, ...]:
    return tuple(
        ColumnSummary(name=column_name(label), dtype=type_text(kind.__name__ if is_a(kind, type) else kind))
        for label, kind in items
    )


def _summary(name: str, kind: str, columns: tuple[ColumnSummary, ...], state: str) -> VariableSummary:
    of = f" of {len(columns)} columns" if columns else ""
    return VariableSummary(name=name, type_name=kind, headline=f"{name}: {kind}{of} ({state})", columns=columns)


def _line(name: str, kind: str, text: str) -> VariableSummary:
    return VariableSummary(name=name, type_name=kind, headline=f"{name}: {kind}{text}")


DESCRIBERS = {
    "pyspark.sql.connect.dataframe.DataFrame": describe_spark_connect,
    "pyspark.sql.classic.dataframe.DataFrame": describe_spark,
    "pyspark.sql.dataframe.DataFrame": describe_spark,
    "pyspark.pandas.frame.DataFrame": describe_pandas_on_spark,
    **dict.fromkeys(
        (
            *(
                "pyspark.sql.session.SparkSession",
                "pyspark.sql.connect.session.SparkSession",
                "pyspark.core.rdd.RDD",
            ),
            *("pyspark.rdd.RDD", "pyspark.core.context.SparkContext", "pyspark.context.SparkContext"),
            *("distributed.client.Client", "distributed.client.Future"),
        ),
        describe_remote,
    ),
    **dict.fromkeys(
        ("dask.dataframe.dask_expr._collection.DataFrame", "dask_expr._collection.DataFrame"), describe_dask_frame
    ),
    **dict.fromkeys(
        ("dask.dataframe.dask_expr._collection.Series", "dask_expr._collection.Series"), describe_dask_series
    ),
    "dask.array.core.Array": describe_dask_array,
    **dict.fromkeys(("dask.bag.core.Bag", "dask.delayed.Delayed"), describe_dask_other),
    "ray.data.dataset.Dataset": describe_ray,
    "ray._raylet.ObjectRef": describe_ray_reference,
    "modin.pandas.dataframe.DataFrame": describe_modin,
    "modin.pandas.series.Series": describe_modin_series,
}
