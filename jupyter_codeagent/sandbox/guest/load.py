"""Loading of the user's copies. The only place where anything is unpickled: data that the user's kernel wrote."""

from __future__ import annotations

import ctypes
import mmap
import os
import pickle
from functools import partial
from typing import Any

from .changes import remember
from .snapshot import forget

MAP_FIXED = 0x10
"""The same on Linux and macOS; Python's mmap lacks the constant."""


def load_variables(directory: str, described: list[dict[str, Any]], namespace: dict[str, Any]) -> dict[str, str]:
    """Load each of `described` (name, files, buffers, head) into `namespace`; return the errors by name."""
    errors: dict[str, str] = {}
    for item in described:
        try:
            load = partial(load_value, directory, item["files"], item["buffers"], item["head"])
            namespace[item["name"]] = value = load()
            remember(item["name"], value, reload=load)
            forget(item["name"])
        except Exception as problem:  # noqa: BLE001  (a foreign type can fail in any way; it is reported to the host)
            errors[item["name"]] = f"{type(problem).__name__}: {problem}"[:500]
    return errors


def load_value(
    directory: str, files: list[tuple[str, int, int]], buffers: list[tuple[int, int]], head: tuple[int, int]
) -> Any:
    """Load the value of one image, writable. `files` are (name, offset in the image, length)."""
    image = map_image(directory, files)
    parts = [image[start : start + length] for start, length in buffers]
    start, length = head
    return pickle.loads(image[start : start + length], buffers=parts)  # noqa: S301  (written by the user's own kernel)


def map_image(directory: str, files: list[tuple[str, int, int]]) -> memoryview:
    """Map all files into one range of memory.

    Pages are shared with the files until they are written to: a frame costs memory only where it is changed.
    """
    _, start, length = files[-1]
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    # It owns the range, whatever is mapped over it, and frees it when the last view is gone.
    image = mmap.mmap(-1, start + length, flags=flags)
    for name, start, length in files:
        with open(os.path.join(directory, name), "rb") as file:
            if os.fstat(file.fileno()).st_size != length:
                raise ValueError(f"{name} does not have the announced length of {length:,} bytes")
            if not _map_over(image, start, length, file.fileno()):
                file.readinto(memoryview(image)[start : start + length])
    return memoryview(image)


def _map_over(image: mmap.mmap, start: int, length: int, fd: int) -> bool:
    """Map the file over the pages at `start`; return False where the system refuses, as for too many mappings."""
    wanted = ctypes.addressof(ctypes.c_char.from_buffer(image)) + start
    got = _MMAP(wanted, length, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | MAP_FIXED, fd, 0)
    return bool(got == wanted)


_MMAP = ctypes.CDLL(None, use_errno=True).mmap
_MMAP.restype = ctypes.c_void_p
_MMAP.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64]
