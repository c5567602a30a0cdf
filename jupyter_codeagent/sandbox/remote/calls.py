"""The protocol between client and relay, besides the sandbox's own messages: names and shapes, used by both.

The client sends shell messages of type `REQUEST` with ``{"call": …}``; the relay answers each with one `REPLY`,
``{"ok": true, …}`` or ``{"ok": false, "error": …}``. Events of the relay are `EVENT` messages, on shell as well: a
Jupyter server drops messages of iopub when there are many.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jupyter_codeagent.types.sandbox import SandboxLevel, SandboxPolicy

REQUEST = "codeagent_relay_request"
REPLY = "codeagent_relay_reply"
EVENT = "codeagent_relay_event"
IMPLEMENTATION = "jupyter-codeagent relay"
"""The `implementation` of a relay that runs as a kernel."""

DIRECTORY_PREFIX, DIRECTORY_LOCK = "codeagent-relay-", "owner.lock"
"""Names of a relay's directory among the temporary files, and of the file that it locks as long as it lives."""
CHUNK_BYTES = 8 << 20
"""Bytes of a file in one message."""
FILE = re.compile(r"\d{1,12}\.piece")
"""Allowed names of files in the data directory, as `data.spool` creates them."""
LIMITS = (
    "memory_bytes",
    "wall_s",
    "grace_s",
    "processors",
    "processes",
    "threads",
    "disk_bytes",
    "files",
    "message_bytes",
    "subprocess",
)
"""Fields of `SandboxPolicy` that the relay has to enforce. The client counts the budget of outputs."""
RELAY_LEVELS: tuple[SandboxLevel, ...] = ("bubblewrap", "namespaces", "landlock")


def describe_policy(policy: SandboxPolicy) -> dict[str, Any]:
    """Return the limits of a policy as JSON for the relay."""
    return {name: getattr(policy, name) for name in LIMITS}


def policy_from(content: Mapping[str, Any]) -> SandboxPolicy:
    """Read a policy; raise KeyError or TypeError where a field is missing or has a wrong type."""
    for name in LIMITS:
        if type(content[name]) not in (int, float, bool):
            raise TypeError(f"{name} is {content[name]!r}, not a number")
    return SandboxPolicy(**{name: content[name] for name in LIMITS}, levels=RELAY_LEVELS)
