"""Describers of GeoPandas: like pandas, with kinds of shapes and their reference system, without coordinates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jupyter_codeagent.types.variables import ColumnSummary, Privacy, VariableSummary
from jupyter_codeagent.variables.columns import MAX_STAT_COLUMNS
from jupyter_codeagent.variables.describers import pandas
from jupyter_codeagent.variables.describers.numbers import row_array
from jupyter_codeagent.variables.text import safe

SAMPLE_SHAPES = 100


def describe_geo_frame(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """Describe a GeoDataFrame without coordinates in any privacy mode: they say where people live."""
    summary = pandas.describe_frame(name, frame, privacy)
    columns = tuple(
        _shapes(column, frame.iloc[:, at], privacy)
        if column.dtype == "geometry" and at < MAX_STAT_COLUMNS
        else column
        for at, column in enumerate(summary.columns)
    )
    return replace(summary, columns=columns)


def describe_geo_series(name: str, series: Any, privacy: Privacy) -> VariableSummary:
    """Describe a GeoSeries by its kinds of shapes."""
    summary = pandas.describe_series(name, series, "schema")
    shapes = _shapes(ColumnSummary(name=name, dtype="geometry"), series, privacy)
    return replace(summary, headline=f"{summary.headline}{f' {shapes.stats}' if shapes.stats else ''}")


def _shapes(column: ColumnSummary, series: Any, privacy: Privacy) -> ColumnSummary:
    crs = getattr(series.array, "crs", None)
    # The name is an attribute; finding the EPSG number may search a database.
    system = safe(str(crs.name), 40) if crs is not None else "no CRS"
    if privacy == "schema":
        return replace(column, stats="", example="", missing="")
    some = series.array.take(row_array(len(series), SAMPLE_SHAPES))
    kinds = sorted({str(kind) for kind in some.geom_type if kind is not None})
    return replace(column, stats=safe(f"{'|'.join(kinds)} {system}".strip(), 80), example="")


DESCRIBERS = {
    "geopandas.geodataframe.GeoDataFrame": describe_geo_frame,
    "geopandas.geoseries.GeoSeries": describe_geo_series,
}
