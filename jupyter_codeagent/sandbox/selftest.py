"""The self-test: measures a live sandbox from inside, and refuses it where a promise does not hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from jupyter_codeagent.sandbox.backend import Backend
from jupyter_codeagent.sandbox.levels import Measurement, broken_promises, format_status
from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.types.sandbox import PackedValue, SandboxPolicy, SandboxStatus

MAX_ANSWER_BYTES = 64 << 10
Call = Callable[..., Coroutine[Any, Any, PackedValue]]


async def measure(backend: Backend, policy: SandboxPolicy, report: Mapping[str, Any], call: Call) -> SandboxStatus:
    """Run the probes, before any other code runs in the sandbox.

    Raises
    ------
    SandboxUnavailableError
        If a probe succeeds that the level promises to block.
    """
    async with backend.probe_targets() as target:
        answer = await call("selftest", target, max_bytes=MAX_ANSWER_BYTES)
    reported = json.loads(answer.meta_json)
    measured = Measurement(
        level=backend.level,
        inner=backend.inner,
        probes=reported["probes"],
        layers=reported["layers"],
        outside=target.get("namespaces", {}),
        landlock_abi=int(report.get("landlock", 0)),
        where=backend.where,
        outer_layers=backend.outer_layers,
    )
    if broken := broken_promises(measured.inner, policy, measured.probes):
        raise SandboxUnavailableError(f"promises that did not hold when measured: {', '.join(broken)}")
    return format_status(measured, policy)
