"""Pods by kubectl: what a failure says, and that nothing is left; the cluster is a stand-in."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from jupyter_codeagent.entrypoints.cli import main
from jupyter_codeagent.sandbox.local.channels.wire import Received
from jupyter_codeagent.sandbox.owned_directory import lock_directory, remove_directory
from jupyter_codeagent.sandbox.remote import calls, host_facts, kubectl, stdio
from jupyter_codeagent.sandbox.remote.kubectl import Kubectl, PodState, explain, read_manifest
from jupyter_codeagent.sandbox.remote.pod import find_pod_faults, wait_for_relay
from jupyter_codeagent.sandbox.remote.stdio import command_environment
from jupyter_codeagent.sandbox.remote.transports import StdioTransport
from jupyter_codeagent.types.errors import SandboxUnavailableError

REPOSITORY = Path(__file__).parents[3]
MANIFEST = REPOSITORY / "docs" / "kubernetes" / "sandbox.yaml"
FAKE = REPOSITORY / "tests" / "sandbox" / "fake_kubectl" / "kubectl"


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Give the stand-in a fault, and return the directory of its Pods."""
    view = sorted({str(Path(sys.executable).parents[1]), sys.base_prefix, str(REPOSITORY)})

    def prepare(fault: str) -> Path:
        config = tmp_path / "config.json"
        config.write_text(
            json.dumps({"place": str(tmp_path), "python": sys.executable, "view": view, "fault": fault})
        )
        monkeypatch.setenv("KUBECONFIG", str(config))
        return tmp_path

    handler = signal.getsignal(signal.SIGTERM)
    yield prepare
    signal.signal(signal.SIGTERM, handler)


