"""`messages.json` holds one golden example of each message; here the kernel's own code makes and reads it.

`labextension/src/protocol/messages.spec.ts` reads the same file from the page's side. To write
the kernel's side anew: `CODEAGENT_WRITE_GOLDEN=1 pytest tests/contract`; read the difference before you commit it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import json
import os
import typing
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NotRequired

import comm
import pytest
from run_examples import example_run

from jupyter_codeagent.frontend import messages
from jupyter_codeagent.frontend.insertion import PanelInserter
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import PROTOCOL, TARGET
from jupyter_codeagent.frontend.state import LookAtVariables, columns_message, context_view, sandbox_view
from jupyter_codeagent.notebook.cells import cells_from_run
from jupyter_codeagent.types.approvals import Decision, Effects, Grant, NamedValue, Proposal
from jupyter_codeagent.types.errors import HistoryError, InsertError, UnknownRunError
from jupyter_codeagent.types.house_rules import HouseRules, HouseRulesFile
from jupyter_codeagent.types.run import CellState, Phase
from jupyter_codeagent.types.run_json import call_view, run_view
from jupyter_codeagent.types.sandbox import SandboxStatus, ToolCall
from jupyter_codeagent.types.tagged_text import TaggedText
from jupyter_codeagent.types.variables import VariableSummary
from jupyter_codeagent.variables.privacy.column_lists import Column
from jupyter_codeagent.variables.render import RenderedVariable, RenderedVariables

PATH = Path(__file__).with_name("messages.json")
Message = dict[str, Any]
GOLDEN: dict[str, dict[str, Message]] = json.loads(PATH.read_text(encoding="utf-8"))
TO_PAGE, FROM_PAGE = GOLDEN["to_page"], GOLDEN["from_page"]

EFFECTS = Effects(
    reads=(NamedValue(name="flights", what="DataFrame 336776x19"),),
    creates=(NamedValue(name="late"),),
    overwrites=(NamedValue(name="daily", what="DataFrame 365x3"),),
    changes=(NamedValue(name="flights", what="DataFrame 336776x19"),),
    deletes=(NamedValue(name="old", what="list of 4"),),
    missing=("airports",),
    writes=("'late.csv'",),
    unclear=("it runs text as code (exec)",),
)
PROPOSAL = Proposal(
    id="9d1f",
    run_id="0123456789ab",
    kind="run",
    code="flights.head()",
    note="Step 1 of 4, in the sandbox.",
    why="The previous attempt failed: KeyError: 'late'",
    previous_code="flights['late'].head()",
    effects=EFFECTS,
    step=1,
    lasting=(Grant(kind="run"),),
)
GRANTS = (Grant(kind="call", subject="send"), Grant(kind="mount", subject="/home/me/trips.parquet"))


# --- the kernel's own code, with the wire cut ------------------------------------------------------------


class Wire:
    """Stands for the kernel below the comm: keeps what is published."""

    def __init__(self) -> None:
        self.session = SimpleNamespace(send=self._send)
        self.iopub_socket = None
        self.published: list[Message] = []
        self.kinds: list[str] = []

    def _send(self, socket: object, kind: str, content: Message, **_: Any) -> None:
        self.kinds.append(kind)
        if kind == "comm_msg":
            self.published.append(content["data"])

    def last(self, kind: str) -> Message:
        return next(message for message in reversed(self.published) if message["type"] == kind)


def open_comm(hello: Message, comm_id: str = "page") -> None:
    """As the kernel does when a page opens a comm."""
    opened: Any = SimpleNamespace(comm_id=comm_id)
    comm.get_comm_manager().targets[TARGET](opened, {"content": {"data": hello}})


class Link:
    """A `PanelLink` with one page that has said the golden hello."""

    def __init__(self) -> None:
        self.wire = Wire()
        self.events: list[Mapping[str, Any]] = []
        self.link = PanelLink(self.wire, asyncio.get_running_loop(), state=golden_state, on_event=self._happened)
        self.fails_with: Exception | None = None

    def _happened(self, event: Mapping[str, Any]) -> None:
        self.events.append(event)
        if self.fails_with is not None:
            raise self.fails_with

    async def say_hello(self) -> None:
        open_comm(FROM_PAGE["hello"])
        assert await self.link.wait_for_page(5)

    async def hear(self, message: Message) -> None:
        comm.get_comm_manager().comms["page"].handle_msg({"content": {"data": message}})
        await asyncio.sleep(0)  # the link takes it over on its loop

    async def wait_for(self, kind: str) -> Message:
        """The message of this kind; pings are answered meanwhile, as every page does."""
        async with asyncio.timeout(10):
            while True:
                for message in self.wire.published:
                    if message["type"] == kind:
                        return message
                if any(message["type"] == "ping" for message in self.wire.published):
                    self.wire.published.clear()
                    await self.hear(FROM_PAGE["pong"])
                await asyncio.sleep(0.001)


@contextmanager
def link_to_page() -> Iterator[Link]:
    link = Link()
    try:
        yield link
    finally:
        link.link.close(tell_pages=False)


def with_page(act: Callable[[Link], Awaitable[Any]]) -> Any:
    """Run `act` on a link that a page listens to."""

    async def main() -> Any:
        with link_to_page() as link:
            await link.say_hello()
            return await act(link)

    return asyncio.run(main())


def golden_state() -> messages.StateMessage:
    sandbox = SandboxStatus(
        level="bubblewrap",
        layers=("Landlock ABI 7: files by allow-list",),
        closed=("read outside", "write outside", "tcp", "udp"),
        open=(),
        limits=("memory 2 GiB (watchdog, 50 ms)", "processes 64"),
        hint="",
    )
    flights = VariableSummary(
        name="flights", type_name="DataFrame", headline="flights: DataFrame 336776x19", size_bytes=95_000_000
    )
    return messages.StateMessage(
        type="state",
        protocol=PROTOCOL,
        model="qwen-coder",
        approve="review",
        settings={
            "values": [
                {"name": "model", "value": "qwen-coder", "source": "session", "fixed": False, "limit": None},
                {"name": "privacy", "value": "schema", "source": "administrator", "fixed": True, "limit": "schema"},
                {"name": "max_steps", "value": 4, "source": "default", "fixed": False, "limit": 6},
                {"name": "timeout_s", "value": 60.5, "source": "user", "fixed": False, "limit": None},
                {"name": "approve", "value": "review", "source": "file", "fixed": False, "limit": None},
            ],
            "server": {"model": "qwen-coder", "label": "127.0.0.1:8080", "remote": False},
            "problem": "",
        },
        sandbox=sandbox_view(sandbox),
        context=context_view(
            look_at(flights), {"model": "hidden"}, {"flights": frozenset(["tailnum"])}, ["f0f0f0f0f0f0"]
        ),
        runs=[run_view(example_run())],
        proposals=[messages.proposal_view(PROPOSAL)],
        grants=messages.grant_views(GRANTS),
        progress=golden_progress(),
    )


def look_at(flights: VariableSummary) -> LookAtVariables:
    """One frame, told in full, and one hidden variable."""
    told = RenderedVariable(name="flights", text=f"{flights.headline}\n 'carrier' str", tokens=14)
    columns = (Column(label="carrier", dtype="str"), Column(label="tailnum", dtype="str"))
    return LookAtVariables(
        context=RenderedVariables(tagged=TaggedText(told.text), variables=(told,)),
        tokens=14,
        summaries=(flights,),
        hidden={"model": "LinearRegression"},
        columns={"flights": columns},
        budget_tokens=600,
        house_rules=HouseRules(
            files=(
                HouseRulesFile(
                    path="/home/me/sales/CODEAGENT.md",
                    name="CODEAGENT.md beside the notebook",
                    text="Amounts are in thousands of euros.",
                    tokens=9,
                    left_out="the last 2 lines (all house rules together may have 200 tokens)",
                ),
            )
        ),
    )


async def made_context(link: Link) -> Message:
    link.link.send({"type": "context", "context": golden_state()["context"], "heard": "switch-7"})
    return link.wire.last("context")


async def made_columns(link: Link) -> Message:
    flights = VariableSummary(name="flights", type_name="DataFrame", headline="")
    link.link.send(columns_message(look_at(flights), {"flights": frozenset(["tailnum"])}, "flights", "TAIL"))
    return link.wire.last("columns")


async def made_state(link: Link) -> Message:
    link.link.send_state()
    return link.wire.last("state")


async def made_run(link: Link) -> Message:
    link.link.send({"type": "run", "run": run_view(example_run())})
    return link.wire.last("run")


def golden_progress() -> messages.ProgressMessage:
    return messages.ProgressMessage(
        type="progress",
        run_id="0123456789ab",
        phase="model",
        step=1,
        stream=1,
        offset=0,
        text="```python\nflights.gro",
        elapsed_s=1.25,
        usage={"prompt_tokens": 100, "completion_tokens": 7, "cached_tokens": 90, "calls": 1, "estimated": True},
        calls=[call_view(ToolCall(tool="weather", call="weather('JFK')", status="ok", line=2))],
        call_count=31,
    )


async def made_progress(link: Link) -> Message:
    link.link.send(golden_progress())
    return link.wire.last("progress")


async def made_proposal(link: Link) -> Message:
    asked = asyncio.create_task(link.link.ask(PROPOSAL))
    made = await link.wait_for("proposal")
    await link.hear(FROM_PAGE["decision"])
    await asked
    return made


async def made_resolved(link: Link) -> Message:
    await made_proposal(link)
    return await link.wait_for("resolved")


def place(link: Link) -> asyncio.Task[bool]:
    inserter = PanelInserter(link.link, FROM_PAGE["hello"]["session"])
    cells = [dict(cell) for cell in cells_from_run(example_run(), state="pending")]
    replace = ["aaaaaaaaaaaa", "bbbbbbbbbbbb"]
    placing = inserter.insert("0123456789ab", cells, anchor="agent", replace=replace, unless=replace[1:])
    return asyncio.create_task(placing)


async def made_insert(link: Link) -> Message:
    placing = place(link)
    made = await link.wait_for("insert")
    placing.cancel()
    return {**made, "id": "5c0ffee5c0ff"}  # a new one for each message


def mark(link: Link) -> asyncio.Task[messages.MarkedMessage]:
    message = messages.MarkMessage(type="mark", id="ba5eba11ba5e", run_id="0123456789ab", state="accepted")
    return asyncio.create_task(link.link.mark(message, session=FROM_PAGE["hello"]["session"]))


async def made_mark(link: Link) -> Message:
    marking = mark(link)
    made = await link.wait_for("mark")
    marking.cancel()
    return made


def ask(link: Link) -> asyncio.Task[messages.AskedMessage]:
    message = messages.AskMessage(
        type="ask",
        id="ca11ab1eca11",
        notebook="work/eda.ipynb",
        cell_id="ca11ab1eca11",
        source="%%agent\nmean delay of each carrier",
        runs=True,
    )
    return asyncio.create_task(link.link.ask_in_cell(message, web_client=""))


async def made_ask(link: Link) -> Message:
    asking = ask(link)
    made = await link.wait_for("ask")
    asking.cancel()
    return made


async def made_decided(link: Link) -> Message:
    link.link.decided("0123456789ab", "accepted", session=FROM_PAGE["hello"]["session"])
    return link.wire.last("decided")


async def made_pulled(link: Link) -> Message:
    answer = messages.PulledMessage(
        type="pulled",
        id=FROM_PAGE["pull"]["id"],
        run_id=FROM_PAGE["pull"]["run_id"],
        name=FROM_PAGE["pull"]["name"],
        ok=True,
        text="late is now Series 16",
    )
    link.link.send(answer)
    return link.wire.last("pulled")


async def made_effects(link: Link) -> Message:
    answer = messages.EffectsMessage(
        type="effects", id=FROM_PAGE["find_effects"]["id"], effects=messages.effects_view(EFFECTS)
    )
    link.link.send(answer)
    return link.wire.last("effects")


async def made_models(link: Link) -> Message:
    served = messages.ServedView(
        base_url="https://models.example.org/v1",
        label="models.example.org",
        remote=True,
        problem="models.example.org refused the key (401): check CODEAGENT_API_KEY.",
        models=[],
    )
    here = messages.ServedView(
        base_url="http://127.0.0.1:8080/v1",
        label="127.0.0.1:8080",
        remote=False,
        problem="",
        models=["qwen-coder", "small"],
    )
    embedded = messages.EmbeddedView(
        name="qwen-1.5b", problem="weights not fetched: jupyter codeagent models fetch"
    )
    link.link.send({"type": "models", "servers": [served, here], "embedded": embedded, "looked": True})
    return link.wire.last("models")


async def made_refused(link: Link) -> Message:
    link.link.send({"type": "refused", "text": "Your administrator fixes model = small; big was not set."})
    return link.wire.last("refused")


async def made_unrecorded(link: Link) -> Message:
    link.fails_with = HistoryError(TO_PAGE["unrecorded"]["text"])
    await link.hear(FROM_PAGE["applied"])
    return link.wire.last("unrecorded")


async def made_grants(link: Link) -> Message:
    link.link.send({"type": "grants", "grants": messages.grant_views(GRANTS)})
    return link.wire.last("grants")


async def made_ping(link: Link) -> Message:
    link.link.send({"type": "ping"})
    return link.wire.last("ping")


MAKERS = {
    "state": made_state,
    "run": made_run,
    "progress": made_progress,
    "proposal": made_proposal,
    "resolved": made_resolved,
    "insert": made_insert,
    "mark": made_mark,
    "ask": made_ask,
    "decided": made_decided,
    "pulled": made_pulled,
    "effects": made_effects,
    "grants": made_grants,
    "ping": made_ping,
    "context": made_context,
    "columns": made_columns,
    "models": made_models,
    "refused": made_refused,
    "unrecorded": made_unrecorded,
}


# --- every message has a golden example, of exactly its type -----------------------------------------------


def types_of(union: Any) -> dict[str, type]:
    return {typing.get_args(hints(kind)["type"])[0]: kind for kind in typing.get_args(union)}


def hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind, vars(messages))


def all_hints(kind: type) -> dict[str, Any]:
    """With `NotRequired`, which `__required_keys__` does not see in annotations that are strings."""
    return typing.get_type_hints(kind, vars(messages), include_extras=True)


def conforms(value: Any, hint: Any) -> bool:
    """Whether a JSON value is of a type as `messages.py` writes it."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if typing.is_typeddict(hint):
        wanted = hints(hint)
        required = {name for name, part in all_hints(hint).items() if typing.get_origin(part) is not NotRequired}
        return (
            isinstance(value, dict)
            and required <= set(value) <= set(wanted)
            and all(conforms(item, wanted[name]) for name, item in value.items())
        )
    if origin is typing.Literal:
        return value in args
    if origin is list:
        return isinstance(value, list) and all(conforms(item, args[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict)
    if args:  # a union
        return any(conforms(value, part) for part in args)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is hint


@pytest.mark.parametrize(("side", "union"), [("to_page", messages.ToPage), ("from_page", messages.FromPage)])
def test_every_message_type_has_one_golden_example(side: str, union: Any) -> None:
    assert set(GOLDEN[side]) == set(types_of(union))
    assert all(message["type"] == name for name, message in GOLDEN[side].items())


@pytest.mark.parametrize(("side", "union"), [("to_page", messages.ToPage), ("from_page", messages.FromPage)])
def test_every_golden_example_has_exactly_the_fields_of_its_type(side: str, union: Any) -> None:
    kinds = types_of(union)
    wrong = [name for name, message in GOLDEN[side].items() if not conforms(message, kinds[name])]
    assert wrong == []


def test_the_check_of_types_refuses_a_missing_and_an_unknown_field() -> None:
    assert not conforms({"type": "stop"}, messages.StopMessage)
    assert not conforms({**FROM_PAGE["stop"], "extra": 1}, messages.StopMessage)


# --- kernel -> page: what the kernel sends is the golden example --------------------------------------------


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_the_kernel_sends_the_golden_message(kind: str) -> None:
    made = json.loads(json.dumps(with_page(MAKERS[kind])))
    if os.environ.get("CODEAGENT_WRITE_GOLDEN"):
        TO_PAGE[kind] = made
        PATH.write_text(json.dumps(GOLDEN, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert made == TO_PAGE[kind]


def test_the_only_trusted_cell_of_the_golden_insertion_is_the_one_whose_outputs_were_cleaned() -> None:
    trusted = [cell["metadata"].get("trusted", False) for cell in TO_PAGE["insert"]["cells"]]
    assert [cell["cell_type"] for cell in TO_PAGE["insert"]["cells"]] == ["code", "markdown"]
    assert trusted == [True, False]


# --- page -> kernel: the kernel takes the golden example for what it is -------------------------------------


def test_hello_is_answered_with_the_state() -> None:
    async def act(link: Link) -> Message:
        return await link.wait_for("state")

    assert json.loads(json.dumps(with_page(act))) == TO_PAGE["state"]


def test_hello_of_another_protocol_is_refused() -> None:
    async def main() -> None:
        with link_to_page() as link:
            with pytest.raises(ValueError, match=f"the kernel {PROTOCOL}: reload"):
                open_comm({**FROM_PAGE["hello"], "protocol": PROTOCOL + 1})
            assert not link.link.is_open

    asyncio.run(main())


def test_the_decision_approves_the_code_as_the_person_edited_it() -> None:
    async def act(link: Link) -> Decision:
        asked = asyncio.create_task(link.link.ask(PROPOSAL))
        await link.wait_for("proposal")
        await link.hear(FROM_PAGE["decision"])
        return await asked

    decision: Decision = with_page(act)
    golden = FROM_PAGE["decision"]
    assert (decision.action, decision.code, decision.scope) == (golden["action"], golden["code"], golden["scope"])
    assert decision.code != PROPOSAL.code


ODD: list[Any] = [None, [1], "x", 7, {}, {"type": []}, {"type": {"a": 1}}, [[[[]]] * 9] * 9]


@pytest.mark.parametrize("data", ODD)
def test_what_is_no_message_of_a_page_is_nobodys_business_and_the_next_one_is_heard(data: Any) -> None:
    async def act(link: Link) -> list[Any]:
        faults: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, fault: faults.append(fault))
        await link.hear(data)
        comm.get_comm_manager().comms["page"].handle_msg({"content": {}})
        await link.hear(FROM_PAGE["stop"])
        assert link.events[-1] == FROM_PAGE["stop"]
        return faults

    assert with_page(act) == []


@pytest.mark.parametrize("data", [None, [1], "x", 7, {}, {"protocol": [1]}])
def test_what_is_no_hello_opens_no_link(data: Any) -> None:
    async def main() -> None:
        with link_to_page() as link:
            with pytest.raises(ValueError, match="reload the page"):
                open_comm(data)
            assert not link.link.is_open

    asyncio.run(main())


def decided(*said: Message, proposal: Proposal = PROPOSAL) -> Decision | None:
    """What comes of these messages while the proposal waits; None while it still does."""

    async def act(link: Link) -> Decision | None:
        asked = asyncio.create_task(link.link.ask(proposal))
        await link.wait_for("proposal")
        for message in said:
            await link.hear({"type": "decision", "proposal_id": proposal.id, **message})
        for _ in range(20):  # turns of the loop, which it needs a few of
            await asyncio.sleep(0)
        done = asked.done()
        asked.cancel()
        return asked.result() if done else None

    found: Decision | None = with_page(act)
    return found


@pytest.mark.parametrize("code", [None, 7, ["print(1)"], {"a": 1}])
def test_a_yes_to_what_is_no_code_is_a_no(code: Any) -> None:
    decision = decided({"action": "approve", "code": code})
    assert decision is not None
    assert (decision.action, decision.code) == ("reject", PROPOSAL.code)


@pytest.mark.parametrize("said", [{}, {"action": None}, {"action": ["approve"]}, {"action": "Approve"}])
def test_what_is_no_clear_yes_is_a_no(said: Message) -> None:
    decision = decided({**said, "reason": {"odd": 1}})
    assert decision is not None
    assert (decision.action, decision.reason) == ("reject", "")


@pytest.mark.parametrize("other", ["", "another", None, 5, ["9d1f"], {"id": "9d1f"}])
def test_a_decision_of_another_proposal_decides_nothing(other: Any) -> None:
    assert decided({"action": "approve", "proposal_id": other, "code": "EVIL"}) is None


def test_a_decision_that_is_sent_again_decides_no_later_proposal() -> None:
    async def act(link: Link) -> bool:
        asked = asyncio.create_task(link.link.ask(PROPOSAL))
        await link.wait_for("proposal")
        await link.hear(FROM_PAGE["decision"])
        await asked
        link.wire.published.clear()
        again = asyncio.create_task(link.link.ask(dataclasses.replace(PROPOSAL, id="another")))
        await link.wait_for("proposal")
        await link.hear(FROM_PAGE["decision"])
        for _ in range(20):
            await asyncio.sleep(0)
        waits = not again.done()
        again.cancel()
        return waits

    assert with_page(act)


def test_of_two_answers_the_first_counts() -> None:
    decision = decided({"action": "reject"}, {"action": "approve", "code": "EVIL"})
    assert decision is not None
    assert decision.action == "reject"


@pytest.mark.parametrize("missing", ["ok", "cell_ids", "problem"])
def test_an_acknowledgement_with_something_missing_is_none(missing: str) -> None:
    async def act(link: Link) -> bool:
        placing = place(link)
        made = await link.wait_for("insert")
        whole = {**FROM_PAGE["inserted"], "id": made["id"]}
        await link.hear({key: value for key, value in whole.items() if key != missing})
        await asyncio.sleep(0.01)
        waits = not placing.done()
        await link.hear(whole)
        await placing
        return waits

    assert with_page(act)


@pytest.mark.parametrize(
    "kind",
    [
        "find_effects",
        "applied",
        "stop",
        "missed",
        "ask_ended",
        "cell_state",
        "share",
        "pull",
        "share_columns",
        "find_columns",
        "sharing",
        "take_back",
    ],
)
def test_what_the_user_does_reaches_the_session_as_it_was_sent(kind: str) -> None:
    async def act(link: Link) -> list[Mapping[str, Any]]:
        await link.hear(FROM_PAGE[kind])
        return link.events

    # Of a decision everybody is told who made it.
    by = {"session": FROM_PAGE["hello"]["session"]} if kind in ("applied", "cell_state") else {}
    assert with_page(act) == [FROM_PAGE["hello"], {**FROM_PAGE[kind], **by}]


def test_a_decision_that_was_not_recorded_is_told_to_the_page_that_decided_and_to_no_other() -> None:
    async def act(link: Link) -> tuple[list[Message], list[str]]:
        told: list[str] = []
        open_comm({**FROM_PAGE["hello"], "session": "another"}, "newcomer")
        await asyncio.sleep(0)
        for comm_id in ("page", "newcomer"):
            page: Any = comm.get_comm_manager().comms[comm_id]
            page.send = _noted(page.send, comm_id, told)
        link.wire.published.clear()
        link.fails_with = HistoryError("the disk is full")
        await link.hear({**FROM_PAGE["cell_state"], "state": "accepted"})
        return link.wire.published, told

    published, told = with_page(act)
    run_id = FROM_PAGE["cell_state"]["run_id"]
    assert published == [{"type": "unrecorded", "run_id": run_id, "what": "accepted", "text": "the disk is full"}]
    assert told == ["page"]


def _noted(send: Callable[[Message], None], comm_id: str, told: list[str]) -> Callable[[Message], None]:
    def noted(message: Message) -> None:
        told.append(comm_id)
        send(message)

    return noted


def test_cells_of_a_notebook_from_elsewhere_have_no_record_that_could_be_wrong_but_code_that_ran_is_told() -> None:
    async def act(link: Link) -> list[Message]:
        link.wire.published.clear()
        link.fails_with = UnknownRunError("the history has no such run")
        await link.hear(FROM_PAGE["cell_state"])
        await link.hear(FROM_PAGE["applied"])
        return link.wire.published

    assert [(told["type"], told["what"]) for told in with_page(act)] == [("unrecorded", "applied")]


def test_inserted_and_marked_answer_the_golden_insert_and_mark() -> None:
    assert FROM_PAGE["inserted"]["id"] == TO_PAGE["insert"]["id"]
    assert FROM_PAGE["inserted"]["cell_ids"] == [cell["id"] for cell in TO_PAGE["insert"]["cells"]]
    assert FROM_PAGE["marked"]["id"] == TO_PAGE["mark"]["id"]


def test_a_question_is_put_into_the_notebook_by_the_page_that_acknowledges_it_or_the_reason_is_one_line() -> None:
    async def act(link: Link) -> None:
        asking = ask(link)
        await link.wait_for("ask")
        await link.hear(FROM_PAGE["asked"])
        assert (await asking)["cell_ids"] == [TO_PAGE["ask"]["cell_id"]]
        link.wire.published.clear()
        refused = ask(link)
        await link.wait_for("ask")
        refusal = {"ok": False, "cell_ids": [], "problem": "the notebook eda.ipynb is read-only"}
        await link.hear({**FROM_PAGE["asked"], **refusal})
        with pytest.raises(InsertError, match="not be inserted into the notebook: the notebook eda"):
            await refused

    with_page(act)


def test_an_insertion_that_the_page_acknowledged_is_done() -> None:
    async def act(link: Link) -> None:
        placing = place(link)
        made = await link.wait_for("insert")
        await link.hear({**FROM_PAGE["inserted"], "id": made["id"]})
        assert await placing

    with_page(act)


def test_an_insertion_for_which_other_cells_stand_is_done_and_brings_none() -> None:
    async def act(link: Link) -> None:
        placing = place(link)
        made = await link.wait_for("insert")
        await link.hear({**FROM_PAGE["inserted"], "id": made["id"], "cell_ids": []})
        assert not await placing
        link.wire.published.clear()
        open_comm({**FROM_PAGE["hello"], "session": "another"}, "newcomer")
        await link.wait_for("state")
        assert [message["type"] for message in link.wire.published] == ["state"]

    with_page(act)


def test_cells_that_no_page_inserted_are_not_offered_to_the_next_once_they_were_discarded() -> None:
    async def act(link: Link) -> list[str]:
        placing = place(link)
        made = await link.wait_for("insert")
        refusal = {"ok": False, "cell_ids": [], "problem": "the notebook is read-only"}
        await link.hear({**FROM_PAGE["inserted"], **refusal, "id": made["id"]})
        await asyncio.gather(placing, return_exceptions=True)
        link.link.decided(made["run_id"], "discarded", session="page")
        link.wire.published.clear()
        open_comm({**FROM_PAGE["hello"], "session": "another"}, "newcomer")
        await link.wait_for("state")
        return [message["type"] for message in link.wire.published]

    assert with_page(act) == ["state"]


def test_a_page_that_comes_while_another_inserts_does_not_insert_as_well_and_is_the_next_to_try() -> None:
    async def act(link: Link) -> int:
        placing = place(link)
        made = await link.wait_for("insert")
        open_comm({**FROM_PAGE["hello"], "session": "another"}, "newcomer")
        await link.wait_for("state")
        sent_meanwhile: int = sum(message["type"] == "insert" for message in link.wire.published)
        link.wire.published.clear()
        refusal = {"ok": False, "cell_ids": [], "problem": "the notebook is read-only"}
        await link.hear({**FROM_PAGE["inserted"], **refusal, "id": made["id"]})
        again = await link.wait_for("insert")
        assert again["id"] == made["id"]
        await link.hear({**FROM_PAGE["inserted"], "id": made["id"]})
        await placing
        return sent_meanwhile

    sent: int = with_page(act)
    assert sent == 1  # to the first page


def test_cells_that_no_page_inserted_go_to_the_next_page_that_comes() -> None:
    async def act(link: Link) -> Message:
        placing = place(link)
        made = await link.wait_for("insert")
        refusal = {"ok": False, "cell_ids": [], "problem": "the notebook is read-only"}
        await link.hear({**FROM_PAGE["inserted"], **refusal, "id": made["id"]})
        await asyncio.gather(placing, return_exceptions=True)
        link.wire.published.clear()
        open_comm({**FROM_PAGE["hello"], "session": "another"}, "newcomer")
        return await link.wait_for("insert")

    sent: Message = with_page(act)
    assert sent["type"] == "insert"


def test_cells_that_no_page_inserted_go_to_one_page_only_when_two_come_back() -> None:
    async def act(link: Link) -> tuple[int, int]:
        placing = place(link)
        made = await link.wait_for("insert")
        refusal = {"ok": False, "cell_ids": [], "problem": "the notebook is read-only"}
        await link.hear({**FROM_PAGE["inserted"], **refusal, "id": made["id"]})
        await asyncio.gather(placing, return_exceptions=True)
        link.wire.published.clear()
        for name in ("first", "second"):
            open_comm({**FROM_PAGE["hello"], "session": name}, name)
        again = await link.wait_for("insert")
        sent = sum(message["type"] == "insert" for message in link.wire.published)
        await link.hear({**FROM_PAGE["inserted"], "id": again["id"]})
        await asyncio.sleep(0.01)
        link.wire.published.clear()
        open_comm({**FROM_PAGE["hello"], "session": "third"}, "third")
        await link.wait_for("state")
        return sent, sum(message["type"] == "insert" for message in link.wire.published)

    sent: tuple[int, int] = with_page(act)
    assert sent == (1, 0)


def test_cells_of_a_run_that_is_stopped_while_they_are_inserted_go_again_and_never_come_later() -> None:
    async def act(link: Link) -> list[Message]:
        placing = place(link)
        made = await link.wait_for("insert")
        placing.cancel()
        await asyncio.gather(placing, return_exceptions=True)
        discarded = link.wire.last("mark")
        assert (discarded["run_id"], discarded["state"]) == (made["run_id"], "discarded")
        link.wire.published.clear()
        await link.say_hello()
        await link.wait_for("state")
        return link.wire.published

    assert [message["type"] for message in with_page(act)] == ["state"]


def test_a_page_that_refuses_to_insert_is_told_apart_from_one_that_is_gone() -> None:
    async def act(link: Link) -> InsertError:
        placing = place(link)
        made = await link.wait_for("insert")
        refusal = {"ok": False, "cell_ids": [], "problem": "the notebook is read-only"}
        await link.hear({**FROM_PAGE["inserted"], **refusal, "id": made["id"]})
        with pytest.raises(InsertError, match="the notebook is read-only") as caught:
            await placing
        return caught.value

    error: InsertError = with_page(act)
    assert error.refused


def test_pages_hear_nothing_of_a_comm_that_is_dropped() -> None:
    async def act(link: Link) -> list[str]:
        link.link.announce()
        link.link.announce()  # the former beacon is dropped
        await link.say_hello()  # and the page's former comm
        await asyncio.sleep(0)
        gc.collect()
        return link.wire.kinds

    assert "comm_close" not in with_page(act)


def test_a_mark_that_the_page_acknowledged_is_done() -> None:
    async def act(link: Link) -> messages.MarkedMessage:
        marking = mark(link)
        await link.wait_for("mark")
        await link.hear(FROM_PAGE["marked"])
        return await marking

    assert with_page(act) == FROM_PAGE["marked"]


def test_a_mark_that_the_page_refuses_is_not_told_as_an_insertion() -> None:
    async def act(link: Link) -> None:
        marking = mark(link)
        made = await link.wait_for("mark")
        refusal = {"ok": False, "cell_ids": [], "problem": "the notebook is read-only"}
        await link.hear({**FROM_PAGE["marked"], **refusal, "id": made["id"]})
        with pytest.raises(InsertError, match=r"were not set to \w+: the notebook is read-only"):
            await marking

    with_page(act)


def test_the_lists_of_words_that_the_page_repeats_are_complete() -> None:
    """The page's `protocol.ts` repeats these; a new word has to be added there and here."""
    assert set(typing.get_args(CellState)) == {"pending", "accepted", "discarded", "edited"}
    assert set(typing.get_args(Phase)) == {
        *("context", "loading", "model", "waiting", "sandbox", "inserting", "ended"),
    }
