"""What a database says of a query that it cannot run: in one line, which names the database and what it lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

LIBRARIES = frozenset({"duckdb", "_duckdb", "sqlite3", "sqlalchemy"})
"""Top packages of the errors that databases raise."""
WHERE = re.compile(r"\nLINE \d+: [^\n]*(\n[ \t]*[\^~]+)?")
"""The piece of the query, with the tables that we put in front of it, and a mark below it."""


@contextmanager
def plain_errors(title: str) -> Iterator[None]:
    """Raise errors of a database as a ValueError with one line; those of Python and ours are left as they are.

    Raises
    ------
    ValueError
    """
    try:
        yield
    except Exception as problem:
        if type(problem).__module__.partition(".")[0] not in LIBRARIES:
            raise
        raise ValueError(f"{title}: {said(problem)}") from problem


def said(problem: Exception) -> str:
    """Return the message of the driver itself, without the query and links that SQLAlchemy adds."""
    own = getattr(problem, "orig", None) or problem
    text = own.args[1] if len(own.args) == 2 and isinstance(own.args[0], int) else own  # (1064, "You have …")
    return " ".join(WHERE.sub("", str(text)).split())
