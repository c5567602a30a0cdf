"""Names that stand for something else in a notebook, and so for nothing of ours."""

from __future__ import annotations

import builtins

NOTEBOOK_NAMES = frozenset({"In", "Out", "exit", "quit", "get_ipython", "display"})


def is_reserved(name: str) -> bool:
    """Whether Python or IPython have it, or hide it from the user."""
    return name.startswith("_") or name in NOTEBOOK_NAMES or hasattr(builtins, name)
