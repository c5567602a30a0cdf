"""The levels that run elsewhere: how the far side of each is reached."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.sandbox.remote import container
from jupyter_codeagent.sandbox.remote.link import Link
from jupyter_codeagent.sandbox.remote.stdio import StdioLink
from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.types.sandbox import SandboxLevel, SandboxPolicy

GATEWAY_TOKEN = "CODEAGENT_GATEWAY_TOKEN"  # noqa: S105  (the name of the variable, not a token)


def no_faults(_surroundings: Mapping[str, Any]) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Reached:
    """A far side that can be spoken to; the link is not open yet."""

    link: Link
    where: str
    """Which container, host or gateway, for receipts."""
    around: tuple[str, ...] = ()
    """Walls around the far side, in words."""
    faults: Callable[[Mapping[str, Any]], tuple[str, ...]] = no_faults
    """Which of these walls are not there, by what the far side reads of its surroundings."""


Reach = Callable[[SandboxPolicy], Awaitable[Reached]]


async def reach_container(policy: SandboxPolicy) -> Reached:
    """Docker or Podman on this machine. Raises SandboxUnavailableError."""
    if not policy.image:
        raise SandboxUnavailableError("no image is configured: set CodeAgent.sandbox_image")
    engine = await container.find_engine(policy.engine)
    await container.check_image(engine, policy.image)
    name = container.new_name()
    link = StdioLink(
        container.run_argv(engine, policy, name=name),
        max_bytes=policy.message_bytes,
        kill_argv=container.kill_argv(engine, name=name),
    )
    return Reached(
        link=link,
        where=f"{engine.program} {policy.image}",
        around=(container.container_in_words(engine),),
        faults=container.container_faults,
    )


async def reach_command(policy: SandboxPolicy) -> Reached:
    """A command of the user's: ssh, or whatever starts the relay elsewhere. Raises SandboxUnavailableError."""
    if not policy.command:
        raise SandboxUnavailableError("no command is configured: set CodeAgent.sandbox_command")
    link = StdioLink(policy.command, max_bytes=policy.message_bytes)
    return Reached(link=link, where=" ".join(policy.command[:2]))


async def reach_gateway(policy: SandboxPolicy) -> Reached:
    """A Jupyter kernel gateway. Raises SandboxUnavailableError."""
    if not policy.gateway:
        raise SandboxUnavailableError("no gateway is configured: set CodeAgent.sandbox_gateway")
    from jupyter_codeagent.sandbox.remote.gateway import GatewayLink  # an HTTP client, for those who use one

    link = GatewayLink(
        policy.gateway,
        kernel_name=policy.gateway_kernel,
        token=os.environ.get(GATEWAY_TOKEN, ""),
        max_bytes=policy.message_bytes,
    )
    return Reached(link=link, where=policy.gateway)


REACH: dict[SandboxLevel, Reach] = {
    "container": reach_container,
    "command": reach_command,
    "gateway": reach_gateway,
}
