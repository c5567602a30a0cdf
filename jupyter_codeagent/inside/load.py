"""Binds the user's copies to their names. The one place where anything is unpickled: here, what the user wrote."""

from __future__ import annotations

import mmap
import os
import pickle
from typing import Any


def load_variables(directory: str, described: list[dict[str, Any]], namespace: dict[str, Any]) -> dict[str, str]:
    """Load each of `described` (name, file, buffers, head) into `namespace`; the errors by name."""
    errors: dict[str, str] = {}
    for item in described:
        try:
            namespace[item["name"]] = load_value(
                os.path.join(directory, item["file"]), item["buffers"], item["head"]
            )
        except Exception as problem:  # noqa: BLE001  (a foreign type can fail in any way; it is reported to the host)
            errors[item["name"]] = f"{type(problem).__name__}: {problem}"[:500]
    return errors


def load_value(path: str, buffers: list[tuple[int, int]], head: tuple[int, int]) -> Any:
    """The value of one file, writable.

    Pages are shared with the file until they are written to: a frame costs memory only where it is changed.
    """
    with open(path, "rb") as file:
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    parts = [mapped[start : start + length] for start, length in buffers]
    start, length = head
    return pickle.loads(mapped[start : start + length], buffers=parts)  # noqa: S301  (written by the user's own kernel)
