"""Pickling of parts of pandas objects without anything that the user has cut off or set to missing.

A MultiIndex keeps the values of rows that were cut off, a nullable column those that were set to missing.
Categories are different: they belong to the column's type, used or not.
"""

from __future__ import annotations

import copyreg
from typing import Any

MODULES = (
    *("pandas", "pandas.core.indexes.multi"),
    *("pandas.arrays", "pandas.core.arrays.arrow.array", "pandas.core.arrays.string_arrow"),
    *(f"pandas.core.arrays.{kind}" for kind in ("integer", "floating", "boolean")),
)


def reduced(value: Any) -> Any:
    """Return what `object.__reduce_ex__` should return for a value; NotImplemented if the default is right."""
    if type(value).__name__ == "MultiIndex":
        used = value.remove_unused_levels()
        same = all(one is other for one, other in zip(used._levels, value._levels, strict=True))
        return NotImplemented if same else used.__reduce__()
    own = getattr(value, "__dict__", {})
    if getattr(own.get("_pa_array"), "num_chunks", 0) == 1:
        return _over_arrow(value, own)
    if "_mask" in own and "_data" in own:
        return _nullable(value, own)
    return NotImplemented


def _over_arrow(value: Any, own: dict[str, Any]) -> Any:
    """Reduce an Arrow-backed array as its own `__getstate__` does, but without a copy of its single chunk."""
    state = {**own, "_pa_array": own["_pa_array"].chunk(0)}
    if "_cache" in state:
        state["_cache"] = {}
    return copyreg.__newobj__, (type(value),), state  # type: ignore[attr-defined]


def _nullable(value: Any, own: dict[str, Any]) -> Any:
    """Reduce a nullable array with zeros where values are missing, unless these are zeros or NaN anyway."""
    data, mask = own["_data"], own["_mask"]
    under = data[mask]
    if not ((under != 0) & (under == under)).any():  # noqa: PLR0124 - NaN
        return NotImplemented
    data = data.copy()
    data[mask] = 0
    return copyreg.__newobj__, (type(value),), {**own, "_data": data}  # type: ignore[attr-defined]
