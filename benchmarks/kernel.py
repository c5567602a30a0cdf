"""Run snippets in a real ipykernel and read back what they measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

MARK = "MEASURED "


@contextmanager
def running_kernel() -> Iterator[BlockingKernelClient]:
    """A plain ipykernel, as a notebook has it."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client: BlockingKernelClient = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def measure(client: BlockingKernelClient, code: str, timeout_s: float = 300) -> Any:
    """Execute `code`, which prints `MARK` and JSON; returns that JSON.

    Raises
    ------
    RuntimeError
        The code failed or measured nothing; with what it printed.
    """
    printed: list[str] = []

    def keep(message: dict[str, Any]) -> None:
        content = message["content"]
        printed.append(content.get("text", "") or "\n".join(content.get("traceback", [])))

    client.execute_interactive(code, timeout=timeout_s, output_hook=keep, allow_stdin=False)
    text = "".join(printed)
    for line in text.splitlines():
        if line.startswith(MARK):
            return json.loads(line[len(MARK) :])
    raise RuntimeError(f"The snippet measured nothing:\n{text}")
