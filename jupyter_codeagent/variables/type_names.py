"""Names of types of other libraries, as ``module.QualName``, so that no library is imported to recognise a value.

Where there are several, the library has renamed its modules; the newest is first.
"""

from __future__ import annotations

PANDAS_FRAME = ("pandas.DataFrame", "pandas.core.frame.DataFrame")
PANDAS_SERIES = ("pandas.Series", "pandas.core.series.Series")
PANDAS_INDEX = ("pandas.Index", "pandas.core.indexes.base.Index")
PANDAS_CATEGORICAL = ("pandas.Categorical", "pandas.core.arrays.categorical.Categorical")
GEOPANDAS_FRAME = "geopandas.geodataframe.GeoDataFrame"
GEOPANDAS_SERIES = "geopandas.geoseries.GeoSeries"
POLARS_FRAME = "polars.dataframe.frame.DataFrame"
POLARS_SERIES = "polars.series.series.Series"
POLARS_LAZY_FRAME = "polars.lazyframe.frame.LazyFrame"
POLARS_EXPRESSION = "polars.expr.expr.Expr"
ARROW_TABLE = "pyarrow.lib.Table"
ARROW_BATCH = "pyarrow.lib.RecordBatch"
XARRAY_DATASET = "xarray.core.dataset.Dataset"
XARRAY_ARRAY = "xarray.core.dataarray.DataArray"
DUCKDB_RELATION = (
    "duckdb._relation.DuckDBPyRelation",
    "duckdb.duckdb.DuckDBPyRelation",
    "_duckdb.DuckDBPyRelation",
)
DASK_FRAME = ("dask.dataframe.dask_expr._collection.DataFrame", "dask_expr._collection.DataFrame")
