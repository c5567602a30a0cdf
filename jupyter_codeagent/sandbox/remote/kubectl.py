"""A relay in a Pod of Kubernetes, by kubectl: ``jupyter-codeagent pod MANIFEST`` as `CodeAgent.sandbox_command`.

The Pod is created for one sandbox, the relay started in it by ``kubectl exec`` with our own standard streams, and
the Pod deleted at the end. A Pod whose client could not do that ends by itself (see `pod`).
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

from jupyter_codeagent.sandbox.guard import one_line
from jupyter_codeagent.types.errors import SandboxUnavailableError

NAME = "SANDBOX_NAME"
"""Stands in the manifest wherever the name of the Pod does."""
END = "SANDBOX_END"
"""Stands in a manifest of agent-sandbox for the time at which it ends by itself."""
LONGEST_S = 8 * 3600
LABEL = "codeagent-sandbox"
"""Label of the Pod; its value is the name."""
SWEPT = "app.kubernetes.io/name=codeagent-sandbox"
"""Label of Pods that nothing else would delete when they have ended."""
CONTAINER = "sandbox"
RELAY = ("python", "-P", "-m", "jupyter_codeagent.sandbox.remote.relay", "--idle-timeout", "300")
READY_TIMEOUT_S = 75.0
"""Less than what the client waits for the relay (`backend.START_TIMEOUT_S`): it would know less of the reason."""
POLL_INTERVAL_S = 1.0
REQUEST_TIMEOUT_S = 15.0
STDERR_BYTES = 4096
FATAL_REASONS = {
    "ErrImagePull": "the image cannot be pulled: check its name in {manifest} and the registry's secret",
    "ImagePullBackOff": "the image cannot be pulled: check its name in {manifest} and the registry's secret",
    "ErrImageNeverPull": "the image is not on the node, and {manifest} forbids to pull it",
    "InvalidImageName": "the name of the image in {manifest} is none",
    "CreateContainerConfigError": "its container was refused: compare {manifest} with docs/kubernetes.md",
    "CreateContainerError": "its container could not be made: does the node have the runtime class of {manifest}?",
    "RunContainerError": "its container could not be started: is the image built from our Dockerfile?",
    "CrashLoopBackOff": "its container ends at once: is the image built from our Dockerfile?",
}
"""Reasons of a waiting container that do not pass by themselves, and what to do."""
HINTS = (
    ("pods/exec", "ask for the role of docs/kubernetes/cluster.yaml, which allows it"),
    ("exceeded quota", "wait until other sandboxes have ended, or ask for a larger quota"),
    ("violates PodSecurity", "compare the manifest with docs/kubernetes/sandbox.yaml"),
    ("RuntimeClass", "the cluster needs the runtime class of the manifest, see docs/kubernetes.md"),
    ("is forbidden", "ask for the role of docs/kubernetes/cluster.yaml, which allows it"),
    ("must be logged in", "log in to the cluster again"),
    ("Unauthorized", "log in to the cluster again"),
    ("Unable to connect", "check the cluster with `kubectl cluster-info`"),
    ("was refused", "check the cluster with `kubectl cluster-info`"),
    ("connection refused", "check the cluster with `kubectl cluster-info`"),
    ("context was not found", "name a context of `kubectl config get-contexts`"),
    ("i/o timeout", "check the cluster with `kubectl cluster-info`"),
    ("no such host", "check the cluster with `kubectl cluster-info`"),
    ("No module named jupyter_codeagent", "build the image from our Dockerfile"),
    ("executable file not found", "build the image from our Dockerfile"),
)
"""Words of kubectl or of the server, and what to do; the first that fits is told."""
PREFIX = re.compile(r'^(error|Error from server( \(\w+\))?): (error when creating "STDIN": )?')
NOISE = ("command terminated with", "Defaulted container", "Warning: ", "Use 'kubectl describe")


@dataclass(frozen=True, kw_only=True)
class PodState:
    """A Pod as the cluster tells it; empty where there is none yet."""

    name: str = ""
    phase: str = ""
    ready: bool = False
    reason: str = ""
    """Of the Pod's end, or of what its container or the scheduler waits for: ``Evicted``, ``ErrImagePull`` …"""
    message: str = ""

    @classmethod
    def from_list(cls, listed: Mapping[str, Any]) -> PodState:
        """Read the first Pod of ``kubectl get pods -o json``."""
        items = listed.get("items") or [{}]
        status = items[0].get("status", {})
        conditions = {condition["type"]: condition for condition in status.get("conditions", ())}
        reason, message = status.get("reason", ""), status.get("message", "")
        scheduled = conditions.get("PodScheduled", {})
        if not reason and scheduled.get("status") == "False":
            reason, message = scheduled.get("reason", ""), scheduled.get("message", "")
        for container in status.get("containerStatuses", ()) if not reason else ():
            state = container.get("state", {})
            found = state.get("waiting") or state.get("terminated") or {}
            reason, message = found.get("reason", ""), found.get("message", "")
        return cls(
            name=items[0].get("metadata", {}).get("name", ""),
            phase=status.get("phase", ""),
            ready=conditions.get("Ready", {}).get("status") == "True",
            reason=reason,
            message=one_line(message, 200),
        )

    @property
    def words(self) -> str:
        """What there is to say: ``Evicted: The node was low on resource: memory.``."""
        return ": ".join(word for word in (self.reason or self.phase, self.message) if word)


