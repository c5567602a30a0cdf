"""What stands for a part of a value that was not decoded: what it is, how large, its first columns. No values.

A person who decides about a call reads it; until then nothing of the part is unpacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_codeagent.sandbox.data.sparse import SPARSE

if TYPE_CHECKING:
    from jupyter_codeagent.sandbox.data.frames import SideCar
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
"""By the form of the side-car."""
TABLES = ("frame", "polars_frame", "arrow_table")


@dataclass(frozen=True)
class Outline:
    """``DataFrame 24x5``, and more of it where there is room."""

    text: str
    details: tuple[str, ...] = ()
    """``'id' int64``: the first columns, and ``…`` where there are more."""

    def __str__(self) -> str:
        return self.text


def of_frame(side: SideCar, shape: TableShape) -> Outline:
    """``polars DataFrame 24x5``."""
    name, width = NAMES[side.form], len(side.labels)
    if side.form not in TABLES:
        return Outline(f"{name} {side.rows}", tuple(one.type_text[:MAX_LABEL_CHARS] for one in shape.columns[:1]))
    columns = [
        f"{_label(label)} {column.type_text[:MAX_LABEL_CHARS]}"
        for label, column in zip(side.labels[:MAX_COLUMNS], shape.columns, strict=False)
    ]
    return Outline(f"{name} {side.rows}x{width}", (*columns, *(("…",) if width > MAX_COLUMNS else ())))


def of_array(shape: Sequence[int], dtype: Any) -> Outline:
    """``ndarray 3x4``; of a single one only what it is."""
    return Outline(f"ndarray {'x'.join(map(str, shape))}".rstrip(), (str(dtype)[:MAX_LABEL_CHARS],))


def of_composed(kind: str, made_of: Sequence[Any]) -> Outline:
    """``csr_array 3x3``, ``masked ndarray 3``. Raises ValueError."""
    if kind != "sparse":
        return Outline(f"masked {made_of[0]}")
    name, sides = made_of[:2]
    if name not in SPARSE or not isinstance(sides, list) or [type(side) for side in sides] != [int, int]:
        raise ValueError("not a sparse array")
    return Outline(f"{name} {sides[0]}x{sides[1]}")


def of_picture(width: int, height: int) -> Outline:
    return Outline(f"picture {width}x{height}")


def _label(label: object) -> str:
    """Of a column. Labels may be of any plain type and any size."""
    if isinstance(label, str):
        return repr(label[:MAX_LABEL_CHARS])
    is_short = label is None or isinstance(label, bool | float) or (isinstance(label, int) and abs(label) < 1 << 64)
    return repr(label) if is_short else f"a {type(label).__name__}"
