"""Pickling of Arrow arrays: only the rows that are displayed, and no copy of the whole memory.

A slice of an Arrow array refers to the whole array it was cut from, and pickle would write all of it; a value that
was set to missing may still lie in memory. Neither must reach the sandbox: the user may have removed them because
of what they hold. Dictionaries are not rows: they are copied whole, as categories of pandas are.
"""

from __future__ import annotations

from typing import Any

MODULES = ("pyarrow.lib",)


def reduced(value: Any) -> Any:
    """Return what `object.__reduce_ex__` should return for a value; NotImplemented if the default is right."""
    if not hasattr(value, "offset") or not hasattr(value, "get_total_buffer_size"):
        return NotImplemented  # tables and chunked arrays consist of arrays, each of which is pickled by itself
    if has_leftovers(value):
        return without_leftovers(value).__reduce_ex__(5)
    return without_the_rest(value).__reduce_ex__(5) if is_part_of_more(value) else NotImplemented


# --- rows that were cut off ---------------------------------------------------------------------------


def is_part_of_more(value: Any) -> bool:
    """Check whether an Arrow array has buffers with more than its rows; costs nothing.

    A few arrays of structs are reported that have no more than their rows: these are copied needlessly.
    """
    return bool(value.offset or value.get_total_buffer_size() > value.nbytes + _uncounted(value.type))


def without_the_rest(value: Any) -> Any:
    """Return an equal array of the same type with memory of its own.

    Raises
    ------
    ValueError
        If it contains a dense union, for which Arrow would keep the rest.
    """
    import pyarrow as pa

    if "dense_union" in str(value.type):
        raise ValueError(f"it is a part of an Arrow array of type {value.type}, and Arrow cannot copy it alone")
    return pa.concat_arrays([value, value.slice(0, 0)])  # a single array would be returned as it is


def _uncounted(arrow_type: Any) -> int:
    """Return bytes that `nbytes` leaves out: n items of variable length have n + 1 offsets, and it counts n."""
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


# --- values that were set to missing ------------------------------------------------------------------


def has_leftovers(array: Any) -> bool:
    """Check whether memory may hold a value where one is missing. Costs a pass over the missing ones.

    Unions, the values of maps and runs, and dictionaries are not checked.
    """
    import pyarrow.types as is_type

    kind = array.type
    if hasattr(array, "storage"):
        return has_leftovers(array.storage)
    if is_type.is_struct(kind):
        missing = array.null_count > 0 and kind.num_fields > 0
        return missing or any(has_leftovers(array.field(at)) for at in range(kind.num_fields))
    if is_type.is_list(kind) or is_type.is_large_list(kind):
        return array.null_count > 0 or has_leftovers(array.values)
    if not array.null_count or is_type.is_null(kind) or is_type.is_boolean(kind) or is_type.is_dictionary(kind):
        return False
    return bool(kind.num_fields or _is_view(kind) or _has_bytes(_under_missing(array)))


def without_leftovers(array: Any) -> Any:
    """Return an equal array of the same type with memory of its own, and nothing where a value is missing."""
    import numpy as np
    import pyarrow as pa

    kind = array.type
    if hasattr(array, "storage"):
        return pa.ExtensionArray.from_storage(kind, without_leftovers(array.storage))
    missing = array.is_null()
    if pa.types.is_struct(kind):
        parts = [without_leftovers(part) for part in array.flatten()]  # missing where the struct is
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=missing)
    if _is_view(kind):
        plain = pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary()
        return without_leftovers(array.cast(plain)).cast(kind)
    taken = array.take(pa.array(np.arange(len(array))))
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    if is_list and has_leftovers(taken.values):
        made = pa.ListArray if pa.types.is_list(kind) else pa.LargeListArray
        return made.from_arrays(taken.offsets, without_leftovers(taken.values), type=kind, mask=missing)
    return taken


def _is_view(kind: Any) -> bool:
    return str(kind) in ("string_view", "binary_view")


def _under_missing(array: Any) -> Any:
    """Return what lies in memory where values are missing, as values."""
    import pyarrow as pa

    bare = pa.Array.from_buffers(array.type, len(array), [None, *array.buffers()[1:]], offset=array.offset)
    return bare.filter(array.is_null())


def _has_bytes(values: Any) -> bool:
    """Check whether any value is something other than zero, NaN or empty text."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if pa.types.is_floating(kind):
        numbers = values.to_numpy(zero_copy_only=False)
        return bool(((numbers != 0) & (numbers == numbers)).any())  # noqa: PLR0124 - NaN
    if not _has_width(kind):
        return bool((pc.max(pc.binary_length(values)).as_py() or 0) > 0)
    buffer, width = values.buffers()[1], kind.bit_width // 8
    start = values.offset * width
    return bool(np.frombuffer(buffer, "u1")[start : start + len(values) * width].any())


def _has_width(kind: Any) -> bool:
    try:
        return bool(kind.bit_width)
    except ValueError:  # of variable length
        return False
