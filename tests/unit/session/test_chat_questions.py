"""Questions of a chat in the kernel: into a cell, watched, stopped, and told as a model would be told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from run_examples import example_run

from jupyter_codeagent.session import chat_questions
from jupyter_codeagent.session.chat_questions import NO_PAGE, NOT_RUN, WAITS_IN_CELL, ChatQuestions, cell_source
from jupyter_codeagent.session.current_run import CurrentRun
from jupyter_codeagent.settings.policy import Policy
from jupyter_codeagent.types.errors import CodeAgentError, DeniedError, InsertError, UsageError
from jupyter_codeagent.types.run import AgentRun, Verdict

ASK = {"prompt": "mean delay?", "notebook": "eda.ipynb", "private": True, "web_client": "page-1"}
DOUBT = Verdict(level="doubtful", reason="ada@example.org is counted twice")


class Page:
    """The link to the notebook's page, and what its kernel does when the page runs a cell."""

    def __init__(self, kernel: Kernel, *, is_open: bool = True) -> None:
        self.kernel = kernel
        self.is_open = is_open
        self.asked: list[Mapping[str, Any]] = []

    async def ask_in_cell(self, order: Mapping[str, Any], *, web_client: str) -> None:
        assert web_client == "page-1"
        self.asked.append(order)
        if order["runs"]:
            asyncio.get_running_loop().call_later(0.02, self.kernel.run_cell, order)


class Kernel:
    """A session whose runs end as `run` says: None for a cell that is given up, `endless` for one that goes on."""

    def __init__(
        self,
        run: AgentRun | None = None,
        *,
        clients: bool = True,
        privacy: str = "stats",
        policy: Policy = Policy(),  # noqa: B008  # frozen
        is_open: bool = True,
        endless: bool = False,
    ) -> None:
        self.run = run
        self.endless = endless
        self.current_run = CurrentRun()
        self.page = Page(self, is_open=is_open)
        self.recorded: dict[str, AgentRun] = {}
        self.told: list[str] = []
        self.stopped = False
        self.refused: list[str] = []
        settings = SimpleNamespace(clients=clients, privacy=privacy, policy=policy)
        self.questions = ChatQuestions(
            settings=cast("Any", lambda: settings),
            runs=cast("Any", SimpleNamespace(output_of=self._output_of)),
            run_log=cast("Any", SimpleNamespace(last_of_cell=self.recorded.get)),
            current_run=self.current_run,
            masking=cast("Any", SimpleNamespace(values_in=self._values_in)),
            link=cast("Any", self.page),
        )

    def run_cell(self, order: Mapping[str, Any]) -> None:
        question = order["cell_id"]
        if self.current_run.take_stop(question):
            self.refused.append(question)
        elif self.run is not None:
            begun = replace(self.run, request=replace(self.run.request, cell_id=question))
            recorder = SimpleNamespace(latest=SimpleNamespace(run=begun, phase="model"))
            self.current_run.start(cast("Any", SimpleNamespace(cancel=self._stop)), cast("Any", recorder))
            if self.endless:
                return
            self.recorded[question] = begun
            asyncio.get_running_loop().call_later(0.1, self._end, question)
            return
        self.questions.ended(question)

    def _end(self, question: str) -> None:
        self.current_run.end()
        if self.page.is_open:
            self.questions.ended(question)

    def _stop(self) -> None:
        self.stopped = True

    async def _output_of(self, run: AgentRun, step: Any, privacy: str) -> tuple[str, tuple[str, ...]]:
        return f"as a model is told, {privacy}", ()

    async def _values_in(self, text: str) -> tuple[str, ...]:
        return tuple(word for word in text.split() if "@" in word)

    async def ask(self, **changes: object) -> dict[str, Any]:
        text = await self.questions.answer("talk.chat", "ask", {**ASK, **changes}, self.told.append)
        answer: dict[str, Any] = json.loads(text)
        return answer


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_questions, "LOOK_S", 0.01)


def ended(**changes: Any) -> AgentRun:
    return example_run(status="ok", placed="cells", cell_state="pending", **changes)


def test_a_question_becomes_a_cell_that_runs_and_its_result_is_told_as_a_model_would_be_told_it() -> None:
    kernel = Kernel(ended(verdict=DOUBT))
    answer = asyncio.run(kernel.ask())
    (order,) = kernel.page.asked
    assert (order["source"], order["notebook"], order["runs"]) == ("%%agent\nmean delay?", "eda.ipynb", True)
    assert kernel.told == ["waiting for the kernel", "the model is writing"]
    assert answer["above"][0].startswith("✓")
    assert answer["above"][1] == "Doubtful: *** is counted twice"
    assert answer["output"] == "as a model is told, stats"
    assert answer["below"] == ["Its cells are pending in the notebook: accept, edit or discard them there."]


