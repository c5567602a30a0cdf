"""What near and far side say to each other beside the sandbox's own messages: names and shapes, used by both.

The near side sends shell messages of type `REQUEST` with ``{"call": …}``; each is answered by one `REPLY` with
``{"ok": true, …}`` or ``{"ok": false, "error": …}``. The far side tells of itself by `EVENT`, on shell as
well: a Jupyter server drops messages of iopub when they are many.
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
"""What a relay that is a kernel says it is."""

CHUNK_BYTES = 8 << 20
"""Of a file, in one message."""
FILE = re.compile(r"\d{1,12}\.piece")
"""What a file in the data directory may be called: `data.spool` makes these names."""
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
"""Of `SandboxPolicy`: what the far side has to hold. The budget of outputs is counted on the near side."""
FAR_LEVELS: tuple[SandboxLevel, ...] = ("bubblewrap", "namespaces", "landlock")


def described(policy: SandboxPolicy) -> dict[str, Any]:
    return {name: getattr(policy, name) for name in LIMITS}


def policy_from(told: Mapping[str, Any]) -> SandboxPolicy:
    """Raises KeyError or TypeError where something is missing or of a wrong type."""
    for name in LIMITS:
        if type(told[name]) not in (int, float, bool):
            raise TypeError(f"{name} is {told[name]!r}, not a number")
    return SandboxPolicy(**{name: told[name] for name in LIMITS}, levels=FAR_LEVELS)
