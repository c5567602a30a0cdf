"""The boundary where a library reads data of the sandbox: any error there becomes a `RejectedDataError`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jupyter_codeagent.types.errors import RejectedDataError
from jupyter_codeagent.types.rust_panics import panics_as_errors

MAX_REASON_CHARS = 160


@contextmanager
def rejecting_errors(what: str) -> Iterator[None]:
    """Raise `RejectedDataError` for any error of the block, with the text ``what: reason.``.

    No list covers what libraries raise for data that they did not write: `ZoneInfo("Europe")` raises an OSError,
    two equal names a `polars.DuplicateError`, and a name that is not UTF-8 a panic.
    """
    try:
        with panics_as_errors():
            yield
    except RejectedDataError:
        raise
    except Exception as problem:
        reason = one_line(problem, MAX_REASON_CHARS) or type(problem).__name__
        raise RejectedDataError(f"{what}: {reason.rstrip('.')}.") from problem


def one_line(text: object, limit: int) -> str:
    """Return text from the sandbox as one line without control characters, capped, to be displayed as a note."""
    kept = (char if char.isprintable() else " " for char in str(text)[:limit])
    return " ".join("".join(kept).split())
