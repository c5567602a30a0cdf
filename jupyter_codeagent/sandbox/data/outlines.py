"""Outlines in place of parts of a value that are not decoded: their type, size and first columns, no values.

A person reads them to decide about a call; until then no part is unpacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_codeagent.sandbox.data.sparse import SPARSE

if TYPE_CHECKING:
    from jupyter_codeagent.sandbox.data.frames import FrameDescription
    from jupyter_codeagent.sandbox.data.stream import TableShape

MAX_COLUMNS = 20
MAX_LABEL_CHARS = 40
NAMES = {
    "frame": "DataFrame",
    "series": "Series",
    "index": "Index",
    "polars_frame": "polars DataFrame",
    "polars_series": "polars Series",
    "arrow_table": "Arrow Table",
    "arrow_array": "Arrow Array",
}
"""By the form in the frame's description."""
TABLES = ("frame", "polars_frame", "arrow_table")


@dataclass(frozen=True)
class Outline:
    """Type and size of a part, such as ``DataFrame 24x5``, and details for where there is space."""

    text: str
    details: tuple[str, ...] = ()
    """``'id' int64``: the first columns, and ``…`` where there are more."""

    def __str__(self) -> str:
        return self.text


def outline_frame(side: FrameDescription, shape: TableShape) -> Outline:
    """Return the outline of a frame: ``polars DataFrame 24x5``."""
    name, width = NAMES[side.form], len(side.labels)
    if side.form not in TABLES:
        return Outline(f"{name} {side.rows}", tuple(one.type_text[:MAX_LABEL_CHARS] for one in shape.columns[:1]))
    columns = [
        f"{_label(label)} {column.type_text[:MAX_LABEL_CHARS]}"
        for label, column in zip(side.labels[:MAX_COLUMNS], shape.columns, strict=False)
    ]
    return Outline(f"{name} {side.rows}x{width}", (*columns, *(("…",) if width > MAX_COLUMNS else ())))


def outline_array(shape: Sequence[int], dtype: Any) -> Outline:
    """Return the outline of an array: ``ndarray 3x4``; without a size for a single value."""
    return Outline(f"ndarray {'x'.join(map(str, shape))}".rstrip(), (str(dtype)[:MAX_LABEL_CHARS],))


def outline_composed(kind: str, made_of: Sequence[Any]) -> Outline:
    """Return the outline of a composed array: ``csr_array 3x3``, ``masked ndarray 3``.

    Raises
    ------
    ValueError
    """
    if kind != "sparse":
        return Outline(f"masked {made_of[0]}")
    name, sides = made_of[:2]
    if name not in SPARSE or not isinstance(sides, list) or [type(side) for side in sides] != [int, int]:
        raise ValueError("not a sparse array")
    return Outline(f"{name} {sides[0]}x{sides[1]}")


def outline_image(width: int, height: int) -> Outline:
    """Return the outline of an image: ``image 640x480``."""
    return Outline(f"image {width}x{height}")


def _label(label: object) -> str:
    """Return a column's label as short text. Labels may be of any plain type and any size."""
    if isinstance(label, str):
        return repr(label[:MAX_LABEL_CHARS])
    is_short = label is None or isinstance(label, bool | float) or (isinstance(label, int) and abs(label) < 1 << 64)
    return repr(label) if is_short else f"a {type(label).__name__}"
