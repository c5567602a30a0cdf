"""Whether extracted code passes the tests of its DS-1000 problem, run in the sandbox that users have.

Compared with the benchmark's own extraction, which knows how its prompts end. A problem counts only if its
reference solution passes here: many need a library that is not installed or a pandas of 2022.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.suites.ds1000 import Reply, read_problems, read_replies
from jupyter_codeagent.agent.reply.extract import extract_code
from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.types.sandbox import SandboxPolicy

SANDBOXES = 2
TIMEOUT_S = 30.0
PROGRESS_EVERY = 200
END_OF_CODE = ("</code>", "```", "\nEND SOLUTION")
OPENING_MARKS = ("```python", "<code>")


@dataclass(frozen=True, kw_only=True)
class TestedReply:
    model: str
    library: str
    id: int
    passed: bool
    """With our extraction."""
    passed_by_own: bool
    """With that of the benchmark."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """A solution put into its problem's tests."""

    id: int
    solution: str


async def run_tests(folder: Path) -> list[TestedReply]:
    """Of the problems whose reference passes: every reply, extracted in both ways."""
    problems = {problem["metadata"]["problem_id"]: problem for problem in read_problems(folder)}
    references = [Program(id=key, solution=problem["reference_code"]) for key, problem in problems.items()]
    runnable = {program.id for program in await _passing(references, problems)}
    replies = [reply for reply in read_replies(folder) if reply.id in runnable]
    ours = [ours_of(reply, problems[reply.id]["code_context"]) for reply in replies]
    own = [Program(id=reply.id, solution=own_extraction(reply.text)) for reply in replies]
    passing = await _passing([*ours, *own], problems)
    return [
        TestedReply(
            model=reply.model,
            library=reply.library,
            id=reply.id,
            passed=ours_program in passing,
            passed_by_own=own_program in passing,
        )
        for reply, ours_program, own_program in zip(replies, ours, own, strict=True)
    ]


def ours_of(reply: Reply, tests: str) -> Program:
    """Some problems ask for the body of a function: what we take out stands at the margin and is moved there."""
    inside = tests.partition("[insert]")[0].rstrip().endswith(":")
    return Program(id=reply.id, solution=textwrap.indent(extract_code(reply.text).code, "    " if inside else ""))


def own_extraction(text: str) -> str:
    """As the benchmark extracts: what comes before the first mark that ends code, without marks that open it."""
    for mark in ("</code>", "```python", "```", "\nEND SOLUTION", "<code>"):
        text = text.replace(mark, "") if mark in OPENING_MARKS else text.partition(mark)[0]
    return text


def source(program: Program, problem: dict[str, Any]) -> str:
    """One cell that raises unless the solution passes."""
    tests = problem["code_context"]
    calls = [
        f"{name}({program.solution!r})" for name in ("test_execution", "test_string") if f"def {name}(" in tests
    ]
    whole = "\n".join(["import matplotlib", "matplotlib.use('Agg')", tests, *calls])
    close = "import matplotlib.pyplot as plt; plt.close('all')"
    return f"try:\n    exec({whole!r}, {{'__name__': '__main__'}})\nfinally:\n    {close}"


async def _passing(programs: Iterable[Program], problems: dict[int, dict[str, Any]]) -> set[Program]:
    waiting = sorted(set(programs), key=lambda program: (program.id, program.solution), reverse=True)
    passing: set[Program] = set()
    with tempfile.TemporaryDirectory() as directory:
        await asyncio.gather(*(_work(waiting, problems, passing, Path(directory)) for _ in range(SANDBOXES)))
    return passing


async def _work(
    waiting: list[Program], problems: dict[int, dict[str, Any]], passing: set[Program], directory: Path
) -> None:
    """Programs until none waits, in one sandbox; a new one where a program ended it or was ended."""
    while waiting:
        sandbox = await SandboxKernel.start(policy=SandboxPolicy(), data_dir=directory)
        try:
            while waiting:
                program = waiting.pop()
                if len(waiting) % PROGRESS_EVERY == 0:
                    print(f"{len(waiting)} programs are waiting", file=sys.stderr)
                result = await sandbox.execute(source(program, problems[program.id]), timeout_s=TIMEOUT_S)
                if result.status == "ok":
                    passing.add(program)
                if result.status not in ("ok", "error"):
                    break
        finally:
            await sandbox.stop()


def pass_table(tested: Sequence[TestedReply]) -> str:
    """Shares that pass, and where the two extractions part."""
    libraries = sorted({one.library for one in tested})
    lines = [_row("passes % (ours / own)", ["all", *libraries])]
    for model in sorted({one.model for one in tested}):
        of_model = [one for one in tested if one.model == model]
        cells = [of_model, *([one for one in of_model if one.library == library] for library in libraries)]
        lines.append(_row(model, [_shares(cell) for cell in cells]))
    parted = [one for one in tested if one.passed is not one.passed_by_own]
    return "\n".join([*lines, "", *(_parted(one) for one in parted)])


def _shares(tested: Sequence[TestedReply]) -> str:
    if not tested:
        return "-"
    ours = 100 * sum(one.passed for one in tested) / len(tested)
    own = 100 * sum(one.passed_by_own for one in tested) / len(tested)
    return f"{ours:.1f} / {own:.1f} ({len(tested)})"


def _parted(one: TestedReply) -> str:
    return f"{one.model} {one.library} {one.id}: passes only with {'ours' if one.passed else 'the own extraction'}"


def _row(name: str, cells: Iterable[str]) -> str:
    return f"{name:<26}" + "".join(f"{cell:>22}" for cell in cells)
