"""Where numpy's own pickle changes an array: some it turns to the byte order of the machine."""

from __future__ import annotations

from typing import Any


def reduced(value: Any) -> Any:
    """What `object.__reduce_ex__` should return for this value; NotImplemented where it does well by itself."""
    if type(value).__module__ in ("numpy", "numpy.ma") and hasattr(value, "dtype"):
        import numpy as np

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
