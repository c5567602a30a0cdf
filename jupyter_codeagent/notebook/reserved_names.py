"""Names that are reserved in a notebook, and cannot be used for variables or tools."""

from __future__ import annotations

import builtins

NOTEBOOK_NAMES = frozenset({"In", "Out", "exit", "quit", "get_ipython", "display"})


def is_reserved(name: str) -> bool:
    """Check whether Python or IPython define the name, or hide it from the user."""
    return name.startswith("_") or name in NOTEBOOK_NAMES or hasattr(builtins, name)
