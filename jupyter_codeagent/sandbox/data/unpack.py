"""One value of the sandbox, as the user's side may have it: built from data, nothing unpickled or executed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jupyter_codeagent.sandbox.data import outlines
from jupyter_codeagent.sandbox.data.frames import (
    SideCar,
    build_arrow,
    build_pandas,
    build_polars,
    check_fit,
    read_side_car,
)
from jupyter_codeagent.sandbox.data.npy import read_array, read_header
from jupyter_codeagent.sandbox.data.plain import decode_plain, decode_value, parse_json
from jupyter_codeagent.sandbox.data.png import clean_png, png_size
from jupyter_codeagent.sandbox.data.refusal import one_line, refused
from jupyter_codeagent.sandbox.data.stream import read_shape, read_table
from jupyter_codeagent.types.errors import RejectedDataError
from jupyter_codeagent.types.sandbox import PackedValue

BUILDERS = {
    "frame": build_pandas,
    "series": build_pandas,
    "index": build_pandas,
    "polars_frame": build_polars,
    "polars_series": build_polars,
    "arrow_table": build_arrow,
    "arrow_array": build_arrow,
}
MAX_META_CHARS = 8 << 20
"""Of JSON, whose values can take thirty times their text. As much as a message may have of it."""
MAX_SINGLE_BYTES = 1000
"""Of an array without sides, which is a number or a text like those in JSON."""
MAX_PARTS = 1000
MAX_NOTES = 20
NOT_WHAT_IT_SAYS = "A frame from the sandbox is not what it says"

Part = tuple[Any, tuple[str, ...]]
"""The value, and notes about it."""


def unpack(packed: PackedValue, *, max_bytes: int) -> tuple[Any, tuple[str, ...]]:
    """The value, and what was changed on its way because it has no exact data form.

    It takes at most 64 times the bytes that came, and 128 MiB.

    Raises
    ------
    RejectedDataError
        And nothing else, whatever came.
    """
    return _value(packed, max_bytes, _part)


def outlined(packed: PackedValue, *, max_bytes: int) -> Part:
    """The same with an `Outline` in place of each frame, array and picture: of these only metadata are read.

    Raises
    ------
    RejectedDataError
    """
    return _value(packed, max_bytes, _outline)


def _value(packed: PackedValue, max_bytes: int, read: Callable[[PackedValue], Part]) -> Part:
    size_bytes = len(packed.meta_json) + len(packed.data)
    if size_bytes > max_bytes:
        raise RejectedDataError(f"{size_bytes:,} bytes came out of the sandbox; the limit is {max_bytes:,}.")
    if len(packed.meta_json) > MAX_META_CHARS:
        raise RejectedDataError(
            f"{len(packed.meta_json):,} characters of JSON came out of the sandbox; "
            f"the limit is {MAX_META_CHARS:,}."
        )
    with refused("A value from the sandbox is not what it says"):
        if packed.kind == "parts":
            return _parts(packed, read)
        if packed.kind == "json":
            return decode_plain(packed.meta_json), ()
        return read(packed)


def _part(packed: PackedValue) -> Part:
    """What may lie by itself, or be part of a container."""
    if packed.kind == "npy":
        return read_array(packed.data), _notes(parse_json(packed.meta_json, "The description of an array"))
    if packed.kind == "arrow":
        return _frame(packed)
    if packed.kind == "png":
        return _picture(packed.data)
    raise _unknown(packed)


def _outline(packed: PackedValue) -> Part:
    if packed.kind == "npy":
        shape, dtype = read_header(packed.data)
        is_single = shape == () and dtype.itemsize <= MAX_SINGLE_BYTES
        return read_array(packed.data) if is_single else outlines.of_array(shape, dtype), ()
    if packed.kind == "arrow":
        table = read_shape(packed.data)
        return outlines.of_frame(_side_car(packed, table.rows, len(table.columns)), table), ()
    if packed.kind == "png":
        return outlines.of_picture(*png_size(packed.data)), ()
    raise _unknown(packed)


def _unknown(packed: PackedValue) -> RejectedDataError:
    return RejectedDataError(f"Data of kind {str(packed.kind)[:40]!r} came out of the sandbox.")


def _parts(packed: PackedValue, read: Callable[[PackedValue], Part]) -> Part:
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
        value, of_part = read(PackedValue(kind=kind, meta_json=meta_json, data=packed.data[at : at + length]))
        values.append(value)
        notes += of_part
        at += length
    if at != len(packed.data):
        raise RejectedDataError("The parts of a value from the sandbox are not as long as they say.")
    return decode_value(meta.get("value"), values), tuple(dict.fromkeys(notes))[:MAX_NOTES]


def _notes(meta: Any) -> tuple[str, ...]:
    notes = meta.get("notes", []) if isinstance(meta, dict) else []
    return tuple(one_line(note, 200) for note in notes[:MAX_NOTES]) if isinstance(notes, list) else ()


def _picture(data: bytes) -> Part:
    from IPython.display import Image

    cleaned, width, height = clean_png(data)
    return Image(data=cleaned, format="png"), (f"the figure came back as a PNG image of {width}x{height} pixels",)


def _frame(packed: PackedValue) -> Part:
    table = read_table(packed.data)
    side = _side_car(packed, table.num_rows, table.num_columns)
    with refused(NOT_WHAT_IT_SAYS):
        return BUILDERS[side.form](table, side), tuple(one_line(note, 200) for note in side.notes)


def _side_car(packed: PackedValue, rows: int, columns: int) -> SideCar:
    with refused(NOT_WHAT_IT_SAYS):
        side = read_side_car(parse_json(packed.meta_json, "A side-car"))
        if side.form not in BUILDERS:
            raise RejectedDataError(f"Data of form {side.form[:40]!r} came out of the sandbox.")
        check_fit(side, rows, columns)
        return side
