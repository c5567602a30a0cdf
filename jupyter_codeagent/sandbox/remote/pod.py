"""A Pod of Kubernetes: its first process, and what it must not have.

``python -m jupyter_codeagent.sandbox.remote.pod`` is the command of the manifest. The relay is another process, by
``kubectl exec``: what it sends is not in the logs of the node, as the output of a Pod's first process is.
"""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_codeagent.sandbox.owned_directory import remove_abandoned
from jupyter_codeagent.sandbox.remote.calls import DIRECTORY_LOCK, DIRECTORY_PREFIX
from jupyter_codeagent.sandbox.remote.host_facts import find_privileges

FIRST_RELAY_S = 120.0
"""Seconds until a relay must have come: its client may be gone."""
INTERVAL_S = 0.2


def find_pod_faults(host_facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a Pod must not have but has, by what the relay in it has found; nothing of other machines."""
    if host_facts.get("pod") is not True:
        return ()
    token = () if host_facts.get("token") is False else ("the token of a service account",)
    reached = host_facts.get("reached")
    network = () if reached == [] else (f"a network, by which it reached {_listed(reached)}",)
    return (*token, *network, *find_privileges(host_facts))


def _listed(reached: object) -> str:
    return " and ".join(map(str, reached)) if isinstance(reached, list) else "what it does not tell"


def wait_for_relay(directory: Path, *, first_s: float = FIRST_RELAY_S) -> None:
    """Return when the relay that uses the directory has ended, or when none has come in time."""
    until = time.monotonic() + first_s
    has_come = False
    while (running := _has_relay(directory)) or (not has_come and time.monotonic() < until):
        has_come = has_come or running
        time.sleep(INTERVAL_S)


def _has_relay(directory: Path) -> bool:
    remove_abandoned(directory, prefix=DIRECTORY_PREFIX, lock=DIRECTORY_LOCK)  # of a relay that was killed
    return any(directory.glob(f"{DIRECTORY_PREFIX}*"))


def main() -> None:
    """Keep the Pod for as long as its relay runs."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # the system ignores it in a first process without this
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nor does anybody else collect what the relay has left
    wait_for_relay(Path(tempfile.gettempdir()))


if __name__ == "__main__":
    main()