def asked(place: Path) -> list[list[str]]:
    return [json.loads(line) for line in (place / "asked").read_text().splitlines()]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("no cluster", "kubectl create failed: check the cluster with `kubectl cluster-info` (unable to recognize"),
        ("logged out", "log in to the cluster again (You must be logged in to the server (Unauthorized))"),
        ("may not create", 'ask for the role of docs/kubernetes/cluster.yaml, which allows it (pods is'),
        ("quota", 'wait until other sandboxes have ended, or ask for a larger quota (pods "a" is'),
        ("no runtime class", "the cluster needs the runtime class of the manifest, see docs/kubernetes.md (pods"),
        ("pod security", "compare the manifest with docs/kubernetes/sandbox.yaml (pods"),
        ("no image", "sandbox.yaml and the registry's secret (ImagePullBackOff: Back-off pulling image"),
        ("root's image", "image will run as root"),
        ("no room", "did not run within 0 s (Unschedulable: 0/3 nodes are available: 3 Insufficient memory.)"),
        ("no runtime", 'no runtime for "kata" is configured'),
        ("evicted", "the Pod ended before it could be used (Evicted: The node was low on resource: memory.)"),
        ("may not exec", "relay failed: ask for the role of docs/kubernetes/cluster.yaml, which allows it (pods"),
        ("no python", "the relay failed: build the image from our Dockerfile (Internal error occurred"),
        ("other image", "the relay failed: build the image from our Dockerfile (/usr/bin/python: No module named"),
    ],
)  # fmt: skip
def test_a_failure_says_what_happened_and_what_to_do_and_leaves_no_pod(
    fault: str,
    said: str,
    cluster: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = cluster(fault)
    monkeypatch.setattr(kubectl, "READY_TIMEOUT_S", 0)
    assert main(["pod", "--kubectl", str(FAKE), str(MANIFEST), "--namespace=codeagent-sandboxes"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert not [path for path in place.glob("codeagent-*") if not path.suffix]
    assert all("--namespace=codeagent-sandboxes" in words for words in asked(place))


def test_without_kubectl_the_error_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    handler = signal.getsignal(signal.SIGTERM)
    assert main(["pod", "--kubectl", "/no/such/kubectl", str(MANIFEST)]) == 1
    signal.signal(signal.SIGTERM, handler)
    assert capsys.readouterr().err == "/no/such/kubectl is not installed, or not in PATH\n"


def test_a_cluster_that_does_not_answer_is_told_with_the_limit(tmp_path: Path) -> None:
    silent = tmp_path / "kubectl"
    silent.write_text("#!/bin/sh\nexec sleep 5\n")
    silent.chmod(0o755)
    with pytest.raises(SandboxUnavailableError, match=r"kubectl get did not end within 0\.2 s"):
        Kubectl(str(silent), ()).ask("get", timeout_s=0.1)


def test_a_manifest_without_a_place_for_the_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text("kind: Pod\n")
    with pytest.raises(SandboxUnavailableError, match="has no label `codeagent-sandbox: SANDBOX_NAME`"):
        read_manifest(tmp_path / "pod.yaml", "a")
    with pytest.raises(SandboxUnavailableError, match=r"none\.yaml cannot be read"):
        read_manifest(tmp_path / "none.yaml", "a")


def test_each_sandbox_has_a_name_of_its_own_and_an_end() -> None:
    agent_sandbox = read_manifest(MANIFEST.with_name("agent-sandbox.yaml"), "codeagent-1")
    assert "codeagent-sandbox: codeagent-1\n" in agent_sandbox
    assert kubectl.NAME not in agent_sandbox
    (end,) = [line for line in agent_sandbox.splitlines() if "shutdownTime" in line]
    assert time.strptime(end.split()[1], "%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize("listed", [{}, {"items": []}, {"items": [{"metadata": {"name": "a"}, "status": {}}]}])
def test_a_pod_that_is_not_there_yet_is_no_error(listed: dict[str, Any]) -> None:
    assert not PodState.from_list(listed).ready


def test_words_of_a_server_are_one_line_without_controls() -> None:
    assert explain("kubectl get", 1, "noise\n\x1b[31mred\n\n") == "kubectl get failed: \ufffd[31mred"
    assert explain("kubectl get", 7, "Warning: old\n") == "kubectl get failed: status 7"


def test_kubectl_gets_its_configuration_and_no_key() -> None:
    environment = {
        "KUBECONFIG": "/c",
        "KUBERNETES_SERVICE_HOST": "10.0.0.1",
        "KUBERNETES_SERVICE_PORT": "443",
        "OPENAI_API_KEY": "sk-canary",
    }
    assert set(command_environment(environment)) == set(environment) - {"OPENAI_API_KEY"}


def test_a_link_sends_heartbeats_for_relays_that_end_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "HEARTBEAT_INTERVAL_S", 0.01)

    async def first_message() -> Any:
        came: asyncio.Queue[Received] = asyncio.Queue()
        link = stdio.StdioLink(("cat",), max_bytes=1000)  # sends back what it is sent
        await link.open(
            on_message=lambda _channel, received: came.put_nowait(received),
            on_malformed=lambda: None,
            on_closed=lambda _why: None,
        )
        async with asyncio.timeout(10):
            content = (await came.get()).parsed()
        await link.close()
        return content

    assert asyncio.run(first_message()) == {"call": "alive"}


def test_a_relay_ends_after_a_silence_only_where_it_is_told_to() -> None:
    async def next_message(idle_timeout_s: float | None) -> Any:
        transport = StdioTransport(asyncio.StreamReader(), cast("Any", None), b"key", idle_timeout_s=idle_timeout_s)
        async with asyncio.timeout(0.2):
            return await transport.receive()

    assert asyncio.run(next_message(0.01)) is None
    with pytest.raises(TimeoutError):
        asyncio.run(next_message(None))


# --- in the Pod -------------------------------------------------------------------------------------

GOOD = {
    "pod": True,
    "token": False,
    "reached": [],
    "root_writable": False,
    "uid": 1000,
    "capabilities": 0,
    "no_new_privileges": True,
}


@pytest.mark.parametrize(
    ("facts", "faults"),
    [
        ({}, ()),
        ({"token": True}, ("the token of a service account",)),
        ({"reached": ["the cluster's API server"]}, ("a network, by which it reached the cluster's API server",)),
        ({"reached": None}, ("a network, by which it reached what it does not tell",)),
        ({"uid": 0, "capabilities": 5}, ("root's identity", "capabilities")),
        ({"root_writable": True, "no_new_privileges": False}, ("a writable root", "new privileges")),
    ],
)
def test_a_pod_with_a_network_a_token_or_a_privilege_is_refused(
    facts: dict[str, Any], faults: tuple[str, ...]
) -> None:
    assert find_pod_faults({**GOOD, **facts}) == faults


def test_nothing_is_asked_of_machines_that_are_no_pod() -> None:
    assert find_pod_faults({**GOOD, "pod": False, "uid": 0, "token": True}) == ()


def test_a_network_of_the_pod_is_found_by_the_servers_that_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_facts, "POLICY_TRIES", 1)
    monkeypatch.setattr(host_facts, "REACH_TIMEOUT_S", 0.2)
    (tmp_path / "resolv.conf").write_text("# none\nnameserver 127.0.0.1\noptions ndots:5\n")
    with (
        socket.create_server(("127.0.0.1", 0)) as api,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as names,
    ):
        names.bind(("127.0.0.1", 0))
        monkeypatch.setattr(host_facts, "DNS_PORT", names.getsockname()[1])

        def answer() -> None:
            query, client = names.recvfrom(512)
            assert query == host_facts.DNS_QUERY
            names.sendto(b"answer", client)

        answering = threading.Thread(target=answer)
        answering.start()
        pod = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(api.getsockname()[1])}
        found = host_facts._reached(pod, tmp_path / "resolv.conf")
        answering.join()
    assert found == ["the cluster's API server", "the name server 127.0.0.1"]
    assert host_facts._reached(pod, tmp_path / "resolv.conf") == []


def test_a_pod_ends_with_its_relay_and_when_none_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_codeagent.sandbox.remote.pod.INTERVAL_S", 0.01)
    wait_for_relay(tmp_path, first_s=0.05)
    relay = tmp_path / f"{calls.DIRECTORY_PREFIX}1"
    relay.mkdir()
    lock = lock_directory(relay, calls.DIRECTORY_LOCK)
    waiting = threading.Thread(target=wait_for_relay, args=(tmp_path,), kwargs={"first_s": 0.0})
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    remove_directory(relay, calls.DIRECTORY_LOCK, lock)
    waiting.join(5)
    assert not waiting.is_alive()
