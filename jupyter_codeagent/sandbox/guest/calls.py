"""What the host asks of the sandbox beside running cells. Each call is a silent execute request that runs `answer`.

The answer goes out as `codeagent_value` messages on the kernel's own iopub socket, in chunks: no files, no races.
The host trusts none of it.
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
from .streams import bound_stream

CHUNK_BYTES = 8 << 20
MESSAGE_TYPE = "codeagent_value"
Answer = tuple[str, str, Any]
"""kind, meta as JSON text, bytes-like data."""

_state: dict[str, Any] = {}


def install(kernel: Any) -> None:
    """Remember the kernel, so that cells cannot hide it from us by rebinding `get_ipython`."""
    _state["kernel"] = kernel
    kernel.shell.ask_exit = _end_cell
    charts.install(kernel.shell.display_formatter.mimebundle_formatter)
    for stream in (sys.stdout, sys.stderr):
        bound_stream(stream)


def _end_cell() -> None:
    """For ``exit()`` and ``quit()``: small models write them, and the kernel's own take all variables along."""
    raise SystemExit("this cell ends here")


def answer(call: str, argument: str) -> None:
    """Run one call and send what it gives; what fails is sent as kind ``error``."""
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


def after_cell(asked: dict[str, Any]) -> Answer:
    """The namespace, what became of the copies, and the line of the last exception if the cell failed."""
    from .changes import report
    from .namespace import describe_namespace

    shell = _state["kernel"].shell
    found: dict[str, Any] = {
        "variables": describe_namespace(shell.user_ns, shell.user_ns_hidden),
        "changes": report(shell.user_ns),
    }
    if asked.get("failed"):
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


def load(asked: dict[str, Any]) -> Answer:
    """Bind copied variables and run import lines; the errors of each, by name."""
    namespace = _state["kernel"].shell.user_ns
    errors: dict[str, str] = {}
    if asked["variables"]:
        loader = importlib.import_module(".load", __package__)
        _make_room(asked["variables"])
        errors = loader.load_variables(asked["directory"], asked["variables"], namespace)
        gc.collect()  # tracebacks of failed cells hold the copies that were replaced, and their memory, in cycles
    missing: dict[str, str] = {}
    for line in asked["modules"]:
        try:
            exec(line, namespace)  # noqa: S102  (an import line, in the sandbox, where any code may run)
        except Exception as problem:  # noqa: BLE001  (any module may fail in any way; it is reported to the host)
            missing[line] = f"{type(problem).__name__}: {problem}"[:500]
    return "json", json.dumps({"errors": errors, "missing": missing}), b""


def _make_room(variables: list[dict[str, Any]]) -> None:
    """Private mappings count as data: without this a copied frame would eat the limit meant for computing."""
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


def fetch(asked: dict[str, Any]) -> Answer:
    """One variable as data."""
    namespace = _state["kernel"].shell.user_ns
    if asked["name"] not in namespace:
        return "error", f"{asked['name']!r} is not defined in the sandbox", b""
    packer = importlib.import_module(".send", __package__)
    packed: Answer = packer.pack(namespace[asked["name"]], asked["max_bytes"])
    return packed


def offer(asked: dict[str, Any]) -> Answer:
    """Bind stubs of the functions that the code may call; those of before are gone."""
    tools = importlib.import_module(".tools", __package__)
    channel = _state.setdefault("channel", tools.Channel(_state["kernel"], _make_room))
    shell = _state["kernel"].shell
    if "offered" not in _state:
        _state["offered"] = tools.kept_offers(shell)
    tools.offer(channel, asked["tools"], shell, _state["offered"])
    return "json", "{}", b""


def selftest(asked: dict[str, Any]) -> Answer:
    """Try to get out, in every way we know: which ways are open, and what the kernel says is in force."""
    from .layers import describe_layers
    from .probes import run_probes

    return "json", json.dumps({"probes": run_probes(asked), "layers": describe_layers()}), b""


CALLS: dict[str, Callable[[dict[str, Any]], Answer]] = {
    "after_cell": after_cell,
    "load": load,
    "fetch": fetch,
    "offer": offer,
    "selftest": selftest,
}
