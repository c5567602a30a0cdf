"""A real ipykernel with the extension, driven as a front end without the labextension would."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forked_kernels import kernels_forked
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

NO_SPARE = "from jupyter_codeagent.sandbox import warm_pool\nwarm_pool.WARM_DELAY_S = 3600\ndel warm_pool"
"""A sandbox for the run after next would be started while the test goes on, and be ended unused."""
SETUP = "import pandas as pd\ndf = pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 4]})"


@dataclass
class Ran:
    """What one cell showed."""

    text: str = ""
    """stdout, stderr and text/plain of everything shown, updates included."""
    error: str = ""
    """``Name: message``; empty if the cell succeeded."""
    data: list[dict[str, Any]] = field(default_factory=list)
    """MIME bundles in order."""
    metadata: list[dict[str, Any]] = field(default_factory=list)
    """What came with each of them."""


@dataclass
class Kernel:
    client: BlockingKernelClient
    manager: KernelManager

    def run(self, code: str, timeout_s: float = 60, cell_id: str | None = None) -> Ran:
        """Execute one cell to its end; `cell_id` as JupyterLab sends it."""
        ran = Ran()
        self.client.session.metadata = {"cellId": cell_id} if cell_id else {}

        def keep(message: dict[str, Any]) -> None:
            content = message["content"]
            ran.text += content.get("text", "")
            if "data" in content:
                ran.data.append(content["data"])
                ran.metadata.append(content["metadata"])
                ran.text += content["data"].get("text/plain", "") + "\n"

        # Not: what is asked for a moment after an error would be aborted on a busy machine.
        reply = self.client.execute_interactive(
            code, timeout=timeout_s, output_hook=keep, allow_stdin=False, stop_on_error=False
        )
        content = reply["content"]
        if content["status"] == "error":
            ran.error = f"{content['ename']}: {content['evalue']}"
        return ran

    @property
    def pid(self) -> int:
        pid = getattr(self.manager.provisioner, "pid", None)
        assert isinstance(pid, int), "the kernel is a local process"
        return pid

    def signal(self, number: signal.Signals) -> None:
        """From any thread; the manager's own method would leave an event loop behind in each."""
        os.kill(self.pid, number)

    def ask(self, prompt: str, options: str = "") -> Ran:
        return self.run(f"%%agent {options}\n{prompt}")

    def run_ids(self) -> list[str]:
        """Ids of the last runs, the newest first."""
        return [line.split()[0] for line in self.run("%agent history 9").text.splitlines()[:-1]]

    def record(self, run_id: str) -> dict[str, Any]:
        """A run as the history has it."""
        told = self.run(
            "import json as _json\nfrom jupyter_codeagent.history import HistoryStore as _H\n"
            "from jupyter_codeagent.types.run_json import run_to_json as _r\n"
            f"print(_json.dumps(_r(_H().load({run_id!r}))))"
        ).text
        found: dict[str, Any] = json.loads(told)
        return found


@contextmanager
def running_kernel(directory: Path, environment: Mapping[str, str], *, forked: bool = True) -> Iterator[Kernel]:
    """A new kernel whose Jupyter and IPython directories lie in `directory`, with `df` and the extension loaded.

    Not `forked` is what asks which environment the process was started in; see `forked_kernels`.
    """
    places = {
        "JUPYTER_DATA_DIR": str(directory / "data"),
        "JUPYTER_CONFIG_DIR": str(directory / "config"),
        "JUPYTER_RUNTIME_DIR": str(directory / "runtime"),
        "IPYTHONDIR": str(directory / "ipython"),
    }
    # Not TCP: its ports are chosen before they are taken, and other tests may take them in between.
    # The directory is not pytest's, whose long names do not fit into the address of a socket.
    with tempfile.TemporaryDirectory(prefix="kernel-") as sockets:
        manager = KernelManager(kernel_name="python3", transport="ipc", connection_file=f"{sockets}/k.json")
        manager.shutdown_wait_time = 60  # killed after five seconds, a kernel of a busy machine leaves files behind
        with kernels_forked(forked):
            manager.start_kernel(env={**os.environ, **places, **environment}, cwd=str(directory))
        client: BlockingKernelClient = manager.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=60)
            kernel = Kernel(client=client, manager=manager)
            ran = kernel.run(f"{SETUP}\n{NO_SPARE}\n%load_ext jupyter_codeagent")
            if ran.error:
                raise RuntimeError(ran.error)
            yield kernel
        finally:
            client.stop_channels()
            if manager.has_kernel:
                manager.shutdown_kernel()
