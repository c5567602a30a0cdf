"""Entry inside the sandbox: confine, bind, confine again, serve.

Run as a script, ``python serve.py JSON CONNECTION_FILE``. Only this directory is in view, as `codeagent_inside`;
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
    """This directory as a package of that name, wherever it lies: editable checkout or site-packages."""
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(directory, "__init__.py"), submodule_search_locations=[directory]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{directory} cannot be made a package")
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


def preload(modules: list[str]) -> list[str]:
    """Import what the user will want; returns those that are not available in here."""
    missing = []
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001  (any module may fail in any way; it is reported to the host)
            missing.append(name)
    return missing


def make_kernel(connection_file: str) -> Any:
    """An IPKernelApp with its sockets bound."""
    # The debugger is never used in here; importing it costs 60 ms of every start.
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    from ipykernel.kernelapp import IPKernelApp

    app = IPKernelApp.instance()
    app.initialize(["-f", connection_file, "--HistoryManager.enabled=False"])
    return app


def heed_semicolons(shell: Any) -> None:
    """A value with a semicolon behind it is not shown, as in a notebook. IPython looks for the semicolon in its
    history, and there is none in here."""
    cell = ""

    def begin(info: Any) -> None:
        nonlocal cell
        cell = info.raw_cell

    shell.events.register("pre_run_cell", begin)
    shell.displayhook.quiet = lambda: shell.displayhook.semicolon_at_end_of_expression(cell)


def main() -> None:
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
    # IPython has it only while a cell runs. Imported outside one, as here, pandas would take this for a terminal
    # and print "..." for columns that a notebook shows.
    vars(builtins)["get_ipython"] = app.shell.get_ipython
    heed_semicolons(app.shell)
    importlib.import_module(f"{PACKAGE}.calls").install(app.kernel)
    enforce.enforce_late(confinement)
    report["missing"] = preload(described["preload"])
    os.write(report_fd, json.dumps(report).encode() + b"\n")
    os.close(report_fd)
    gc.collect()
    gc.freeze()  # what was imported stays: a collection then takes a millisecond, not a tenth of a second
    app.start()


if __name__ == "__main__":
    main()
