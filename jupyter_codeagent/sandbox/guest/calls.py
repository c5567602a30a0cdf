"""Calls of the host to the sandbox, besides running cells. Each is a silent execute request that runs `answer`.

The answer is sent as `codeagent_value` messages on the kernel's own iopub socket, in chunks: no files, no races.
The host does not trust it.
"""

from __future__ import annotations

import gc
import importlib
import json
import resource
import sys
from collections.abc import Callable
from typing import Any

from . import charts
from .observation.observer import Observer
from .streams import bound_stream

CHUNK_BYTES = 8 << 20
MESSAGE_TYPE = "codeagent_value"
Answer = tuple[str, str, Any]
"""kind, meta as JSON text, bytes-like data."""

_state: dict[str, Any] = {}


def install(kernel: Any) -> None:
    """Remember the kernel, so that cells cannot hide it by rebinding `get_ipython`, and prepare its shell."""
    _state["kernel"] = kernel
    kernel.shell.ask_exit = _end_cell
    _state["observer"] = Observer(kernel.shell)
    charts.install(kernel.shell.display_formatter.mimebundle_formatter)
    for stream in (sys.stdout, sys.stderr):
        bound_stream(stream)


def _end_cell() -> None:
    """End the cell on ``exit()`` and ``quit()``, which small models write: they would end the kernel."""
    raise SystemExit("this cell ends here")


def answer(call: str, argument: str) -> None:
    """Run one call and send its result; a failure is sent as kind ``error``."""
    try:
        kind, meta, data = CALLS[call](json.loads(argument))
    except Exception as problem:  # noqa: BLE001  (the boundary to the host: it becomes one line there)
        kind, meta, data = "error", f"{type(problem).__name__}: {problem}"[:2000], b""
    _send(kind, meta, memoryview(data).cast("B") if data else memoryview(b""))


def _send(kind: str, meta: str, data: memoryview) -> None:
    kernel = _state["kernel"]
    count = max(1, -(-data.nbytes // CHUNK_BYTES))
    for index in range(count):
        content = {"index": index, "count": count, "kind": kind, "meta": meta if index == 0 else ""}
        chunk = data[index * CHUNK_BYTES : (index + 1) * CHUNK_BYTES]
        kernel.session.send(kernel.iopub_socket, MESSAGE_TYPE, content, parent=kernel.get_parent(), buffers=[chunk])


def after_cell(arguments: dict[str, Any]) -> Answer:
    """Return the namespace, the changes to copies, the operations, and the line of an exception."""
    from .changes import report
    from .namespace import describe_namespace

    shell = _state["kernel"].shell
    found: dict[str, Any] = {
        "variables": describe_namespace(shell.user_ns, shell.user_ns_hidden),
        "changes": report(shell.user_ns),
        **_state["observer"].report(),
    }
    if arguments.get("failed"):
        found["line"] = _failed_line()
    return "json", json.dumps(found), b""


def _failed_line() -> int | None:
    from ipykernel.compiler import get_tmp_directory

    from .failure import failed_line

    error = getattr(sys, "last_value", None)
    if not isinstance(error, BaseException):
        return None
    cells = get_tmp_directory()
    return failed_line(error, getattr(sys, "last_traceback", None), cells)


def load(arguments: dict[str, Any]) -> Answer:
    """Bind copied variables and run import lines; return the errors of each, by name."""
    namespace = _state["kernel"].shell.user_ns
    errors: dict[str, str] = {}
    if arguments["variables"]:
        loader = importlib.import_module(".load", __package__)
        _raise_memory_limit(arguments["variables"])
        errors = loader.load_variables(arguments["directory"], arguments["variables"], namespace)
        gc.collect()  # tracebacks of failed cells keep replaced copies, and their memory, alive in reference cycles
    missing: dict[str, str] = {}
    for line in arguments["modules"]:
        try:
            exec(line, namespace)  # noqa: S102  (an import line, in the sandbox, where any code may run)
        except Exception as problem:  # noqa: BLE001  (any module may fail in any way; it is reported to the host)
            missing[line] = f"{type(problem).__name__}: {problem}"[:500]
    return "json", json.dumps({"errors": errors, "missing": missing}), b""


def _raise_memory_limit(variables: list[dict[str, Any]]) -> None:
    """Raise RLIMIT_DATA by the size of the copies: private mappings count as data, and would use up the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if soft == resource.RLIM_INFINITY:
        return
    base = _state.setdefault("data_limit", soft)
    mapped = _state.setdefault("mapped", {})
    for item in variables:
        _, start, length = item["files"][-1]
        mapped[item["name"]] = start + length
    wanted = base + sum(mapped.values())
    resource.setrlimit(
        resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
    )


def fetch(arguments: dict[str, Any]) -> Answer:
    """Return one variable as data."""
    namespace = _state["kernel"].shell.user_ns
    if arguments["name"] not in namespace:
        return "error", f"{arguments['name']!r} is not defined in the sandbox", b""
    packer = importlib.import_module(".send", __package__)
    packed: Answer = packer.pack(namespace[arguments["name"]], arguments["max_bytes"])
    return packed


def offer(arguments: dict[str, Any]) -> Answer:
    """Bind stubs of the functions that the code may call, in place of the previous ones."""
    tools = importlib.import_module(".tools", __package__)
    channel = _state.setdefault("channel", tools.Channel(_state["kernel"], _raise_memory_limit))
    shell = _state["kernel"].shell
    if "offered" not in _state:
        _state["offered"] = tools.create_offers(shell)
    tools.offer(channel, arguments["tools"], shell, _state["offered"])
    return "json", "{}", b""


def explore(arguments: dict[str, Any]) -> Answer:
    """Look at whole tables by name; return what was found in them."""
    from .exploration.explore import explore as look_at

    namespace = _state["kernel"].shell.user_ns
    missing = [name for name in arguments["names"] if name not in namespace]
    tables = {name: namespace[name] for name in arguments["names"] if name in namespace}
    report = look_at(tables, arguments["leave_out"], arguments["seconds"], arguments["max_rows"])
    report["skipped"] += [{"table": name, "why": "it is not defined in the sandbox"} for name in missing]
    return "json", json.dumps(report), b""


def keep(arguments: dict[str, Any]) -> Answer:
    """Remember the variables as they are, for `restore`."""
    from . import snapshot

    shell = _state["kernel"].shell
    snapshot.keep(shell.user_ns, shell.user_ns_hidden)
    return "json", "{}", b""


def restore(arguments: dict[str, Any]) -> Answer:
    """Bind the variables as they were at `keep`."""
    from . import snapshot

    snapshot.restore(_state["kernel"].shell.user_ns)
    return "json", "{}", b""


def selftest(arguments: dict[str, Any]) -> Answer:
    """Try every known way out of the sandbox; return which are open, and which layers the kernel reports."""
    from .layers import describe_layers
    from .probes import run_probes

    return "json", json.dumps({"probes": run_probes(arguments), "layers": describe_layers()}), b""


CALLS: dict[str, Callable[[dict[str, Any]], Answer]] = {
    "after_cell": after_cell,
    "load": load,
    "fetch": fetch,
    "offer": offer,
    "explore": explore,
    "keep": keep,
    "restore": restore,
    "selftest": selftest,
}
