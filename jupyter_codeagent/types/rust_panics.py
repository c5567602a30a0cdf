"""Panics of Rust libraries (polars, nh3) as errors: `except Exception` misses the BaseException of PyO3."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class PanicError(RuntimeError):
    """A Rust library panicked; `str()` is its message."""


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Raise `PanicError` where the block panics.

    Each library has an exception class of its own that cannot be imported, so it is recognised by its module.
    """
    try:
        yield
    except BaseException as problem:
        if type(problem).__module__ == "pyo3_runtime":
            raise PanicError(str(problem)) from problem
        raise
