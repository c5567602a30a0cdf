"""Panics of Rust libraries (polars, nh3) as errors: PyO3 raises a BaseException, which handlers let pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class PanicError(RuntimeError):
    """A Rust library gave up; `str()` is its message."""


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Raise `PanicError` where the block panics. Each library has a class of its own, which nobody can import."""
    try:
        yield
    except BaseException as problem:
        if type(problem).__module__ == "pyo3_runtime":
            raise PanicError(str(problem)) from problem
        raise
