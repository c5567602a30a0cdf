"""Memory for queries that run in the user's kernel: a query that wants all of the machine's fails in its place.

DuckDB's own limit does not count the values that a step is making. `s || s` forty times over is a short query, and
the system would end the kernel for it, with all of the user's variables.

"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import psutil

from jupyter_codeagent.types.machine_memory import machine_memory
from jupyter_codeagent.types.sizes import format_bytes

USED_SHARE = 0.9
"""Of the free memory, which queries may use."""
LEAST_BYTES = 1 << 30
"""What they may use in any case: a container counts cached files as used that it could give up."""


@dataclass
class _Limit:
    """The limit of this process while queries run; that of the first one counts for those beside it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    queries: int = 0
    before: tuple[int, int] = (-1, -1)


_LIMIT = _Limit()


@contextmanager
def memory_limited() -> Iterator[None]:
    """Let this process take about as much memory as is free now; allocations beyond fail. Linux only.

    Raises
    ------
    MemoryError
        In the place of DuckDB's own error, whose advice would not help.
    """
    free_bytes = max(int(machine_memory().free_bytes * USED_SHARE), LEAST_BYTES)
    _begin(free_bytes)
    try:
        yield
    except Exception as problem:
        if "bad allocation" not in str(problem):
            raise
        raise MemoryError(
            f"the query needs more memory than is free ({format_bytes(free_bytes)}): filter or aggregate earlier"
        ) from problem
    finally:
        _end()


def _begin(free_bytes: int) -> None:
    if sys.platform != "linux":
        return
    import resource

    with _LIMIT.lock:
        if not _LIMIT.queries:
            _LIMIT.before = resource.getrlimit(resource.RLIMIT_AS)
            soft, hard = _LIMIT.before
            limit = psutil.Process().memory_info().vms + free_bytes
            if soft == resource.RLIM_INFINITY or limit < soft:
                resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        _LIMIT.queries += 1  # last: what fails before it has nothing to take back


def _end() -> None:
    if sys.platform != "linux":
        return
    import resource

    with _LIMIT.lock:
        _LIMIT.queries -= 1
        if not _LIMIT.queries:
            resource.setrlimit(resource.RLIMIT_AS, _LIMIT.before)
