"""The result of a call as the record keeps it for a replay: as data, like what comes out of the sandbox."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from jupyter_codeagent.sandbox.data.stream import read_table
from jupyter_codeagent.sandbox.data.unpack import unpack
from jupyter_codeagent.sandbox.guest.send import pack
from jupyter_codeagent.types.errors import RejectedDataError
from jupyter_codeagent.types.sandbox import PackedValue, RecordedValue
from jupyter_codeagent.variables.privacy.masking import masked
from jupyter_codeagent.variables.privacy.secret import carries_secret, secret_name
from jupyter_codeagent.variables.text import looks_personal

MAX_BYTES = 256 << 10
"""Largest result, as data: several thousand rows of a few columns."""
MAX_TEXT_CHARS = 1 << 20
"""Size of all results of a run, as they are kept."""
NUMBERS = "biufcMm"
"""Kinds of NumPy arrays that hold no text."""


def recorded(value: Any, max_chars: int = MAX_TEXT_CHARS) -> RecordedValue | None:
    """Return the exact value for the record; None if it is large, not data, or looks private. Main thread only."""
    try:
        return _recorded(value, max_chars)
    except Exception:  # noqa: BLE001  (the value's own code, or a form that we do not know: a replay calls again)
        return None


def _recorded(value: Any, max_chars: int) -> RecordedValue | None:
    kind, meta_json, data = pack(value, MAX_BYTES)
    if kind not in ("json", "arrow", "npy") or len(meta_json) + len(data) > MAX_BYTES:
        return None
    packed = PackedValue(kind=kind, meta_json=meta_json, data=data)  # type: ignore[arg-type]
    back, notes = unpack(packed, max_bytes=MAX_BYTES)
    if notes or _is_private(value if kind == "json" else back, packed):
        return None
    text = base64.b64encode(zlib.compress(data)).decode("ascii") if data else ""
    kept = RecordedValue(kind=packed.kind, meta_json=meta_json, data=text)
    return kept if len(meta_json) + len(text) <= max_chars else None


def restored(kept: RecordedValue) -> Any:
    """Return the recorded value.

    Raises
    ------
    RejectedDataError
        The record was damaged, or is of a version that wrote it otherwise.
    """
    try:
        data = _inflated(base64.b64decode(kept.data, validate=True))
    except (ValueError, zlib.error) as problem:
        raise RejectedDataError(f"A recorded result cannot be read: {problem}.") from problem
    value, _ = unpack(PackedValue(kind=kept.kind, meta_json=kept.meta_json, data=data), max_bytes=MAX_BYTES)
    return value


def _inflated(compressed: bytes) -> bytes:
    if not compressed:
        return b""
    inflater = zlib.decompressobj()
    data = inflater.decompress(compressed, MAX_BYTES + 1)
    if not inflater.eof:
        raise ValueError("it is cut short or too large")
    return data


def _is_private(value: Any, packed: PackedValue) -> bool:
    """Check whether a value looks private, by its form or by the names of its columns and keys."""
    if packed.kind == "json":
        return carries_secret("", value) or _shows_private(f"{value!r}\n{packed.meta_json}")
    if packed.kind == "npy":
        return value.dtype.kind not in NUMBERS
    meta = json.loads(packed.meta_json)
    labels = [str(label) for label in (*meta["labels"], *meta.get("index_names", ()))]
    if any(looks_personal(label) or secret_name(label, "text") for label in labels):
        return True
    table = read_table(packed.data)
    return any(_shows_private("\n".join(map(str, column.to_pylist()))) for column in table.columns)


def _shows_private(text: str) -> bool:
    return masked(text, ()) != text
