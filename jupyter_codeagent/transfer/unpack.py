"""One value of the sandbox, as the user's side may have it: built from data, nothing unpickled or executed."""

from __future__ import annotations

import io
import math
import tokenize
from typing import Any

from jupyter_codeagent.errors import RejectedDataError
from jupyter_codeagent.transfer.frames import build_arrow, build_pandas, build_polars, read_side_car
from jupyter_codeagent.transfer.plain import decode_plain, decode_value, parse_json
from jupyter_codeagent.transfer.png import clean_png
from jupyter_codeagent.transfer.stream import read_table
from jupyter_codeagent.values import PackedValue

BUILDERS = {
    "frame": build_pandas,
    "series": build_pandas,
    "index": build_pandas,
    "polars_frame": build_polars,
    "polars_series": build_polars,
    "arrow_table": build_arrow,
    "arrow_array": build_arrow,
}
MAX_PARTS = 1000
MAX_NOTES = 20
INVALID_ARRAY = (
    ValueError,
    TypeError,
    EOFError,
    OSError,
    SyntaxError,
    MemoryError,
    OverflowError,
    RecursionError,
    tokenize.TokenError,
)
"""What numpy raises for a header that it did not write, which it reads as a Python literal."""


def unpack(packed: PackedValue, *, max_bytes: int) -> tuple[Any, tuple[str, ...]]:
    """The value, and what was changed on its way because it has no exact data form.

    Raises
    ------
    RejectedDataError
    """
    size_bytes = len(packed.meta_json) + len(packed.data)
    if size_bytes > max_bytes:
        raise RejectedDataError(f"{size_bytes:,} bytes came out of the sandbox; the limit is {max_bytes:,}.")
    if packed.kind == "parts":
        return _parts(packed)
    if packed.kind == "json":
        return decode_plain(packed.meta_json), ()
    return _part(packed)


def _part(packed: PackedValue) -> tuple[Any, tuple[str, ...]]:
    """What may lie by itself, or be part of a container."""
    if packed.kind == "npy":
        return _array(packed.data), _notes(parse_json(packed.meta_json, "The description of an array"))
    if packed.kind == "arrow":
        return _frame(packed)
    if packed.kind == "png":
        return _picture(packed.data)
    raise RejectedDataError(f"Data of kind {str(packed.kind)[:40]!r} came out of the sandbox.")


def _parts(packed: PackedValue) -> tuple[Any, tuple[str, ...]]:
    """A container, and the frames, arrays and pictures in it, which lie one after the other."""
    meta = parse_json(packed.meta_json, "A value")
    described = meta.get("parts") if isinstance(meta, dict) else None
    if not isinstance(described, list) or len(described) > MAX_PARTS:
        raise RejectedDataError(f"A value from the sandbox has no list of parts, or more than {MAX_PARTS:,}.")
    values, notes, at = [], list(_notes(meta)), 0
    for item in described:
        if not isinstance(item, list) or [type(field) for field in item] != [str, str, int] or item[2] < 0:
            raise RejectedDataError("A part of a value from the sandbox is not described.")
        kind, meta_json, length = item
        value, of_part = _part(PackedValue(kind=kind, meta_json=meta_json, data=packed.data[at : at + length]))
        values.append(value)
        notes += of_part
        at += length
    if at != len(packed.data):
        raise RejectedDataError("The parts of a value from the sandbox are not as long as they say.")
    return decode_value(meta.get("value"), values), tuple(dict.fromkeys(notes))[:MAX_NOTES]


def _notes(meta: Any) -> tuple[str, ...]:
    notes = meta.get("notes", []) if isinstance(meta, dict) else []
    return tuple(one_line(note, 200) for note in notes[:MAX_NOTES]) if isinstance(notes, list) else ()


def _picture(data: bytes) -> tuple[Any, tuple[str, ...]]:
    from IPython.display import Image

    cleaned, width, height = clean_png(data)
    return Image(data=cleaned, format="png"), (f"the figure came back as a PNG image of {width}x{height} pixels",)


def _array(data: bytes) -> Any:
    """Not `numpy.load`, which takes an archive or a pickle for an array too."""
    from numpy.lib import format as npy

    file = io.BytesIO(data)
    try:
        _check_header(file, len(data))
        file.seek(0)
        return npy.read_array(file, allow_pickle=False)
    except INVALID_ARRAY as problem:
        raise RejectedDataError(f"An array from the sandbox is not valid: {str(problem)[:120]}.") from problem


def _check_header(file: io.BytesIO, size_bytes: int) -> None:
    """Before anything is allocated: the elements that are claimed are the bytes that are there."""
    from numpy.lib import format as npy

    version = npy.read_magic(file)
    # Version 3 differs from 2 in the encoding of field names alone, which do not matter here.
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    claimed_bytes = math.prod(shape) * dtype.itemsize
    if dtype.itemsize == 0 or any(length < 0 for length in shape) or claimed_bytes != size_bytes - file.tell():
        raise ValueError(f"shape {shape} of {dtype} does not fit {size_bytes - file.tell():,} bytes")


def one_line(text: object, limit: int) -> str:
    """Text from inside without control characters, capped; it is shown as a note."""
    kept = (char if char.isprintable() else " " for char in str(text)[:limit])
    return " ".join("".join(kept).split())


def _frame(packed: PackedValue) -> tuple[Any, tuple[str, ...]]:
    import pyarrow as pa

    table = read_table(packed.data)
    try:
        side = read_side_car(parse_json(packed.meta_json, "A side-car"))
        if side.form not in BUILDERS:
            raise RejectedDataError(f"Data of form {side.form[:40]!r} came out of the sandbox.")
        return BUILDERS[side.form](table, side), tuple(one_line(note, 200) for note in side.notes)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, pa.ArrowException) as problem:
        # Arrays and description do not fit together in one of the many ways pandas can find.
        raise RejectedDataError(f"A frame from the sandbox is not what it says: {str(problem)[:160]}.") from problem
