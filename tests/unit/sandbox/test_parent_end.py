"""What a kernel leaves whose server ends first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from jupyter_codeagent.sandbox import parent_end

ROOT = Path(__file__).parents[3]
SERVER = """
import os, subprocess, sys
kernel = subprocess.Popen(
    [sys.executable, "-c", sys.argv[1]],
    env={**os.environ, "JPY_PARENT_PID": str(os.getpid())},
)
kernel.wait()
"""
KERNEL = """
import os, time
from jupyter_codeagent.sandbox.data.directory import SpoolDirectory
from jupyter_codeagent.sandbox.local.walls.layout import PrivateDirectory
from jupyter_codeagent.sandbox.parent_end import sweep_after_parent
kept = SpoolDirectory(max_bytes=1 << 62), PrivateDirectory.create()
sweep_after_parent()
parent = os.getppid()
print("ready", flush=True)
while os.getppid() == parent:
    time.sleep(0.05)
time.sleep(0.3)
os._exit(1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="waits for the parent by a descriptor of Linux")
def test_what_a_kernel_leaves_whose_server_was_killed_is_removed_without_a_next_kernel() -> None:
    with tempfile.TemporaryDirectory(prefix="ca-") as directory:
        environment = {**os.environ, "TMPDIR": directory, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", SERVER, KERNEL]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == "ready\n"
            assert len(list(Path(directory).iterdir())) == 2
            server.send_signal(signal.SIGKILL)
        deadline = time.monotonic() + 60
        while list(Path(directory).iterdir()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert list(Path(directory).iterdir()) == []


def test_nothing_is_watched_where_no_server_has_started_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JPY_PARENT_PID", raising=False)
    parent_end.sweep_after_parent()
    assert parent_end._watched == set()
