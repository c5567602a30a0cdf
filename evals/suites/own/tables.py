"""Public tables that come inside of packages, for the truths of several rooms."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from typing import Any


@cache
def vega(name: str) -> Any:
    """A table of vega_datasets, read as its users read it: with the way it parses dates, of which pandas warns."""
    with warnings.catch_warnings(action="ignore"):
        return getattr(import_module("vega_datasets").local_data, name)()


@cache
def rows(name: str) -> list[dict[str, Any]]:
    """The same as plain Python; what is missing is None."""
    table = vega(name)
    return list(table.astype(object).where(table.notna(), None).to_dict("records"))


@cache
def statsmodels(name: str) -> Any:
    """A table of statsmodels.datasets."""
    return import_module(f"statsmodels.datasets.{name}").load_pandas().data
