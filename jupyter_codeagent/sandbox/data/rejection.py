"""The edge where data of the sandbox meets a library: whatever is raised there becomes one `RejectedDataError`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jupyter_codeagent.types.errors import RejectedDataError
from jupyter_codeagent.types.rust_panics import panics_as_errors

MAX_REASON_CHARS = 160


@contextmanager
def refused(what: str) -> Iterator[None]:
    """Raise `RejectedDataError` for any error of the block; `what` begins the sentence that the reason ends.

    There is no list of what libraries raise for data that they did not write: `ZoneInfo("Europe")` is an OSError,
    two equal names are a `polars.DuplicateError`, a name that is no UTF-8 is a panic.
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
    """Text from inside without control characters, capped; it is shown as a note."""
    kept = (char if char.isprintable() else " " for char in str(text)[:limit])
    return " ".join("".join(kept).split())
