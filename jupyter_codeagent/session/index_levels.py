"""The index of a table as an exploration sees it."""

from __future__ import annotations

from jupyter_codeagent.sandbox.guest.exploration.index_columns import index_columns


def shown_levels(visible: object, live: object) -> tuple[str, ...]:
    """Return the levels of the index that are looked at as columns; none if one of them is hidden.

    The programs of the findings run on the live table as well, whose `reset_index()` makes columns of all levels.
    """
    levels = index_columns(visible)
    return levels if levels == index_columns(live) else ()