class Kubectl:
    """kubectl with the options of the user's: context, namespace, kubeconfig."""

    def __init__(self, program: str, options: Sequence[str]) -> None:
        self._argv = [program, *options]

    def argv(self, *arguments: str) -> list[str]:
        """Return the whole command line."""
        return [*self._argv, *arguments]

    def ask(self, *arguments: str, text: str = "", timeout_s: float = REQUEST_TIMEOUT_S) -> str:
        """Run a command and return its output.

        Raises
        ------
        SandboxUnavailableError
            If it fails; the text has what kubectl said, and what to do.
        """
        argv = self.argv(f"--request-timeout={timeout_s:g}s", *arguments)
        try:
            done = subprocess.run(
                argv, input=text, capture_output=True, text=True, timeout=2 * timeout_s, check=False
            )
        except subprocess.TimeoutExpired:
            raise SandboxUnavailableError(
                f"kubectl {arguments[0]} did not end within {2 * timeout_s:g} s: is the cluster there?"
            ) from None
        if done.returncode != 0:
            raise SandboxUnavailableError(explain(f"kubectl {arguments[0]}", done.returncode, done.stderr))
        return done.stdout


def explain(what: str, status: int, stderr: str) -> str:
    """Return one line on a failed command: what to do, and what it said last."""
    lines = [line for line in stderr.strip().splitlines() if line.strip() and not line.startswith(NOISE)]
    said = one_line(PREFIX.sub("", lines[-1]), 240) if lines else f"status {status}"
    hint = next((hint for words, hint in HINTS if words in said), "")
    return f"{what} failed: {f'{hint} ({said})' if hint else said}"


