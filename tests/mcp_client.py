"""An MCP client of the official SDK, against `jupyter codeagent mcp` and a running kernel."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernel_client import Kernel, running_kernel
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import Implementation
from model_server import serving

Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Told:
    """What a tool answered."""

    text: str
    is_error: bool

    @property
    def run_id(self) -> str:
        return self.text.partition("Run ")[2].partition(":")[0]


@dataclass(frozen=True)
class Served:
    """How `jupyter codeagent mcp` is started."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "jupyter_codeagent.entrypoints.cli", "mcp", *self.arguments]


@contextmanager
def kernel_for_clients(directory: Path, people: str) -> Iterator[Kernel]:
    """A kernel that clients may use, with the table `people`, whose column `wage` is hidden."""
    with serving() as model:
        with running_kernel(directory, {"CODEAGENT_BASE_URL": model.url}) as kernel:
            kernel.run(f"{people}\n%agent hide people[wage]\n%config CodeAgent.clients = True")
            yield kernel
        assert model.requests == [], "no model is asked"


def of_kernel(kernel: Kernel, *options: str) -> Served:
    return Served(("--kernel", kernel.manager.connection_file, *options))


@asynccontextmanager
async def connected(served: Served, name: str) -> AsyncIterator[Client]:
    """A client of this name on the server's standard streams."""
    program, *arguments = served.command
    server = StdioServerParameters(command=program, args=arguments, env=dict(served.environment))
    async with Client(stdio_client(server), client_info=Implementation(name=name, version="1")) as client:
        yield client


async def told(client: Client, tool: str, arguments: Mapping[str, Any]) -> Told:
    answer: Any = await client.call_tool(tool, dict(arguments))
    return Told(text=answer.content[0].text, is_error=bool(answer.is_error))


def call(served: Served, *calls: Call, name: str = "editor") -> list[Told]:
    """Make these calls in their order, as one client."""

    async def make() -> list[Told]:
        async with connected(served, name) as client:
            return [await told(client, *one) for one in calls]

    return asyncio.run(make())


def call_beside(served: Served, *calls: Call, name: str = "editor") -> Future[list[Told]]:
    """Make these calls while the test does something else."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(call, served, *calls, name=name)
    pool.shutdown(wait=False)
    return future


def run(code: str, **more: Any) -> Call:
    return "run_on_copies", {"code": code, **more}
