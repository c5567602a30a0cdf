"""What pickle makes of Arrow memory, made right: no more rows than are shown, and no copy of all of it.

A slice of an Arrow array refers to all of the array it was cut from, and pickle would write all of it. More rows
than are shown must not reach the sandbox: the user may have cut them off because of what is in them. Dictionaries
are no rows: they travel whole, as categories of pandas do.
"""

from __future__ import annotations

import copyreg
from typing import Any

ARROW_MODULE = "pyarrow.lib"
PANDAS_MODULES = ("pandas.arrays", "pandas.core.arrays.arrow.array", "pandas.core.arrays.string_arrow")
MODULES = (ARROW_MODULE, *PANDAS_MODULES)


def reduced(value: Any) -> Any:
    """What `object.__reduce_ex__` should return for this value; NotImplemented where it does well by itself."""
    module = type(value).__module__
    if module == ARROW_MODULE and is_part_of_more(value):
        return without_the_rest(value).__reduce_ex__(5)
    if module in PANDAS_MODULES and getattr(vars(value).get("_pa_array"), "num_chunks", 0) == 1:
        return _pandas_array(value)
    return NotImplemented


def _pandas_array(value: Any) -> Any:
    """As its own `__getstate__`, which has Arrow copy even a single chunk."""
    state = {**vars(value), "_pa_array": value._pa_array.chunk(0)}
    if "_cache" in state:
        state["_cache"] = {}
    return copyreg.__newobj__, (type(value),), state  # type: ignore[attr-defined]


def is_part_of_more(value: Any) -> bool:
    """Whether it is an Arrow array whose buffers may have more than its rows; costs nothing.

    Tables and chunked arrays consist of arrays, each of which is looked at by itself. A few arrays of structs are
    said to have more and have not: they are copied in vain.
    """
    if not hasattr(value, "offset") or not hasattr(value, "get_total_buffer_size"):
        return False
    return bool(value.offset or value.get_total_buffer_size() > value.nbytes + _uncounted(value.type))


def without_the_rest(value: Any) -> Any:
    """An equal array of the same type with memory of its own.

    Raises
    ------
    ValueError
        With a dense union in it, where Arrow would keep the rest.
    """
    import pyarrow as pa

    if "dense_union" in str(value.type):
        raise ValueError(f"it is a part of an Arrow array of type {value.type}, and Arrow cannot copy it alone")
    return pa.concat_arrays([value, value.slice(0, 0)])  # a single one would be given back as it is


def _uncounted(arrow_type: Any) -> int:
    """Bytes: arrays of n items of variable length have n + 1 offsets, of which `nbytes` counts n."""
    import pyarrow as pa

    if pa.types.is_dictionary(arrow_type):
        return _uncounted(arrow_type.value_type)
    if isinstance(arrow_type, pa.BaseExtensionType):
        return _uncounted(arrow_type.storage_type)
    is_type = pa.types
    small = is_type.is_string, is_type.is_binary, is_type.is_list, is_type.is_map
    large = is_type.is_large_string, is_type.is_large_binary, is_type.is_large_list
    own = 4 * any(is_one(arrow_type) for is_one in small) + 8 * any(is_one(arrow_type) for is_one in large)
    return own + sum(_uncounted(arrow_type.field(index).type) for index in range(arrow_type.num_fields))