def read_manifest(path: Path, name: str) -> str:
    """Return the manifest with the name of its Pod.

    Raises
    ------
    SandboxUnavailableError
        If it cannot be read, or has no place for the name: two sandboxes would be one Pod.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise SandboxUnavailableError(f"the manifest {path} cannot be read: {problem}") from problem
    if f"{LABEL}: {NAME}" not in text:
        raise SandboxUnavailableError(
            f"the manifest {path} has no label `{LABEL}: {NAME}` on its Pod: see docs/kubernetes/sandbox.yaml"
        )
    end = datetime.now(UTC) + timedelta(seconds=LONGEST_S)
    return text.replace(NAME, name).replace(END, end.strftime("%Y-%m-%dT%H:%M:%SZ"))


def wait_until_ready(kubectl: Kubectl, name: str, manifest: Path) -> PodState:
    """Return the Pod when it runs.

    Raises
    ------
    SandboxUnavailableError
        If it ends, waits for what will not come, or does not run in time.
    """
    until = time.monotonic() + READY_TIMEOUT_S
    while True:
        state = get_state(kubectl, name)
        if state.ready:
            return state
        if (hint := FATAL_REASONS.get(state.reason)) is not None:
            raise SandboxUnavailableError(
                f"the Pod does not start, {hint.format(manifest=manifest)} ({state.words})"
            )
        if state.phase in ("Failed", "Succeeded"):
            raise SandboxUnavailableError(
                f"the Pod ended before it could be used ({state.words}): is the image built from our Dockerfile?"
            )
        if time.monotonic() > until:
            why = _last_warning(kubectl, name) or state.words
            raise SandboxUnavailableError(
                f"the Pod did not run within {READY_TIMEOUT_S:g} s ({why}): ask again if the cluster was busy, else"
                " show this to its administrator"
            )
        time.sleep(POLL_INTERVAL_S)


def _last_warning(kubectl: Kubectl, name: str) -> str:
    """Return the last event, where the user may read them: of a node without the runtime class only they tell."""
    asked = ("--field-selector", f"involvedObject.name={name},type=Warning", "-o", "jsonpath={.items[-1:].message}")
    try:
        return one_line(kubectl.ask("get", "events", *asked), 200)
    except SandboxUnavailableError:
        return ""


def get_state(kubectl: Kubectl, name: str) -> PodState:
    """Ask the cluster for the state of a Pod."""
    listed = kubectl.ask("get", "pods", "-l", f"{LABEL}={name}", "-o", "json")
    try:
        return PodState.from_list(json.loads(listed))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as problem:
        raise SandboxUnavailableError(f"kubectl get gave no list of Pods: {one_line(listed, 100)}") from problem


def run_relay(kubectl: Kubectl, name: str, pod: PodState) -> None:
    """Run the relay with our own standard streams until it ends.

    Raises
    ------
    SandboxUnavailableError
        If it ends with an error; the text says what became of the Pod.
    """
    argv = kubectl.argv("exec", "-i", "-q", pod.name, "-c", CONTAINER, "--", *RELAY)
    with subprocess.Popen(argv, stderr=subprocess.PIPE) as running:
        assert running.stderr is not None
        try:
            said = _tail(running.stderr)
        except BaseException:
            running.kill()
            raise
    if running.returncode != 0:
        failed = explain("the relay", running.returncode, said)
        raise SandboxUnavailableError(f"{failed}; {_what_became(kubectl, name)}")


def _tail(stream: IO[bytes]) -> str:
    """Read all of a stream, since a full pipe would block its writer, and return the end."""
    kept = b""
    while text := stream.read1(65536):  # type: ignore[attr-defined]  # of a BufferedReader
        kept = (kept + text)[-STDERR_BYTES:]
    return kept.decode(errors="replace")


def _what_became(kubectl: Kubectl, name: str) -> str:
    try:
        state = get_state(kubectl, name)
    except SandboxUnavailableError as problem:
        return f"what became of the Pod is not known, {problem}"
    if not state.name:
        return "the Pod is gone: somebody or its node has deleted it"
    return "the Pod still runs" if state.ready else f"the Pod ended ({state.words})"


@contextmanager
def deleted_afterwards(kubectl: Kubectl, manifest: str) -> Iterator[None]:
    """Delete what the manifest describes at the end, and Pods that have ended whose clients could not do that.

    It is done by processes of their own: whoever ends us does not wait for a cluster.
    """
    try:
        yield
    finally:
        quick = ("--wait=false", "--ignore-not-found", f"--request-timeout={REQUEST_TIMEOUT_S:g}s")
        given = _start_quietly(kubectl.argv("delete", "-f", "-", "--grace-period=1", *quick))
        assert given.stdin is not None
        given.stdin.write(manifest.encode())
        given.stdin.close()
        ended = "--field-selector=status.phase!=Running,status.phase!=Pending"
        _start_quietly(kubectl.argv("delete", "pods", "-l", SWEPT, ended, *quick)).communicate()
        given.wait()


def _start_quietly(argv: list[str]) -> subprocess.Popen[bytes]:
    """Start a command that goes on when our process group is killed."""
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, start_new_session=True)


def run_pod(manifest: Path, *, program: str = "kubectl", options: Sequence[str] = ()) -> int:
    """Run a sandbox's relay in a Pod of its own until the client ends it; return the exit status.

    What fails is one line on stderr, which the client displays.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # the client has ended it
    name = f"codeagent-{secrets.token_hex(8)}"
    kubectl = Kubectl(program, options)
    try:
        if shutil.which(program) is None:
            raise SandboxUnavailableError(f"{program} is not installed, or not in PATH")
        described = read_manifest(manifest, name)
        with deleted_afterwards(kubectl, described):
            kubectl.ask("create", "-f", "-", text=described)
            run_relay(kubectl, name, wait_until_ready(kubectl, name, manifest))
    except SandboxUnavailableError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0
