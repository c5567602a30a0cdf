"""`%%agent`: an open model writes Python, a sandbox runs it on copies of your dataframes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_codeagent.tools.registry import agent_tool
    from jupyter_codeagent.tools.sql import sql_tool

__all__ = ["agent_tool", "sql_tool"]


def __getattr__(name: str) -> Any:
    """Return `agent_tool`, `sql_tool` or `__version__` on first use: the magic loads without them."""
    if name == "agent_tool":
        from jupyter_codeagent.tools.registry import agent_tool

        return agent_tool
    if name == "sql_tool":
        from jupyter_codeagent.tools.sql import sql_tool

        return sql_tool
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from jupyter_codeagent.types.version import installed_version

    return installed_version()


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Return where the panel's assets are; `jupyter-builder develop` calls this to link them."""
    return [{"src": "labextension", "dest": "jupyter-codeagent"}]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Return the server extension's module; Jupyter Server calls this and then loads the module."""
    return [{"module": "jupyter_codeagent.frontend.server"}]


def load_ipython_extension(shell: object) -> None:
    """`%load_ext jupyter_codeagent`: register `%%agent` and `%agent`, warm a sandbox in the background.

    Raises
    ------
    OSError
        On Windows itself, where there is nothing to make a sandbox of.
    """
    if sys.platform == "win32":
        raise OSError(
            "jupyter-codeagent needs Linux or macOS for its sandbox. On Windows, install and start JupyterLab"
            " inside WSL 2: the sandbox there sees neither the drives nor the programs of Windows."
        )
    from jupyter_codeagent.entrypoints.extension import load

    load(shell)


def unload_ipython_extension(shell: object) -> None:
    """Stop all that this kernel started (`%unload_ext jupyter_codeagent`).

    The embedded model, which kernels share, ends by itself after 15 minutes without a request.
    """
    from jupyter_codeagent.entrypoints.extension import unload

    unload(shell)
