"""The entry point inside the sandbox: confine, bind, confine again, serve.

Run as a script, ``python serve.py JSON CONNECTION_FILE``. Only this directory is visible, as `codeagent_inside`;
the rest of the package is not.
"""

from __future__ import annotations

import builtins
import gc
import importlib
import importlib.util
import json
import os
import sys
from typing import Any

PACKAGE = "codeagent_inside"


def make_importable(directory: str) -> None:
    """Make this directory importable as `PACKAGE`, wherever it lies: editable checkout or site-packages."""
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(directory, "__init__.py"), submodule_search_locations=[directory]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{directory} cannot be made a package")
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


def preload(modules: list[str]) -> list[str]:
    """Import modules that the user will need; return those that are not available in here."""
    missing = []
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001  (any module may fail in any way; it is reported to the host)
            missing.append(name)
    return missing


def make_kernel(connection_file: str) -> Any:
    """Return an IPKernelApp with its sockets bound."""
    # The debugger is never used in here; importing it costs 60 ms at every start.
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    from ipykernel.kernelapp import IPKernelApp

    app = IPKernelApp.instance()
    app.initialize(["-f", connection_file, "--HistoryManager.enabled=False"])
    return app


def respect_semicolons(shell: Any) -> None:
    """Display no value before a semicolon, as in a notebook.

    IPython looks for the semicolon in its history, and there is none in here.
    """
    cell = ""

    def begin(info: Any) -> None:
        nonlocal cell
        cell = info.raw_cell

    shell.events.register("pre_run_cell", begin)
    shell.displayhook.quiet = lambda: shell.displayhook.semicolon_at_end_of_expression(cell)


def main() -> None:
    """Confine this process and run the kernel in it."""
    described, connection_file = json.loads(sys.argv[1]), sys.argv[2]
    make_importable(os.path.dirname(os.path.abspath(__file__)))
    enforce = importlib.import_module(f"{PACKAGE}.enforce")
    importlib.import_module(f"{PACKAGE}.probes_darwin")  # notes the environment before ipykernel adds to it

    confinement = enforce.Confinement.from_json(described)
    report = enforce.enforce_early(confinement)
    report_fd = os.dup(1)
    os.dup2(2, 1)  # ipykernel prints hints for terminal users as it starts
    sys.argv = ["ipykernel"]
    app = make_kernel(connection_file)
    # IPython defines it only while a cell runs. Imported outside of a cell, as here, pandas would take this for a
    # terminal and print "..." for columns that a notebook displays.
    vars(builtins)["get_ipython"] = app.shell.get_ipython
    respect_semicolons(app.shell)
    importlib.import_module(f"{PACKAGE}.calls").install(app.kernel)
    importlib.import_module(f"{PACKAGE}.interrupts").install(app.kernel)
    enforce.enforce_late(confinement)
    report["missing"] = preload(described["preload"])
    os.write(report_fd, json.dumps(report).encode() + b"\n")
    os.close(report_fd)
    gc.collect()
    gc.freeze()  # imported modules stay: a collection then takes a millisecond, not a tenth of a second
    app.start()


if __name__ == "__main__":
    main()
