"""Installs the relay as a kernel that a gateway can start: run this on the gateway's machine, or in its image.

``python -m jupyter_codeagent.sandbox.remote.kernelspec [--user | --sys-prefix | --prefix PREFIX] [--name NAME]``
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager

NAME = "codeagent-sandbox-relay"


def relay_spec(python: str) -> dict[str, Any]:
    """Return the content of ``kernel.json``."""
    return {
        # -P: a gateway starts kernels in a directory of users, whose files must not be imported
        "argv": [python, "-P", "-m", "jupyter_codeagent.sandbox.remote.relay", "{connection_file}"],
        "display_name": "Sandbox of jupyter-codeagent",
        "language": "python",
        "interrupt_mode": "message",
        "metadata": {"debugger": False},
    }


def install(*, name: str = NAME, user: bool = False, prefix: str | None = None) -> Path:
    """Install the kernelspec, replacing one of the same name, and return its directory.

    Raises
    ------
    OSError
        If the directory cannot be written.
    """
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory, name)
        source.mkdir(mode=0o755)
        (source / "kernel.json").write_text(json.dumps(relay_spec(sys.executable), indent=1), encoding="utf-8")
        manager = KernelSpecManager()
        return Path(manager.install_kernel_spec(str(source), name, user=user, prefix=prefix))


def main(arguments: list[str] | None = None) -> None:
    """Install the kernelspec as the command line says."""
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}", description=__doc__)
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--user", action="store_true", help="for this user")
    target.add_argument("--sys-prefix", action="store_true", help=f"for this Python ({sys.prefix}); the default")
    target.add_argument("--prefix", help="below this directory, in share/jupyter/kernels")
    parser.add_argument("--name", default=NAME, help="name of the kernelspec (default: %(default)s)")
    asked = parser.parse_args(arguments)
    where = install(name=asked.name, user=asked.user, prefix=None if asked.user else asked.prefix or sys.prefix)
    print(f"Installed the kernelspec {asked.name} in {where}")


if __name__ == "__main__":
    main()
