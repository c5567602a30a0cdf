"""Pickling of numpy arrays where numpy's own way changes the array, or writes more than it holds.

It converts some arrays to the byte order of the machine. Some fields of records are a view of the whole records: it
would also write the bytes of the other fields, which the user has left out.
"""

from __future__ import annotations

from typing import Any

MODULES = ("numpy", "numpy.ma", "numpy.rec")


def reduced(value: Any) -> Any:
    """Return what `object.__reduce_ex__` should return for a value; NotImplemented if the default is right."""
    if not hasattr(value, "dtype"):
        return NotImplemented
    import numpy as np

    if isinstance(value, np.ndarray | np.void) and not value.dtype.hasobject and _has_gaps(value.dtype):
        filled = _with_empty_gaps(np.asarray(value))
        return filled[()].__reduce__() if isinstance(value, np.void) else filled.view(type(value)).__reduce_ex__(5)
    if type(value) is np.ndarray and not value.dtype.hasobject:
        return _array(value)
    if type(value) is np.ma.MaskedArray and type(value.data) is np.ndarray and not vars(value).get("_optinfo"):
        # data, mask, dtype, copy, subok, ndmin, fill_value, keep_mask, hard_mask, shrink
        more = (None, False, False, 0, vars(value)["_fill_value"], True, value.hardmask, False)
        return np.ma.MaskedArray, (value.data, np.ma.getmask(value), *more)
    return NotImplemented


def _array(value: Any) -> Any:
    import numpy as np

    if not value.flags.forc:
        copy = value.copy()
        copy.flags.writeable = value.flags.writeable
        return _array(copy) if not value.dtype.isnative and value.dtype.kind in "mM" else copy.__reduce_ex__(5)
    if not value.dtype.isnative and value.dtype.kind in "mM":
        return np.ndarray.view, (value.view(f"{value.dtype.byteorder}i8"), value.dtype)
    return NotImplemented


def _has_gaps(dtype: Any) -> bool:
    """Check whether there are bytes between or behind the fields of records."""
    return bool(_bytes_of_fields(dtype) < dtype.itemsize)


def _bytes_of_fields(dtype: Any) -> int:
    if dtype.subdtype is not None:
        base = dtype.base
        return _bytes_of_fields(base) * (dtype.itemsize // base.itemsize if base.itemsize else 0)
    if dtype.names is None:
        return int(dtype.itemsize)
    return sum(_bytes_of_fields(dtype[name]) for name in dtype.names)


def _with_empty_gaps(array: Any) -> Any:
    """Return an equal array of the same type whose gaps are zeros."""
    import numpy as np

    filled = np.zeros(array.shape, array.dtype, order="F" if array.flags.fnc else "C")
    _fill(filled, array)
    filled.flags.writeable = array.flags.writeable
    return filled


def _fill(into: Any, array: Any) -> None:
    for name in array.dtype.names or ():
        if _has_gaps(array.dtype[name]):
            _fill(into[name], array[name])
        else:
            into[name] = array[name]
