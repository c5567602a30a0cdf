"""One live value as a pickle stream and the raw buffers it refers to; nothing is copied but what has no buffer.

Protocol 5 with out-of-band buffers (PEP 574) was exact in all 59 dtype cases tried; Arrow in 38.
"""

from __future__ import annotations

import pickle
import types
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from jupyter_codeagent.sandbox.data import arrow, numpy_arrays, pandas_parts, polars_frames

NOTEBOOK_MODULE = "__main__"
"""Where classes and functions of the notebook live; the sandbox does not have them."""
REDUCED: Mapping[str, Callable[[Any], Any]] = {
    module: library.reduced
    for library in (arrow, numpy_arrays, pandas_parts, polars_frames)
    for module in library.MODULES
}
"""By the module of a value's type: what its pickle does not do well is made right there."""


Refusal = Callable[[object], str]
"""An object -> why no copy may have it; empty if it may."""


class SupportsWrite(Protocol):
    def write(self, data: Any, /) -> int: ...


class NotCopyableError(Exception):
    """The value has no faithful copy; the text says why and can follow ``cannot be copied:``."""


class TooLargeError(Exception):
    """More bytes than allowed; raised before they are collected."""


def pickle_value(
    value: object, stream: SupportsWrite, *, max_bytes: int, refusal: Refusal | None = None
) -> tuple[memoryview, ...]:
    """Write the pickle stream; returns the buffers that it refers to.

    `refusal` is asked about each object that is reached; without it nothing is.

    They are views of the live value's memory, valid as long as nobody changes it: for one call on the main thread.

    Raises
    ------
    NotCopyableError, TooLargeError
    OSError
        From the stream.
    """
    counted = _CountedStream(stream, max_bytes)
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
        _pickler(counted, keep_outside, refusal).dump(value)
    except (NotCopyableError, TooLargeError):
        raise
    except Exception as problem:  # a foreign `__reduce__` can fail in any way, and it is told to the user
        if counted.failed is not None:
            raise counted.failed from problem
        raise NotCopyableError(_reason(problem)) from problem
    return tuple(buffers)


def _pickler(
    stream: SupportsWrite, keep_outside: Callable[[pickle.PickleBuffer], bool], refusal: Refusal | None
) -> pickle.Pickler:
    if refusal is None:
        return _NotebookAwarePickler(stream, protocol=5, buffer_callback=keep_outside)
    pickler = _RefusingPickler(stream, protocol=5, buffer_callback=keep_outside)
    pickler.refusal = refusal
    return pickler


class _NotebookAwarePickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        """Refuse what pickle would write as a mere name of the notebook's: the sandbox could not find it."""
        if isinstance(obj, type | types.FunctionType) and obj.__module__ == NOTEBOOK_MODULE:
            raise NotCopyableError(f"it needs {obj.__qualname__!r}, which is defined in the notebook")
        reduced = REDUCED.get(type(obj).__module__)
        return NotImplemented if reduced is None else reduced(obj)


class _RefusingPickler(_NotebookAwarePickler):
    refusal: Refusal

    def persistent_id(self, obj: Any) -> None:
        """Called for each object, also for those that pickle writes by itself."""
        if why := self.refusal(obj):
            raise NotCopyableError(why)


class _CountedStream:
    def __init__(self, stream: SupportsWrite, max_bytes: int) -> None:
        self._stream = stream
        self._left = max_bytes
        self.failed: OSError | None = None
        """What the stream has raised, apart from what the value's own methods do."""

    def count(self, size_bytes: int) -> None:
        self._left -= size_bytes
        if self._left < 0:
            raise TooLargeError

    def write(self, data: Any) -> int:
        self.count(memoryview(data).nbytes)
        try:
            return self._stream.write(data)
        except OSError as problem:
            self.failed = problem
            raise


def _reason(problem: Exception) -> str:
    text = " ".join(str(problem).split())[:200]
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__
