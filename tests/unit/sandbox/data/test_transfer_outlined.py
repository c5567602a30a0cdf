"""The outline of a value before any of it is decoded: true where decoding succeeds, refused where it lies."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from transfer_cases import EXACT_BOTH_WAYS

from jupyter_codeagent.sandbox.data import unpack as unpacking
from jupyter_codeagent.sandbox.data.outlines import Outline
from jupyter_codeagent.sandbox.data.unpack import unpack, unpack_outline
from jupyter_codeagent.sandbox.guest.send import pack
from jupyter_codeagent.types.errors import RejectedDataError
from jupyter_codeagent.types.sandbox import PackedValue

LIMIT = 64 << 20


def packed_value(value: Any) -> PackedValue:
    kind, meta, data = pack(value, LIMIT)
    assert kind != "error", meta
    return PackedValue(kind=kind, meta_json=meta, data=data)  # type: ignore[arg-type]


def outline(value: Any) -> Any:
    return outline_of(packed_value(value))


def outline_of(packed: PackedValue) -> Any:
    """The outline; fails where anything is decoded for it."""

    def refuse(*_: object) -> None:
        raise AssertionError("decoded")

    with pytest.MonkeyPatch.context() as patch:
        for name in ("read_table", "clean_png", "build_pandas"):
            patch.setattr(unpacking, name, refuse)
        return unpack_outline(packed, max_bytes=LIMIT)[0]


@pytest.mark.parametrize("name", EXACT_BOTH_WAYS)
def test_a_frame_is_told_as_large_as_it_is(name: str) -> None:
    value = EXACT_BOTH_WAYS[name]
    assert outline(value).text == f"{type(value).__name__.replace('RangeIndex', 'Index')} " + "x".join(
        map(str, value.shape)
    )


@pytest.mark.parametrize(
    ("value", "text", "details"),
    [
        (pl.DataFrame({"a": [1], "s": ["x"]}), "polars DataFrame 1x2", ("'a' int64", "'s' text")),
        (pl.Series("a", [1.5]), "polars Series 1", ("float64",)),
        (pa.table({"n": [[1]], "c": pa.array(["x"]).dictionary_encode()}), "Arrow Table 1x2",
         ("'n' list<item: int64>", "'c' category")),
        (pa.array([True]), "Arrow Array 1", ("bool",)),
        (np.zeros((2, 3), "f4"), "ndarray 2x3", ("float32",)),
        (np.zeros(3, [("a", "i4"), ("b", "S5")]), "ndarray 3", ("[('a', '<i4'), ('b', 'S5')]",)),
    ],
)  # fmt: skip
def test_each_library_has_its_name_and_types(value: Any, text: str, details: tuple[str, ...]) -> None:
    assert outline(value) == Outline(text, details)


def test_in_a_container_all_else_is_as_it_is() -> None:
    value = outline({"table": pd.DataFrame({"a": [1]}), "n": [1, (2, "x")], "one": np.array(2.5)})
    assert value["table"] == Outline("DataFrame 1x1", ("'a' int64",))
    assert (value["n"], value["one"]) == ([1, (2, "x")], np.array(2.5))


@pytest.mark.parametrize(
    "change",
    [
        {"rows": 5},
        {"rows": 10**9},
        {"labels": []},
        {"labels": ["a", "b"]},
        {"tags": []},
        {"form": "evil"},
        {"range": 1},
    ],
)
def test_a_side_car_that_does_not_fit_its_stream_is_not_told(change: dict[str, Any]) -> None:
    packed = packed_value(pd.DataFrame({"a": [1, 2]}))
    meta = json.dumps(json.loads(packed.meta_json) | change)
    with pytest.raises(RejectedDataError):
        outline_of(PackedValue(kind="arrow", meta_json=meta, data=packed.data))


@pytest.mark.parametrize(
    "value",
    [
        {"sparse": ["evil", [3, 3], {"part": 0}]},
        {"sparse": ["csr_array", [10**6, "x"], {"part": 0}]},
        {"sparse": [{"part": 0}, [3, 3]]},
        {"sparse": {"part": 0}},
        {"part": 1},
    ],
)
def test_what_is_made_of_parts_and_lies_is_not_told(value: Any) -> None:
    data = packed_value(np.zeros(3)).data
    meta = json.dumps({"value": value, "parts": [["npy", "{}", len(data)]]})
    with pytest.raises(RejectedDataError):
        outline_of(PackedValue(kind="parts", meta_json=meta, data=data))


def test_what_was_told_is_what_comes() -> None:
    for value in (pd.DataFrame({"a": [1, 2]}), np.zeros((2, 3)), pl.DataFrame({"a": [1, 2]})):
        packed = packed_value(value)
        assert outline_of(packed).text.endswith("x".join(map(str, unpack(packed, max_bytes=LIMIT)[0].shape)))
