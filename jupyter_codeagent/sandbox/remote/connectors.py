"""The remote levels: how the relay of each is reached."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.sandbox.remote import container
from jupyter_codeagent.sandbox.remote.link import Link
from jupyter_codeagent.sandbox.remote.pod import find_pod_faults
from jupyter_codeagent.sandbox.remote.stdio import StdioLink
from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.types.sandbox import SandboxLevel, SandboxPolicy

GATEWAY_TOKEN = "CODEAGENT_GATEWAY_TOKEN"  # noqa: S105  (the name of the variable, not a token)


def find_no_faults(_host_facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return no faults: nothing is known about layers around the relay."""
    return ()


@dataclass(frozen=True, kw_only=True)
class RemoteHost:
    """A remote host whose relay can be reached; the link is not open yet."""

    link: Link
    where: str
    """Container, host or gateway, for receipts."""
    outer_layers: tuple[str, ...] = ()
    """Layers around the relay, as text."""
    find_faults: Callable[[Mapping[str, Any]], tuple[str, ...]] = find_no_faults
    """Finds which of these layers are missing, by what the relay reads of its host."""


Connector = Callable[[SandboxPolicy], Awaitable[RemoteHost]]


async def prepare_container(policy: SandboxPolicy) -> RemoteHost:
    """Prepare a container of Docker or Podman on this machine.

    Raises
    ------
    SandboxUnavailableError
    """
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
    return RemoteHost(
        link=link,
        where=f"{engine.program} {policy.image}",
        outer_layers=(container.format_container(engine),),
        find_faults=container.find_container_faults,
    )


async def prepare_command(policy: SandboxPolicy) -> RemoteHost:
    """Prepare a command of the user's: ssh, ``jupyter-codeagent pod``, or another that starts the relay.

    Raises
    ------
    SandboxUnavailableError
    """
    if not policy.command:
        raise SandboxUnavailableError("no command is configured: set CodeAgent.sandbox_command")
    link = StdioLink(policy.command, max_bytes=policy.message_bytes)
    return RemoteHost(link=link, where=" ".join(policy.command[:2]), find_faults=find_pod_faults)


async def prepare_gateway(policy: SandboxPolicy) -> RemoteHost:
    """Prepare a kernel of a Jupyter kernel gateway.

    Raises
    ------
    SandboxUnavailableError
    """
    if not policy.gateway:
        raise SandboxUnavailableError("no gateway is configured: set CodeAgent.sandbox_gateway")
    from jupyter_codeagent.sandbox.remote.gateway import GatewayLink  # its HTTP client is rarely needed

    link = GatewayLink(
        policy.gateway,
        kernel_name=policy.gateway_kernel,
        token=os.environ.get(GATEWAY_TOKEN, ""),
        max_bytes=policy.message_bytes,
    )
    return RemoteHost(link=link, where=policy.gateway)


CONNECTORS: dict[SandboxLevel, Connector] = {
    "container": prepare_container,
    "command": prepare_command,
    "gateway": prepare_gateway,
}
