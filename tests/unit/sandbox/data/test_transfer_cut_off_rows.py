"""Rows and fields that the user has cut off, and values that were set to missing, are not in the bytes of a copy.

Slices of Arrow memory are tested in `test_transfer_equal`. Values of an unused category, of an Enum and of an Arrow
dictionary are no rows: they belong to the type, which the user sees, and travel with it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from transfer_cases import loaded
from transfer_equality import assert_same

from jupyter_codeagent.sandbox.data.spool import Spool

TEXT = "canary-71423"
NUMBER = 7142398712345678
AT, ROWS = 5, 300
SHOWN = slice(100, 200)
CANARIES = (TEXT.encode(), TEXT.encode("utf-32-le"), NUMBER.to_bytes(8, "little"), np.float64(NUMBER).tobytes())

texts = [TEXT if row == AT else f"x{row}" for row in range(ROWS)]
numbers = [NUMBER if row == AT else row for row in range(ROWS)]
is_gone = pa.array([row == AT for row in range(ROWS)])
frame = pd.DataFrame({"t": texts, "n": numbers})
by_both = frame.assign(v=1.5).set_index(["t", "n"])
records = np.array(list(zip(numbers, texts, range(ROWS), strict=True)), [("n", "i8"), ("t", "U20"), ("v", "i4")])
aligned = np.array([(number, number) for number in numbers], [("n", "i8"), ("m", "i8")])
nested = np.array([(1, one) for one in aligned], [("v", "i4"), ("in", aligned.dtype)])
arrow_texts, arrow_numbers = pa.array(texts), pa.array(numbers)
structs = pa.StructArray.from_arrays([arrow_texts, arrow_numbers], ["t", "n"])
ordinary = pl.when(pl.col("n") < ROWS)


def written(value: Any, directory: Path) -> tuple[bytes, Any]:
    """All bytes of the copy, and the copy as a sandbox has it."""
    manifest = Spool(directory, max_bytes=1 << 26).export({"value": value}, ("value",), required=True)
    content = b"".join(path.read_bytes() for path in directory.iterdir())
    return content, loaded(directory, manifest)["value"]


def has_canary(content: bytes) -> bool:
    return any(canary in content for canary in CANARIES)


CUT_OFF: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "levels of an index": (by_both, lambda whole: whole[SHOWN]),
    "levels of an index by a filter": (by_both, lambda whole: whole[whole.index.get_level_values("n") < ROWS]),
    "levels of labels": (by_both.T, lambda whole: whole.iloc[:, SHOWN]),
    "an index of several levels": (by_both.index, lambda whole: whole[SHOWN]),
    "a series by several levels": (by_both["v"], lambda whole: whole[SHOWN]),
    "fields of records": (records, lambda whole: whole[["v"]]),
    "fields of some records": (records, lambda whole: whole[["v"]][::2]),
    "fields of a record array": (records.view(np.recarray), lambda whole: whole[["v"]]),
    "fields of one record": (records[AT], lambda whole: whole[["v"]]),
    "fields of fields": (nested, lambda whole: whole["in"][["m"]][:AT]),
}


@pytest.mark.parametrize("kind", CUT_OFF)
def test_a_part_carries_neither_rows_nor_fields_that_were_cut_off(kind: str, tmp_path: Path) -> None:
    whole, part_of = CUT_OFF[kind]
    (tmp_path / "whole").mkdir()
    (tmp_path / "part").mkdir()
    assert has_canary(written(whole, tmp_path / "whole")[0])
    content, copy = written(part_of(whole), tmp_path / "part")
    assert not has_canary(content)
    assert_same(part_of(whole), copy)


def set_missing(values: Any) -> Any:
    values[AT] = None
    return values


def undeclared(array: Any) -> Any:
    """The same bytes, of which the canary is declared to be missing."""
    valid = pa.array([not gone for gone in is_gone.to_pylist()]).buffers()[1]
    return pa.Array.from_buffers(array.type, ROWS, [valid, *array.buffers()[1:]])


def polars(expression: Any) -> Any:
    return pl.DataFrame({"t": texts, "n": numbers}).select(c=expression)


MISSING: dict[str, Callable[[], Any]] = {
    "Int64 of pandas": lambda: set_missing(pd.Series(numbers, dtype="Int64")),
    "Float64 of pandas": lambda: set_missing(pd.Series(numbers, dtype="Float64")),
    "Int64 in a frame": lambda: frame.astype({"n": "Int64"})[["n"]].where(frame[["n"]] < ROWS),
    "Arrow in pandas": lambda: pd.Series(undeclared(arrow_numbers), dtype=pd.ArrowDtype(pa.int64())),
    "Arrow numbers": lambda: pc.if_else(is_gone, pa.scalar(None, pa.int64()), arrow_numbers),
    "Arrow texts": lambda: pc.if_else(is_gone, pa.scalar(None, pa.string()), arrow_texts),
    "Arrow texts, declared": lambda: undeclared(arrow_texts),
    "a part of Arrow numbers": lambda: undeclared(arrow_numbers)[AT - 2 : AT + 2],
    "Arrow decimals": lambda: undeclared(arrow_numbers.cast(pa.decimal128(20, 0))),
    "Arrow times": lambda: undeclared(arrow_numbers.cast(pa.timestamp("us"))),
    "Arrow floats": lambda: undeclared(arrow_numbers.cast(pa.float64(), safe=False)),
    "Arrow bytes of one length": lambda: undeclared(
        pa.array([f"{one:16}".encode() for one in texts], pa.binary(16))
    ),
    "Arrow structs": lambda: pa.StructArray.from_arrays([arrow_texts, arrow_numbers], ["t", "n"], mask=is_gone),
    "Arrow structs in structs": lambda: pa.StructArray.from_arrays(
        [pa.StructArray.from_arrays([arrow_texts], ["t"], mask=is_gone)], ["s"]
    ),
    "values in Arrow structs": lambda: pa.StructArray.from_arrays([undeclared(arrow_texts)], ["t"]),
    "Arrow lists": lambda: pa.ListArray.from_arrays(
        pa.array(range(ROWS + 1), pa.int32()), arrow_texts, mask=is_gone
    ),
    "values in Arrow lists": lambda: pa.ListArray.from_arrays(
        pa.array(range(ROWS + 1), pa.int32()), undeclared(arrow_texts)
    ),
    "Arrow views": lambda: pc.if_else(is_gone, pa.scalar(None, pa.string()), arrow_texts).cast(pa.string_view()),
    "an Arrow table": lambda: pa.table({"n": undeclared(arrow_numbers), "t": undeclared(arrow_texts)}),
    "polars": lambda: polars(ordinary.then("n")),
    "texts of polars": lambda: polars(ordinary.then("t")),
    "bytes of polars": lambda: polars(ordinary.then(pl.col("t").cast(pl.Binary))),
    "lists of polars": lambda: polars(ordinary.then(pl.concat_list("t"))),
    "structs of polars": lambda: polars(ordinary.then(pl.struct("t", "n"))),
    "values in structs of polars": lambda: polars(pl.struct(ordinary.then("t"), ordinary.then("n").alias("m"))),
    "long numbers of polars": lambda: polars(ordinary.then(pl.col("n").cast(pl.Int128))),
    "a series of polars": lambda: pl.Series("n", numbers).scatter(AT, None),
}


@pytest.mark.parametrize("kind", MISSING)
def test_a_value_that_was_set_to_missing_is_not_under_the_missing_one(kind: str, tmp_path: Path) -> None:
    value = MISSING[kind]()
    content, copy = written(value, tmp_path)
    assert not has_canary(content)
    assert_same(MISSING[kind](), copy)


def test_what_is_not_missing_is_there(tmp_path: Path) -> None:
    """The canaries would be found."""
    for number, value in enumerate(
        (frame, frame.astype({"n": "Int64"}), pa.table(frame), structs, pl.from_pandas(frame))
    ):
        (tmp_path / str(number)).mkdir()
        assert has_canary(written(value, tmp_path / str(number))[0])


def test_values_with_nothing_under_their_missing_ones_are_not_copied_in_this_process() -> None:
    """Looking costs one pass over the missing values alone."""
    from jupyter_codeagent.sandbox.data.arrow import reduced

    for array in (pa.array([1, None, 3]), pa.array(["a", None]), pa.array([0.5, float("nan")], from_pandas=True)):
        assert reduced(array) is NotImplemented
    assert reduced(undeclared(arrow_texts)) is not NotImplemented
