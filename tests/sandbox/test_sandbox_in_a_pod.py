"""Sandboxes in Pods of Kubernetes: the same promises, and no Pod without its kernel. The cluster is a stand-in."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from sandbox_box import Box

from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.types.sandbox import SandboxPolicy

Run = Callable[[Coroutine[Any, Any, Any]], Any]
REPOSITORY = Path(__file__).parents[2]
MANIFEST = REPOSITORY / "docs" / "kubernetes" / "sandbox.yaml"
KUBECTL = Path(__file__).parent / "fake_kubectl" / "kubectl"
POD = (sys.executable, "-m", "jupyter_codeagent.entrypoints.cli", "pod", "--kubectl", str(KUBECTL))


@pytest.fixture
def cluster(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A stand-in for kubectl and a cluster, whose Pods have the same walls by bubblewrap; where they are noted."""
    fault = getattr(request, "param", "")
    place = tmp_path / "cluster"
    place.mkdir()
    view = sorted({str(Path(sys.executable).parents[1]), sys.base_prefix, str(REPOSITORY)})
    config = {"place": str(place), "python": sys.executable, "view": view, "fault": fault}
    (tmp_path / "config.json").write_text(json.dumps(config))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config.json"))
    yield place
    for noted in [*place.glob("*/pid"), *place.glob("*/relay")]:
        if exists(pid := int(noted.read_text())):
            os.killpg(pid, signal.SIGKILL)


@pytest.fixture
def start(loop_thread: Run, tmp_path: Path) -> Iterator[Callable[[Path], Box]]:
    started: list[Box] = []

    def begin(manifest: Path) -> Box:
        policy = SandboxPolicy(levels=("command",), command=(*POD, str(manifest)))
        kernel = loop_thread(SandboxKernel.start(policy=policy, data_dir=tmp_path))
        started.append(Box(kernel, loop_thread, tmp_path))
        return started[-1]

    yield begin
    for box in started:
        box.call(box.kernel.stop())


def exists(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def processes(cluster: Path) -> list[int]:
    """Of all Pods: their first processes, and the relays."""
    noted = [*cluster.glob("*/pid"), *cluster.glob("*/relay")]
    return [pid for path in noted if exists(pid := int(path.read_text()))]


def wait_until_none_runs(cluster: Path) -> None:
    until = time.monotonic() + 20
    while processes(cluster) and time.monotonic() < until:
        time.sleep(0.05)
    assert processes(cluster) == []


def test_a_pod_runs_the_code_and_is_deleted_with_its_sandbox(cluster: Path, start: Callable[[Path], Box]) -> None:
    box = start(MANIFEST)
    assert box.text("print(6 * 7)") == "42"
    assert {"TCP", "read files outside", "write files outside", "environment"} <= set(box.kernel.status.closed)
    assert len(processes(cluster)) == 2
    box.call(box.kernel.stop())
    wait_until_none_runs(cluster)
    assert all(path.suffix for path in cluster.glob("codeagent-*")), "deleted or swept"


KERNEL = """
import asyncio, sys
from pathlib import Path
from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.types.sandbox import SandboxPolicy

async def main():
    policy = SandboxPolicy(levels=("command",), command=tuple(sys.argv[2:]))
    await SandboxKernel.start(policy=policy, data_dir=Path(sys.argv[1]))
    print("started", flush=True)
    await asyncio.sleep(100)

asyncio.run(main())
"""


@pytest.mark.parametrize("cluster", ["", "may not delete"], indirect=True)
def test_a_pod_does_not_outlive_a_kernel_that_is_killed(cluster: Path, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", KERNEL, str(tmp_path), *POD, str(MANIFEST)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as kernel:
        assert kernel.stdout is not None
        assert kernel.stdout.readline() == b"started\n"
        assert len(processes(cluster)) == 2
        kernel.kill()
    wait_until_none_runs(cluster)


def test_a_pod_with_the_token_of_a_service_account_is_refused(
    cluster: Path, start: Callable[[Path], Box], tmp_path: Path
) -> None:
    weakened = tmp_path / "pod.yaml"
    weakened.write_text(MANIFEST.read_text().replace("automountServiceAccountToken: false", ""))
    with pytest.raises(SandboxUnavailableError, match="it has the token of a service account, which it must not"):
        start(weakened)
    wait_until_none_runs(cluster)


def test_a_pod_that_is_evicted_is_told_as_such(cluster: Path, start: Callable[[Path], Box]) -> None:
    box = start(MANIFEST)
    (relay,) = cluster.glob("*/relay")
    (cluster / f"{relay.parent.name}.evicted").touch()
    os.kill(int(relay.read_text()), signal.SIGKILL)
    ended = box.run("1")
    assert ended.status == "killed"
    assert "the Pod ended (Evicted: The node was low on resource: memory.)" in ended.reason


@pytest.mark.long("another end of what a test beside it proves")
@pytest.mark.parametrize("cluster", ["connection lost"], indirect=True)
def test_a_connection_that_is_lost_is_told_as_such_and_takes_the_pod_along(
    cluster: Path, start: Callable[[Path], Box]
) -> None:
    box = start(MANIFEST)
    (relay,) = cluster.glob("*/relay")
    os.kill(int(relay.read_text()), signal.SIGKILL)
    ended = box.run("1")
    assert ended.status == "killed"
    # It ends by itself, perhaps before it is looked for.
    assert re.search(r"read: connection reset by peer; the Pod (still runs|ended \(Succeeded\))", ended.reason)
    wait_until_none_runs(cluster)
