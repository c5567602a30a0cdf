"""Names that stand for something else in a notebook, and so for nothing of ours."""

from __future__ import annotations

import builtins

OF_NOTEBOOKS = frozenset({"In", "Out", "exit", "quit", "get_ipython", "display"})


def means_something_else(name: str) -> bool:
    """Whether Python or IPython have it, or hide it from the user."""
    return name.startswith("_") or name in OF_NOTEBOOKS or hasattr(builtins, name)
