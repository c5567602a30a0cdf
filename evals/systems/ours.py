"""This project, driven as a notebook without a panel drives it: a live kernel, `%%agent`, the sandbox."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from evals.programs import ProgramWorker
from evals.systems.answer import Answer, Spent
from evals.task import Evidence, Task
from jupyter_codeagent.agent.output_text import output_text
from jupyter_codeagent.agent.verdict.signals import signals_of
from jupyter_codeagent.models.embedded.launcher import RunningServer
from jupyter_codeagent.types.run import AgentRun, Step
from jupyter_codeagent.types.run_json import run_from_json
from jupyter_codeagent.types.sandbox import ExecutionResult

TURN_TIMEOUT_S = 900.0
FORGET_TOOLS = "from jupyter_codeagent.tools.registry import REGISTRY as _R\nfor _n in _R.tools(): _R.remove(_n)"


class Ours:
    """One live kernel for all tasks; variables, conversation and sandbox start anew with each.

    Raises
    ------
    RuntimeError
        A cell of ours failed in the kernel: the measurement would mean nothing.
    """

    def __init__(
        self,
        directory: Path,
        server: RunningServer,
        *,
        candidates: int = 1,
        without: Sequence[str] = (),
        replies: Path | None = None,
        database: str = "",
    ) -> None:
        """`database` is the variable that all questions are asked of."""
        self._options = f" --candidates {candidates}" if candidates > 1 else ""
        self._options += f" --vars {database}" if database else ""
        self._worker = ProgramWorker()
        self._setup = ""
        self._programs: list[str] = []
        self.name = "+".join(
            ["ours", *([f"{candidates} candidates"] if candidates > 1 else []), *(["database"] if database else [])]
        )
        self.name += "".join(f" without {technique}" for technique in without)
        directory.mkdir(parents=True, exist_ok=True)
        places = {"JUPYTER_RUNTIME_DIR": str(directory), "IPYTHONDIR": str(directory / "ipython")}
        places |= {"JUPYTER_DATA_DIR": str(directory / "data"), "MPLBACKEND": "Agg"}
        if not server.pid:  # the embedded one is found as users find it, and known for what it can do
            places |= {"CODEAGENT_BASE_URL": server.base_url, "CODEAGENT_MODEL": server.model}
            places |= {"CODEAGENT_API_KEY": server.api_key}
        # Not TCP: its ports are chosen before they are taken. Not `directory`: an address of a socket is short.
        self._sockets = tempfile.TemporaryDirectory(prefix="kernel-")
        self._manager = KernelManager(
            kernel_name="python3", transport="ipc", connection_file=f"{self._sockets.name}/k.json"
        )
        self._manager.start_kernel(env={**os.environ, **places}, extra_arguments=["--log-level=ERROR"])
        self._client: BlockingKernelClient = self._manager.client()
        self._client.start_channels()
        try:
            self._client.wait_for_ready(timeout=60)
            self._run("%load_ext jupyter_codeagent")
            self._run("%config CodeAgent.house_rules = False")  # those of whoever measures
            if without:
                self._run(f"from evals.ablations import remove\nremove({', '.join(map(repr, without))})")
            if replies:
                self._run(f"from evals.kept_replies import keep_replies\nkeep_replies({str(replies)!r})")
        except BaseException:
            self.close()  # nobody else has it yet
            raise

    def begin(self, task: Task) -> None:
        self._programs = []
        self._setup = task.setup
        self._run("%agent reset")
        self._run("get_ipython().run_line_magic('reset', '-f')")
        self._run(FORGET_TOOLS)
        self._run(task.setup)
        if error := self._worker.set_up(task.setup).error:
            raise RuntimeError(f"the variables of {task.id} could not be made: {error}")

    def run_user_code(self, code: str) -> None:
        """A cell of the user's, that changes or loads tables."""
        self._run(code)
        if error := self._worker.run(code).error:
            raise RuntimeError(f"{error} in: {code[:200]}")

    def ask(self, question: str, options: str = "") -> Answer:
        """`options` of this question only, with a space before each."""
        started = time.monotonic()
        shown = self._run(f"%%agent --json --approve auto{self._options}{options}\n{question}", may_fail=True)
        seconds = time.monotonic() - started
        record = next((line for line in shown.splitlines() if line.startswith("{")), "")
        if not record:
            raise RuntimeError(f"%%agent left no record: {shown[-2000:]}")
        return self._answer(run_from_json(json.loads(record)), seconds)

    def close(self) -> None:
        self._worker.close()
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=False)
        self._sockets.cleanup()

    def _answer(self, run: AgentRun, seconds: float) -> Answer:
        text = output_text(ExecutionResult(status="ok", outputs=run.outputs))
        first = run.steps[0].usage if run.steps else run.usage
        return Answer(
            evidence=self._evidence(run, f"{text}\n{run.answer}".strip()),
            programs=[step.code for step in run.steps if step.code],
            spent=Spent(
                calls=run.usage.calls,
                prompt_tokens=run.usage.prompt_tokens,
                completion_tokens=run.usage.completion_tokens,
                cached_tokens=run.usage.cached_tokens,
                later_prompt_tokens=run.usage.prompt_tokens - first.prompt_tokens,
                later_cached_tokens=run.usage.cached_tokens - first.cached_tokens,
                seconds=seconds,
            ),
            ran_at_once=bool(run.steps) and _ran(run.steps[0]),
            parse_failures=sum(not step.code for step in run.steps),
            error=run.error,
            rules=[rule for step in run.steps for rule in step.rules],
            signals=signals_of(run, run.steps[-1]) if run.status == "ok" else None,
            run_id=run.id,
            notes=run.notes,
        )

    def _evidence(self, run: AgentRun, text: str) -> Evidence:
        """The text is what the sandbox showed; tables and figures are read where the same program runs again."""
        if not run.code:
            return Evidence(text=text)
        try:
            again = self._worker.run(run.code)
        except TimeoutError:
            return Evidence(text=text)
        return Evidence(text=text, namespace=again.evidence.namespace, figures=again.evidence.figures)

    def _run(self, code: str, *, may_fail: bool = False) -> str:
        """Text of one cell."""
        parts: list[str] = []

        def keep(message: dict[str, Any]) -> None:
            content = message["content"]
            parts.append(content.get("text", "") or "\n".join(content.get("traceback", [])))

        reply = self._client.execute_interactive(code, timeout=TURN_TIMEOUT_S, output_hook=keep, allow_stdin=False)
        if reply["content"]["status"] == "error" and not may_fail:
            raise RuntimeError(f"{reply['content']['ename']}: {reply['content']['evalue']} in: {code[:200]}")
        return "".join(parts)


def _ran(step: Step) -> bool:
    return step.result is not None and step.result.status == "ok"
