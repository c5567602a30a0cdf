"""One value of the sandbox, built for the user's side from data: nothing is unpickled or executed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jupyter_codeagent.sandbox.data import outlines
from jupyter_codeagent.sandbox.data.frames import (
    FrameDescription,
    build_arrow,
    build_pandas,
    build_polars,
    check_description,
    read_frame_description,
)
from jupyter_codeagent.sandbox.data.npy import read_array, read_header
from jupyter_codeagent.sandbox.data.plain import decode_plain, decode_value, parse_json
from jupyter_codeagent.sandbox.data.png import clean_png, png_size
from jupyter_codeagent.sandbox.data.rejection import one_line, rejecting_errors
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
"""Limit for JSON, whose values can take thirty times the size of their text; the same as for a message."""
MAX_SINGLE_BYTES = 1000
"""Limit for an array without dimensions, which is a number or a text like those in JSON."""
MAX_PARTS = 1000
MAX_NOTES = 20
MISMATCH = "A frame from the sandbox does not match its description"

Part = tuple[Any, tuple[str, ...]]
"""The value, and notes about it."""


def unpack(packed: PackedValue, *, max_bytes: int) -> tuple[Any, tuple[str, ...]]:
    """Return the value, and notes on what was changed because it has no exact data form.

    The result takes at most 64 times the received bytes, and 128 MiB.

    Raises
    ------
    RejectedDataError
        And nothing else, whatever was received.
    """
    return _value(packed, max_bytes, _part)


def unpack_outline(packed: PackedValue, *, max_bytes: int) -> Part:
    """Return the value with an `Outline` in place of each frame, array and image: only their metadata are read.

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
    with rejecting_errors("A value from the sandbox does not match its description"):
        if packed.kind == "parts":
            return _parts(packed, read)
        if packed.kind == "json":
            return decode_plain(packed.meta_json), ()
        return read(packed)


def _part(packed: PackedValue) -> Part:
    """Build a value that may stand by itself, or be part of a container."""
    if packed.kind == "npy":
        return read_array(packed.data), _notes(parse_json(packed.meta_json, "The description of an array"))
    if packed.kind == "arrow":
        return _frame(packed)
    if packed.kind == "png":
        return _image(packed.data)
    raise _unknown(packed)


def _outline(packed: PackedValue) -> Part:
    if packed.kind == "npy":
        shape, dtype = read_header(packed.data)
        is_single = shape == () and dtype.itemsize <= MAX_SINGLE_BYTES
        return read_array(packed.data) if is_single else outlines.outline_array(shape, dtype), ()
    if packed.kind == "arrow":
        table = read_shape(packed.data)
        return outlines.outline_frame(_frame_description(packed, table.rows, len(table.columns)), table), ()
    if packed.kind == "png":
        return outlines.outline_image(*png_size(packed.data)), ()
    raise _unknown(packed)


def _unknown(packed: PackedValue) -> RejectedDataError:
    return RejectedDataError(f"Data of kind {str(packed.kind)[:40]!r} came out of the sandbox.")


def _parts(packed: PackedValue, read: Callable[[PackedValue], Part]) -> Part:
    """Build a container with its frames, arrays and images, whose bytes follow one another."""
    meta = parse_json(packed.meta_json, "A value")
    described = meta.get("parts") if isinstance(meta, dict) else None
    if not isinstance(described, list) or len(described) > MAX_PARTS:
        raise RejectedDataError(f"A value from the sandbox has no list of parts, or more than {MAX_PARTS:,}.")
    values, notes, at = [], list(_notes(meta)), 0
    for item in described:
        if not isinstance(item, list) or [type(field) for field in item] != [str, str, int] or item[2] < 0:
            raise RejectedDataError("A part of a value from the sandbox has no description.")
        kind, meta_json, length = item
        value, of_part = read(PackedValue(kind=kind, meta_json=meta_json, data=packed.data[at : at + length]))
        values.append(value)
        notes += of_part
        at += length
    if at != len(packed.data):
        raise RejectedDataError(
            "The parts of a value from the sandbox do not have the lengths in their description."
        )
    return decode_value(meta.get("value"), values), tuple(dict.fromkeys(notes))[:MAX_NOTES]


def _notes(meta: Any) -> tuple[str, ...]:
    notes = meta.get("notes", []) if isinstance(meta, dict) else []
    return tuple(one_line(note, 200) for note in notes[:MAX_NOTES]) if isinstance(notes, list) else ()


def _image(data: bytes) -> Part:
    from IPython.display import Image

    cleaned, width, height = clean_png(data)
    return Image(data=cleaned, format="png"), (f"the figure came back as a PNG image of {width}x{height} pixels",)


def _frame(packed: PackedValue) -> Part:
    table = read_table(packed.data)
    description = _frame_description(packed, table.num_rows, table.num_columns)
    with rejecting_errors(MISMATCH):
        return BUILDERS[description.form](table, description), tuple(
            one_line(note, 200) for note in description.notes
        )


def _frame_description(packed: PackedValue, rows: int, columns: int) -> FrameDescription:
    with rejecting_errors(MISMATCH):
        description = read_frame_description(parse_json(packed.meta_json, "The description of a frame"))
        if description.form not in BUILDERS:
            raise RejectedDataError(f"Data of form {description.form[:40]!r} came out of the sandbox.")
        check_description(description, rows, columns)
        return description
