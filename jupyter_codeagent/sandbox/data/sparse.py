"""Arrays made of several others, each of which was checked by itself; here it is checked that they fit together."""

from __future__ import annotations

import math
from typing import Any

SPARSE = frozenset(f"{form}_{kind}" for form in ("csr", "csc", "coo") for kind in ("array", "matrix"))
MAX_SIDE = 1 << 40


def build_objects(shape: list[int], items: list[Any]) -> Any:
    """Build a numpy array of Python objects.

    Raises
    ------
    ValueError
    """
    import numpy as np

    if math.prod(shape) != len(items):
        raise ValueError("an array has another number of items than its shape")
    flat = np.empty(len(items), dtype=object)
    for at, item in enumerate(items):
        flat[at] = item
    return flat.reshape(shape)


def build_masked(content: list[Any]) -> Any:
    """Build a `numpy.ma.MaskedArray`.

    Raises
    ------
    ValueError, TypeError
    """
    import numpy as np

    data, mask = content
    if not isinstance(data, np.ndarray) or not isinstance(mask, np.ndarray) or data.shape != mask.shape:
        raise ValueError("a masked array and its mask do not fit together")
    if mask.dtype != np.ma.make_mask_descr(data.dtype):
        raise ValueError(f"a mask is of {mask.dtype}")
    return np.ma.MaskedArray(data, mask)


def build_sparse(content: list[Any]) -> Any:
    """Build a sparse array of scipy, whose compiled loops would read outside of arrays that are not checked.

    Raises
    ------
    ValueError
    """
    import numpy as np
    from scipy import sparse

    name, shape, data, first, second = content
    arrays = (data, first, second)
    if name not in SPARSE or not all(isinstance(array, np.ndarray) and array.ndim == 1 for array in arrays):
        raise ValueError("not a sparse array")
    if first.dtype.kind != "i" or second.dtype.kind != "i" or data.dtype.kind not in "biufc":
        raise ValueError("a sparse array of other than numbers")
    rows, columns = shape
    if not all(type(side) is int and 0 <= side <= MAX_SIDE for side in (rows, columns)):
        raise ValueError("not a shape of two sides")
    build = getattr(sparse, name)
    if name.startswith("coo"):
        _check_inside(first, rows)
        _check_inside(second, columns)
        if not len(first) == len(second) == len(data):
            raise ValueError("a sparse array whose parts are of several lengths")
        return build((data, (first, second)), shape=(rows, columns))
    outer, inner = (rows, columns) if name.startswith("csr") else (columns, rows)
    if len(first) != outer + 1 or first[0] != 0 or first[-1] != len(data) or len(second) != len(data):
        raise ValueError("a sparse array whose pointers do not fit its data")
    if (np.diff(first) < 0).any():
        raise ValueError("a sparse array whose pointers go back")
    _check_inside(second, inner)
    return build((data, second, first), shape=(rows, columns))


def _check_inside(indices: Any, length: int) -> None:
    if len(indices) and (indices.min() < 0 or indices.max() >= length):
        raise ValueError(f"an index is outside of 0 to {length}")