def test_under_schema_no_result_no_reason_and_no_error_is_told() -> None:
    now, then = ended(verdict=DOUBT), ended(verdict=DOUBT, request__privacy="schema")
    for kernel in (Kernel(now, privacy="schema"), Kernel(then)):
        answer = asyncio.run(kernel.ask())
        assert answer["above"][1:] == [
            "Doubtful",
            "The result is not shown here, because privacy is set to schema; it is in the notebook.",
        ]
        assert answer["output"] == ""
    failed = example_run(status="failed", error="KeyError: ada@example.org", placed="")
    assert len(asyncio.run(Kernel(failed, privacy="schema").ask())["above"]) == 1
    assert asyncio.run(Kernel(failed).ask())["above"][1] == "KeyError: ***"
    unsent = example_run(status="failed", error="No model was found.", steps=())
    assert asyncio.run(Kernel(unsent, privacy="schema").ask())["above"][1] == "No model was found."


def test_cells_that_no_page_has_inserted_and_ones_that_are_accepted_at_once_are_told_so() -> None:
    undelivered = asyncio.run(Kernel(replace(ended(), placed="undelivered")).ask())
    assert "could not be inserted" in undelivered["below"][0]
    assert asyncio.run(Kernel(replace(ended(), cell_state="accepted")).ask())["below"] == []


def test_a_run_whose_page_is_gone_is_told_by_its_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_questions, "PAGE_S", 0.03)
    kernel = Kernel(replace(ended(), placed="undelivered"))

    async def act() -> dict[str, Any]:
        asking = asyncio.create_task(kernel.ask())
        await asyncio.sleep(0.05)
        kernel.page.is_open = False
        return await asking

    assert asyncio.run(act())["above"][0].startswith("✓")


def test_a_cell_that_the_kernel_gave_up_is_told_so() -> None:
    assert asyncio.run(Kernel(None).ask())["above"] == [NOT_RUN]


def test_a_question_of_a_shared_chat_stands_in_the_notebook_and_waits_for_a_person() -> None:
    kernel = Kernel(ended())
    assert asyncio.run(kernel.ask(private=False)) == {"above": [WAITS_IN_CELL], "output": "", "below": []}
    assert [order["runs"] for order in kernel.page.asked] == [False]
    assert kernel.recorded == {}


@pytest.mark.parametrize(
    ("kernel", "changes", "error", "line"),
    [
        (
            Kernel(clients=False),
            {},
            DeniedError,
            "run `%config CodeAgent.clients = True` in a cell, then ask again",
        ),
        (Kernel(is_open=False), {}, InsertError, NO_PAGE),
        (Kernel(), {"prompt": "  \n "}, UsageError, "There is no question in this message"),
        (Kernel(), {"prompt": "x" * 10_001}, UsageError, "has 10,001 characters; the limit is 10,000: shorten it"),
        (
            Kernel(),
            {"private": "yes"},
            UsageError,
            "The chat and this kernel use different versions of jupyter-codeagent",
        ),
    ],
)
def test_what_cannot_be_asked_is_told_in_one_line_and_nothing_is_inserted(
    kernel: Kernel, changes: dict[str, object], error: type[CodeAgentError], line: str
) -> None:
    with pytest.raises(error) as told:
        asyncio.run(kernel.ask(**changes))
    assert line in str(told.value)
    assert kernel.page.asked == []
    assert kernel.questions._asked == {}


def test_only_a_chat_can_ask() -> None:
    with pytest.raises(UsageError, match="different versions"):
        asyncio.run(Kernel().questions.answer("talk.chat", "run_on_copies", {"code": "1"}, print))


def test_a_chat_that_the_administrator_forbids_is_told_so() -> None:
    policy = Policy(rules={"clients": False}, files={"clients": "/etc/jupyter/codeagent_policy.json"})
    with pytest.raises(DeniedError, match=r"Use by chats is not allowed by your administrator \(rule clients"):
        asyncio.run(Kernel(clients=False, policy=policy).ask())


@pytest.mark.parametrize("after_s", [0.0, 0.1])
def test_stop_ends_the_run_of_the_question_or_keeps_it_from_beginning(after_s: float) -> None:
    kernel = Kernel(ended(), endless=True)

    async def act() -> None:
        asking = asyncio.create_task(kernel.ask())
        await asyncio.sleep(after_s)
        if not after_s:
            await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.sleep(0.05)

    asyncio.run(act())
    assert (kernel.stopped, len(kernel.refused)) == ((True, 0) if after_s else (False, 1))


def test_stop_of_one_chat_leaves_the_runs_of_others_alone() -> None:
    kernel = Kernel(None)

    async def act() -> None:
        recorder = SimpleNamespace(latest=SimpleNamespace(run=example_run(), phase="model"))
        kernel.current_run.start(cast("Any", SimpleNamespace(cancel=kernel._stop)), cast("Any", recorder))
        asking = asyncio.create_task(kernel.ask())
        await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.wait([asking])

    asyncio.run(act())
    assert not kernel.stopped


@pytest.mark.parametrize(
    ("prompt", "source"),
    [
        ("mean delay?\nby carrier", "%%agent\nmean delay?\nby carrier"),
        ("--approve auto\n%%bash", "%%agent\n--approve auto\n%%bash"),
        ("{{password}} {x}", "%%agent\n\\{{password}} {x}"),
        ("a\u202eb\r\n\x1b[31mc", "%%agent\nab\n[31mc"),
    ],
)
def test_a_message_is_the_body_of_the_cell_and_nothing_of_it_an_option_or_an_expression(
    prompt: str, source: str
) -> None:
    assert cell_source(prompt) == source
