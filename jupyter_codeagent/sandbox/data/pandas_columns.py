"""One column of a pandas frame from its Arrow array and its tag. Tags are matched, never looked up by name.

Each tag is only accepted for the Arrow types with which `guest.frames` writes it. Others could take many times
their bytes: a bit as a number of eight bytes, a list in every cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from jupyter_codeagent.types.errors import RejectedDataError

NUMPY_DTYPE = re.compile(r"([|<>=])?([biuf])([1248])|([|<>=])?[mM]8\[(s|ms|us|ns)\]")
MISSING_ORDINAL = -(1 << 63)
"""NaT as pandas stores it."""
MAX_CATEGORIES = 20_000
"""Limit for categories that are not text: pandas checks for duplicates by a hash table that can be made slow."""
MASKED_DTYPE = re.compile(r"U?Int(8|16|32|64)|Float(32|64)|boolean")


def build_column(array: Any, tag: str) -> Any:
    """Build a writable pandas or numpy array.

    Raises
    ------
    RejectedDataError
        Or whatever pandas raises for data that do not fit.
    """
    kind, _, detail = tag.partition(":")
    if kind not in BUILDERS:
        raise RejectedDataError(f"A column from the sandbox is tagged {tag[:40]!r}.")
    fits, build = BUILDERS[kind]
    if not fits(array.type, detail):
        raise RejectedDataError(f"A column of type {array.type!s:.60} from the sandbox is tagged {tag[:40]!r}.")
    return build(array, detail)


def _is_numpy(kind: Any, detail: str) -> bool:
    """Check whether Arrow's type equals that of numpy: with any other, a bit could become eight bytes."""
    import numpy as np
    import pyarrow as pa

    return NUMPY_DTYPE.fullmatch(detail) is not None and kind == pa.from_numpy_dtype(np.dtype(detail))


def _numpy(array: Any, detail: str) -> Any:
    import numpy as np

    return np.array(array.to_numpy(zero_copy_only=False), dtype=np.dtype(detail))


def _is_cells(kind: Any, _detail: str) -> bool:
    """Check for a type of `guest.frames.CELL_TYPES`, whose values become Python objects of a few bytes each."""
    import pyarrow as pa

    is_type = pa.types
    if kind in (pa.bool_(), pa.int64(), pa.uint64(), pa.float64(), pa.date32(), pa.time64("us")):
        return True
    tests = (is_type.is_null, is_type.is_timestamp, is_type.is_decimal128, is_type.is_decimal256)
    return is_text(kind) or kind == pa.binary() or any(test(kind) for test in tests)


def _object(array: Any, _detail: str) -> Any:
    import numpy as np

    if claims_cells(array.type, "object"):  # `to_pylist` would take seven times as much
        return array.to_numpy(zero_copy_only=False).astype(object)
    values = np.empty(len(array), dtype=object)
    values[:] = array.to_pylist()
    return values


def claims_cells(kind: Any, tag: str) -> bool:
    """Check whether each cell becomes eight bytes but came as a bit or as nothing."""
    import pyarrow as pa

    return tag == "object" and kind in (pa.null(), pa.bool_())


def _is_complex(kind: Any, _detail: str) -> bool:
    import pyarrow as pa

    return bool(kind == pa.struct([("real", pa.float64()), ("imag", pa.float64())]))


def _complex(array: Any, _detail: str) -> Any:
    real, imaginary = (_numpy(array.field(name), "<f8") for name in ("real", "imag"))
    return real + 1j * imaginary


def is_text(kind: Any, _detail: str = "") -> bool:
    """Check for one of Arrow's two types of text."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _string(array: Any, detail: str) -> Any:
    import pandas as pd

    storage, _, missing = detail.partition(":")
    dtype: Any = pd.StringDtype(
        "python" if storage == "python" else "pyarrow", na_value=pd.NA if missing == "NA" else float("nan")
    )
    return pd.array(array.to_pylist(), dtype=dtype) if storage == "python" else dtype.__from_arrow__(array)


def _is_category(kind: Any, _detail: str) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_dictionary(kind))


def _category(array: Any, detail: str) -> Any:
    """Build a categorical; its categories have a tag of their own: ``category:1:interval:right``."""
    import numpy as np
    import pandas as pd

    ordered, _, tag = detail.partition(":")
    if len(array.dictionary) > MAX_CATEGORIES and not is_text(array.dictionary.type):
        raise RejectedDataError(
            f"A column of {len(array.dictionary):,} categories that are no text came out of the sandbox; "
            f"the limit is {MAX_CATEGORIES:,}."
        )
    codes = np.array(array.indices.fill_null(-1).to_numpy(zero_copy_only=False))
    return pd.Categorical.from_codes(codes, pd.Index(build_column(array.dictionary, tag)), ordered=ordered == "1")


def _is_ordinals(kind: Any, _detail: str) -> bool:
    import pyarrow as pa

    return bool(kind == pa.int64())


def _period(array: Any, detail: str) -> Any:
    import pandas as pd

    ordinals = array.fill_null(MISSING_ORDINAL).to_numpy(zero_copy_only=False)
    period_index: Any = pd.PeriodIndex
    return period_index.from_ordinals(ordinals, freq=detail[:20]).array


def _is_interval(kind: Any, _detail: str) -> bool:
    import pyarrow as pa

    names = [kind.field(at).name for at in range(kind.num_fields)] if pa.types.is_struct(kind) else []
    return names == ["left", "right"] and all(pa.types.is_primitive(kind.field(at).type) for at in range(2))


def _interval(array: Any, detail: str) -> Any:
    import pandas as pd

    left, right = (array.field(name).to_numpy(zero_copy_only=False) for name in ("left", "right"))
    intervals: Any = pd.arrays.IntervalArray
    return intervals.from_arrays(left, right, closed=detail)


def _is_masked(kind: Any, detail: str) -> bool:
    import pyarrow as pa

    return MASKED_DTYPE.fullmatch(detail) is not None and kind == pa.from_numpy_dtype(
        detail.lower().replace("boolean", "bool")
    )


def _masked(array: Any, detail: str) -> Any:
    import pandas as pd

    dtype: Any = pd.api.types.pandas_dtype(detail)
    return dtype.__from_arrow__(array)


def _is_zoned(kind: Any, _detail: str) -> bool:
    import pyarrow as pa

    return pa.types.is_timestamp(kind) and kind.tz is not None


def _zoned(array: Any, _detail: str) -> Any:
    return array.to_pandas().array.copy()


def _is_any(_kind: Any, _detail: str) -> bool:
    return True


def _arrow(array: Any, _detail: str) -> Any:
    import pandas as pd

    return pd.array(array, dtype=pd.ArrowDtype(array.type))


BUILDERS: dict[str, tuple[Callable[[Any, str], bool], Callable[[Any, str], Any]]] = {
    "numpy": (_is_numpy, _numpy),
    "object": (_is_cells, _object),
    "complex": (_is_complex, _complex),
    "string": (is_text, _string),
    "category": (_is_category, _category),
    "period": (_is_ordinals, _period),
    "interval": (_is_interval, _interval),
    "masked": (_is_masked, _masked),
    "zoned": (_is_zoned, _zoned),
    "arrow": (_is_any, _arrow),
}
"""By tag: a check of the Arrow type, and the builder."""
