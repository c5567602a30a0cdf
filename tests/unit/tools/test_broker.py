"""Calls of one run: decided, made, answered, recorded; the sandbox is a forged request each time."""

from __future__ import annotations

import asyncio
import datetime
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from jupyter_codeagent.frontend.approvals.gate import ApprovalGate
from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.sandbox.data import unpack as unpacking
from jupyter_codeagent.sandbox.guest.send import pack
from jupyter_codeagent.sandbox.tool_calls import CallAnswer, CallRequest
from jupyter_codeagent.tools.broker import ToolCallBroker
from jupyter_codeagent.tools.call_host import Host, Limits
from jupyter_codeagent.tools.call_results import is_plain
from jupyter_codeagent.tools.grants import grant_of
from jupyter_codeagent.tools.result_record import restored
from jupyter_codeagent.tools.tool import Tool, tool_of
from jupyter_codeagent.types.approvals import Decision, Proposal
from jupyter_codeagent.types.errors import VariableError
from jupyter_codeagent.types.sandbox import PackedValue, ToolCall
from jupyter_codeagent.types.variables import CopiedVariable, ToolPolicy

LIMITS = Limits(argument_bytes=1 << 20, result_bytes=1 << 20)


class SpoolDouble:
    def __init__(self) -> None:
        self.written: list[Any] = []
        self.discarded: list[CopiedVariable] = []

    def write(self, name: str, value: Any, max_bytes: int) -> CopiedVariable:
        if max_bytes < 100:
            raise VariableError(f"{name!r} is too large.")
        self.written.append(value)
        return CopiedVariable(name=name, type_name=type(value).__name__, size_bytes=100)

    def discard(self, copy: CopiedVariable) -> None:
        self.discarded.append(copy)


class People:
    """Who decides, and what was asked."""

    def __init__(self, *answers: Decision) -> None:
        self.answers = list(answers)
        self.asked: list[Proposal] = []

    async def ask(self, proposal: Proposal) -> Decision:
        self.asked.append(proposal)
        answer = self.answers.pop(0)
        return answer if answer.code else replace(answer, code=proposal.code)


def yes(code: str = "", *, scope: Any = "once", calls: int = 0) -> Decision:
    return Decision(action="approve", code=code, decided_by="panel", scope=scope, calls=calls)


NO = Decision(action="reject", code="", decided_by="panel", reason="too dear")


async def directly(call: Callable[[], Any]) -> Any:
    return call()


async def awaited(coroutine: Any) -> Any:
    return await coroutine


def broker_of(
    *tools: Tool,
    people: People | None = None,
    grants: Grants | None = None,
    unsure: set[str] | None = None,
    limits: Limits = LIMITS,
    recorded: Sequence[ToolCall] = (),
) -> ToolCallBroker:
    gate = ApprovalGate(people or People(), grants=grants or Grants(), timeout_s=60)
    return ToolCallBroker(
        {tool.name: tool for tool in tools},
        run_id="r1",
        decide=lambda proposal: gate.decide(proposal, "auto"),
        unsure=unsure,
        host=Host(on_main_thread=directly, on_users_loop=awaited, spool=SpoolDouble()),
        limits=limits,
        recorded=recorded,
    )


def request(name: str, *, number: int = 1, **arguments: Any) -> CallRequest:
    kind, meta, data = pack(arguments, 1 << 20)
    assert kind in ("json", "parts")
    packed = PackedValue(kind=kind, meta_json=meta, data=data)  # type: ignore[arg-type]
    return CallRequest(number=number, name=name, line=3, arguments=packed)


def answers(broker: ToolCallBroker, *requests: CallRequest) -> list[CallAnswer]:
    async def all_of_them() -> list[CallAnswer]:
        broker.begin()
        return [await broker.answer(one) for one in requests]

    return asyncio.run(all_of_them())


def recording(name: str, policy: ToolPolicy, result: Any = None) -> tuple[Tool, list[Any]]:
    made: list[Any] = []

    def function(x: Any = None) -> Any:
        made.append(x)
        if isinstance(result, Exception):
            raise result
        return x if result is None else result

    return tool_of(function, name=name, policy=policy), made


def test_a_call_of_an_auto_tool_is_made_at_once_and_recorded() -> None:
    tool, made = recording("read", "auto")
    broker = broker_of(tool)
    [answer] = answers(broker, request("read", x=[1, "a"]))
    assert (answer.value, made) == ([1, "a"], [[1, "a"]])
    [call] = broker.calls
    assert (call.call, call.status, call.line, call.result) == ("read([1, 'a'])", "ok", 3, "[1, 'a']")
    assert call.decided_by == "policy"


def test_a_call_of_an_ask_tool_waits_for_a_person_who_sees_the_whole_call() -> None:
    tool, made = recording("send", "ask")
    people = People(yes())
    broker = broker_of(tool, people=people)
    answers(broker, request("send", x="y" * 1000))
    assert made == ["y" * 1000]
    assert people.asked[0].code == f"send({'y' * 1000!r})"
    assert people.asked[0].kind == "call"
    assert people.asked[0].note == "Line 3 of the program calls your function send(x: Any = None) -> Any."
    assert broker.calls[0].decided_by == "panel"


def test_who_is_asked_reads_what_the_call_is_expected_to_take_and_is_not_asked_for_one_that_would_fail() -> None:
    def estimate(sql: str) -> str:
        if sql == "SELEC":
            raise ValueError("syntax error at SELEC")
        if sql == "ENDED":
            raise StopIteration
        return "PostgreSQL expects about 7,000 rows in its largest step."

    def run(sql: str) -> str:
        made.append(sql)
        return "a row"

    made: list[str] = []
    tool = tool_of(run, name="db", policy="ask")
    tool = replace(tool, stub=replace(tool.stub, kind="sqlalchemy"), estimate=estimate)
    people = People(yes(), yes("SELECT 3"), yes())
    hidden = "SELECT '\u202e'"
    asked = ["SELECT 1", "SELEC", "ENDED", "SELECT 2", hidden]
    broker = broker_of(tool, people=people)
    found = answers(broker, *(request("db", sql=sql) for sql in asked))
    assert {call.kind for call in broker.of_run} == {"sqlalchemy"}, "the record says that it is a query"
    assert [(one.ename, one.evalue) for one in found if one.ename] == [
        ("ValueError", "syntax error at SELEC"),
        ("RuntimeError", "db was ended by StopIteration"),
    ]
    assert made == ["SELECT 1", "SELECT 3", hidden], "the second was edited"
    shown = [("query", "SELECT 1"), ("query", "SELECT 2"), ("call", f"db({hidden!r})")]
    assert [(proposal.kind, proposal.code) for proposal in people.asked] == shown
    assert people.asked[0].note == f"Line 3 of the program queries your database db. {estimate('SELECT 1')}"


def test_denied_is_a_permission_error_in_the_program_and_nothing_is_called() -> None:
    tool, made = recording("send", "ask")
    never, made_never = recording("never", "deny")
    broker = broker_of(tool, never, people=People(NO))
    refused, forbidden = answers(broker, request("send", x=1), request("never", number=2))
    assert (refused.ename, "too dear" in refused.evalue) == ("PermissionError", True)
    assert forbidden.ename == "PermissionError"
    assert made == made_never == []
    assert [call.status for call in broker.calls] == ["denied", "denied"]


def test_a_person_may_change_the_arguments() -> None:
    tool, made = recording("send", "ask")
    broker = broker_of(tool, people=People(yes("send('ada')"), yes("send(open('x'))")))
    answer, refused = answers(broker, request("send", x="bob"), request("send", number=2, x="eve"))
    assert (answer.value, made) == ("ada", ["ada"])
    assert broker.calls[0].call == "send('ada')"
    assert refused.ename == "TypeError"
    assert broker.calls[1].status == "refused"


def test_a_yes_for_the_notebook_is_for_this_function_alone() -> None:
    send, _ = recording("send", "ask")
    pay, paid = recording("pay", "ask")
    grants = Grants()
    people = People(yes(scope="notebook"), NO)
    broker = broker_of(send, pay, people=people, grants=grants)
    answers(broker, request("send", x=1), request("send", number=2, x=2), request("pay", number=3, x=3))
    assert [proposal.code for proposal in people.asked] == ["send(1)", "pay(3)"]
    assert (grants.all, paid) == ((grant_of(send),), [])


def test_a_yes_for_the_notebook_is_not_for_another_function_under_the_same_name() -> None:
    first, _ = recording("send", "ask")
    other, made = recording("send", "ask")
    grants = Grants()
    answers(broker_of(first, people=People(yes(scope="notebook")), grants=grants), request("send", x=1))
    people = People(NO)
    answers(broker_of(other, people=people, grants=grants), request("send", x=1))
    assert (len(people.asked), made) == (1, [])


def test_a_yes_for_several_calls_is_for_as_many_of_this_function_in_this_run() -> None:
    read, got = recording("read", "ask")
    pay, paid = recording("pay", "ask")
    people = People(yes(scope="run", calls=3), NO, NO)
    broker = broker_of(read, pay, people=people)
    reads = [replace(request("read", number=n, x=n), together=40 - n) for n in range(4)]
    answers(broker, *reads, request("pay", number=9, x=9))
    assert (got, paid) == ([0, 1, 2], [])
    assert [(proposal.code, proposal.calls) for proposal in people.asked] == [
        ("read(0)", 40),
        ("read(3)", 37),
        ("pay(9)", 1),
    ]
    assert "It makes 40 calls to it at once." in people.asked[0].note


def test_what_was_called_in_this_run_is_not_called_again_when_the_program_runs_again() -> None:
    tool, made = recording("send", "ask")
    people = People(yes(), yes(), NO)
    broker = broker_of(tool, people=people)
    heard: list[int] = []
    broker.on_calls = lambda calls: heard.append(len(calls))
    answers(broker, request("send", x=1), request("send", number=2, x=1))
    assert heard == [0, 1, 2], "the page is told while the program goes on"
    again = answers(broker, request("send", x=1), request("send", number=2, x=1), request("send", number=3, x=1))
    assert made == [1, 1]
    assert [answer.value for answer in again[:2]] == [1, 1]
    assert again[2].ename == "PermissionError", "one more than before is a new call"
    assert [call.earlier for call in broker.calls] == [True, True, False]
    assert len(people.asked) == 3
    assert answers(broker, request("send", number=7, x=2, y=3))[0].ename == "TypeError"


def test_a_no_stands_for_the_whole_run_and_a_failure_is_tried_again() -> None:
    denied, _ = recording("send", "ask")
    broken, tried = recording("read", "auto", ValueError("down"))
    people = People(NO)
    broker = broker_of(denied, broken, people=people)
    for _ in range(2):
        refused, failed = answers(broker, request("send", x=1), request("read", number=2, x=1))
        assert (refused.ename, failed.ename, failed.evalue) == ("PermissionError", "ValueError", "down")
    assert (len(people.asked), tried) == (1, [1, 1])


def test_a_plain_result_goes_as_it_is_and_all_else_as_a_copy_that_goes_with_the_run() -> None:
    frame = pd.DataFrame({"a": [1]})
    table, _ = recording("table", "auto", frame)
    broker = broker_of(table)
    [answer] = answers(broker, request("table"))
    assert answer.copy is not None
    assert broker.calls[0].result == "DataFrame 1x1"
    spool: Any = broker._results._host.spool
    assert spool.written[0] is frame
    broker.close()
    assert spool.discarded == [answer.copy]


def test_results_over_the_limit_of_a_run_are_refused_and_the_program_is_told() -> None:
    table, _ = recording("table", "auto", pd.DataFrame({"a": [1]}))
    broker = broker_of(table, limits=replace(LIMITS, result_bytes=150))
    first, second = answers(broker, request("table", x=1), request("table", number=2, x=2))
    assert first.copy is not None
    assert (second.ename, "too large" in second.evalue) == ("RuntimeError", True)


def test_async_functions_are_awaited() -> None:
    async def later(x: int) -> int:
        await asyncio.sleep(0)
        return x + 1

    broker = broker_of(tool_of(later, policy="auto"))
    assert answers(broker, request("later", x=1))[0].value == 2


def test_calls_of_a_cell_and_of_a_run_are_limited() -> None:
    tool, made = recording("read", "auto")
    broker = broker_of(tool, limits=replace(LIMITS, calls=3, calls_per_cell=2))
    results = answers(broker, *(request("read", number=n, x=n) for n in range(1, 4)))
    assert "the limit is 2 calls per cell (CodeAgent.max_calls_per_cell)" in results[2].evalue
    results = answers(broker, request("read", number=1, x=9))
    assert "the limit is 3 calls per run (CodeAgent.max_calls)" in results[0].evalue
    assert made == [1, 2]


@pytest.mark.parametrize(
    ("name", "packed", "ename"),
    [
        ("other", PackedValue(kind="json", meta_json='{"dict": []}', data=b""), "NameError"),
        ("read", PackedValue(kind="json", meta_json="[1]", data=b""), "ValueError"),
        ("read", PackedValue(kind="json", meta_json='{"list": []}', data=b""), "ValueError"),
        ("read", PackedValue(kind="json", meta_json='{"dict": [[1, 2]]}', data=b""), "ValueError"),
        ("read", PackedValue(kind="json", meta_json="{", data=b""), "ValueError"),
        ("read", PackedValue(kind="parts", meta_json='{"parts": [["arrow", "{}", 3]]}', data=b"xyz"), "ValueError"),
        ("read", PackedValue(kind="json", meta_json='{"dict": [["self", 2]]}', data=b""), "TypeError"),
        ("read", PackedValue(kind="json", meta_json='{"dict": []}', data=b"x" * (2 << 20)), "ValueError"),
    ],
)
def test_a_forged_call_is_refused_and_nothing_is_called(name: str, packed: PackedValue, ename: str) -> None:
    tool, made = recording("read", "auto")
    broker = broker_of(tool)
    [answer] = answers(broker, CallRequest(number=1, name=name, line=None, arguments=packed))
    assert (answer.ename, made) == (ename, [])
    assert broker.calls[0].status == "refused"
    assert broker.of_run == ()


def test_a_question_says_which_arguments_it_does_not_show_whole() -> None:
    tool = tool_of(lambda to, table, amount: None, name="pay")
    people = People(NO, NO)
    broker = broker_of(tool, people=people)
    answers(
        broker,
        request("pay", to="ada", table=pd.DataFrame({"a": [1]}), amount=np.int64(10)),
        request("pay", number=2, to="ada", table=[datetime.date(2013, 1, 1)], amount=Decimal("9.5")),
    )
    assert people.asked[0].code == "pay(to='ada', table=<DataFrame 1x1: 'a' int64>, amount=10)"
    assert people.asked[0].note.endswith("Not shown whole: table.")
    assert people.asked[1].code == "pay(to='ada', table=[datetime.date(2013, 1, 1)], amount=Decimal('9.5'))"
    assert "Not shown" not in people.asked[1].note


class Watching(People):
    """Notes how much was decoded when it was asked."""

    def __init__(self, decoded: list[str], *answers: Decision) -> None:
        super().__init__(*answers)
        self.decoded = decoded
        self.at_each_question: list[list[str]] = []

    async def ask(self, proposal: Proposal) -> Decision:
        self.at_each_question.append(list(self.decoded))
        return await super().ask(proposal)


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which parts of values were decoded so far."""
    found: list[str] = []
    for name in ("read_table", "read_array", "clean_png"):
        real = getattr(unpacking, name)
        monkeypatch.setattr(unpacking, name, noting(found, name, real))
    return found


def noting(found: list[str], name: str, call: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def noted(data: bytes) -> Any:
        found.append(name)
        return call(data)

    return noted


LARGE = {
    "table": pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
    "array": np.zeros((2, 3)),
    "wide": pl.DataFrame({f"c{at}": [at] for at in range(30)}),
    "text": "plain",
}


@pytest.mark.parametrize("answer", [NO, yes(), yes(scope="notebook")])
def test_nothing_of_an_argument_is_decoded_before_its_yes(decoded: list[str], answer: Decision) -> None:
    tool, made = recording("send", "ask")
    people = Watching(decoded, answer)
    broker = broker_of(tool, people=people)
    answers(broker, request("send", x=LARGE))
    assert people.at_each_question == [[]]
    is_made = answer.action == "approve"
    assert (len(made), decoded) == (is_made, ["read_table", "read_array", "read_table"] * is_made)
    if is_made:
        assert made[0]["table"].equals(LARGE["table"])


def test_nothing_of_an_argument_is_decoded_for_a_function_that_may_not_be_called(decoded: list[str]) -> None:
    never, _ = recording("never", "deny")
    answers(broker_of(never), request("never", x=LARGE), request("unknown", number=2, x=LARGE))
    assert decoded == []


def test_arguments_of_a_function_that_only_reads_are_decoded_without_a_question(decoded: list[str]) -> None:
    tool, made = recording("read", "auto")
    answers(broker_of(tool), request("read", x=LARGE["table"]))
    assert (len(made), decoded) == (1, ["read_table"])


def test_a_question_tells_size_columns_and_types_of_what_is_not_decoded() -> None:
    tool = tool_of(lambda x, n: None, name="send")
    people = People(*[NO] * 6)
    given = {
        "frame": LARGE["table"],
        "wide": LARGE["wide"],
        "series": pd.Series([1.5, None], name="s"),
        "array": np.zeros((2, 3)),
        "masked": np.ma.MaskedArray([1, 2], [False, True]),
        "sparse": sparse.csr_array(np.eye(3)),
    }
    answers(broker_of(tool, people=people), *(request("send", x=value, n=1) for value in given.values()))
    shown = [proposal.code.removeprefix("send(x=").removesuffix(", n=1)") for proposal in people.asked]
    assert shown == [
        "<DataFrame 2x2: 'a' int64, 'b' text>",
        "<polars DataFrame 1x30: " + "".join(f"'c{at}' int64, " for at in range(20)) + "…>",
        "<Series 2: float64>",
        "<ndarray 2x3: float64>",
        "<masked ndarray 2>",
        "<csr_array 3x3>",
    ]
    assert all("Not shown whole: x." in proposal.note for proposal in people.asked)


def test_a_label_can_neither_end_its_description_nor_fill_the_question() -> None:
    tool, _ = recording("send", "ask")
    people = People(NO)
    labels = ["a>, to='eve'", "\u202egnp.exe\x1b[2J", "x" * 100_000, 10**500, ("b", 1)]
    answers(
        broker_of(tool, people=people),
        request("send", x=pd.DataFrame([[1] * 5], columns=pd.Index(labels, tupleize_cols=False))),
    )
    assert people.asked[0].code == (
        "send(<DataFrame 1x5: \"a>, to='eve'\" int64, '\\u202egnp.exe\\x1b[2J' int64, "
        f"'{'x' * 40}' int64, a int int64, a tuple int64>)"
    )


def bomb(kind: str) -> CallRequest:
    """A call with an argument that cannot be decoded, which only decoding tells."""
    good = request("send", x=pd.DataFrame({"s": ["xx", "yy"]}) if kind != "array" else np.zeros(2))
    meta = good.arguments.meta_json
    data = good.arguments.data
    if kind == "text":
        data = data.replace(b"xxyy", b"\xff\xfe\xff\xfe")
    if kind == "labels":
        packed = request("send", x=pl.DataFrame({"a": [1], "b": [2]})).arguments
        meta, data = packed.meta_json.replace('\\"b\\"', '\\"a\\"'), packed.data
    if kind == "names":
        packed = request("send", x=pl.DataFrame({"a": [{"QQ": 1}]})).arguments
        meta, data = packed.meta_json, packed.data.replace(b"QQ", b"\xff\xfe")
    changed = PackedValue(kind=good.arguments.kind, meta_json=meta, data=data)
    assert changed != good.arguments
    return replace(good, arguments=changed)


@pytest.mark.parametrize("kind", ["text", "labels", "names"])
@pytest.mark.parametrize("policy", ["auto", "ask"])
def test_an_argument_that_cannot_be_decoded_is_answered_with_one_line(policy: ToolPolicy, kind: str) -> None:
    """polars raises errors of its own for two equal names, and panics for names that are no UTF-8."""
    tool, made = recording("send", policy)
    broker = broker_of(tool, people=People(yes()))
    [answer] = answers(broker, bomb(kind))
    assert (answer.ename, made) == ("ValueError", [])
    assert "from the sandbox" in answer.evalue
    assert "\n" not in answer.evalue
    assert broker.calls[0].status == "refused"


def test_a_panic_in_a_function_is_told_to_the_code_that_called_it() -> None:
    """polars' is no `Exception`: the call would never be answered."""

    def read(x: Any) -> Any:
        return pl.Series([2**63 - 1]).cast(pl.Datetime("us")).to_list()

    async def later(x: Any) -> Any:
        return read(x)

    broker = broker_of(tool_of(read, policy="auto"), tool_of(later, policy="auto"))
    for answer in answers(broker, request("read", x=1), request("later", number=2, x=1)):
        assert (answer.ename, "overflowed" in answer.evalue) == ("RuntimeError", True)


def test_a_number_too_large_for_a_float_is_refused() -> None:
    def pay(amount: float) -> None: ...

    [answer] = answers(broker_of(tool_of(pay, policy="auto")), request("pay", amount=10**400))
    assert (answer.ename, "too large" in answer.evalue) == ("TypeError", True)


def test_what_looks_secret_in_arguments_and_results_is_not_in_the_record() -> None:
    tool, _ = recording("read", "auto", "token=ghp_abcdefghijklmnopqrstuvwxyz0123456789")
    broker = broker_of(tool)
    answers(broker, request("read", x="ada@example.org"))
    assert "ghp_" not in broker.calls[0].result
    assert "ada@example.org" not in broker.calls[0].call


@pytest.mark.parametrize(
    "value", [None, True, 3, 2**80, 1.5, "a", [1, [None]], {"a": {"b": []}}, float("inf")], ids=repr
)
def test_what_is_plain_is_the_same_after_json(value: Any) -> None:
    assert is_plain(value)
    assert json.loads(json.dumps(value)) == value


@pytest.mark.parametrize("value", [(1,), {1: 2}, {"a": {3}}, b"x", pd.Timestamp("2013"), [pd.NA]], ids=repr)
def test_what_json_would_change_is_not_plain(value: Any) -> None:
    assert not is_plain(value)


def test_what_a_call_that_was_asked_for_returned_is_in_the_record_what_only_reads_is_called_again() -> None:
    frame = pd.DataFrame({"carrier": ["AA", "UA"], "delay": [1.5, 2.0]})
    send, _ = recording("send", "ask", frame)
    read, _ = recording("read", "auto", frame)
    broker = broker_of(send, read, people=People(yes()))
    answers(broker, request("send", x=1), request("read", number=2, x=1))
    by_send, by_read = broker.calls
    assert by_send.value is not None
    pd.testing.assert_frame_equal(restored(by_send.value), frame)
    assert by_read.value is None
    assert by_send.id != by_read.id


def test_results_of_a_run_that_are_kept_for_a_replay_are_limited_together() -> None:
    noise = np.random.default_rng(0).random(30_000)  # 240 KB that do not get shorter
    read, _ = recording("read", "ask", noise)
    broker = broker_of(read, people=People(yes(scope="notebook")))
    answers(broker, *(request("read", number=number, x=number) for number in range(1, 6)))
    assert [call.value is not None for call in broker.calls] == [True, True, True, False, False]


def test_what_only_reads_is_not_kept_for_an_undo_and_of_the_rest_only_what_it_needs() -> None:
    def book(seat: int, name: str = "me") -> int:
        return 100 + seat

    send, _ = recording("send", "ask")
    read, _ = recording("read", "auto")
    undoable = tool_of(book, policy="auto", undo=lambda result, seat, name: None)
    broker = broker_of(send, read, undoable, people=People(yes()))
    answers(broker, request("send", x=1), request("read", number=2, x=2), request("book", number=3, seat=3))
    assert [(one.call.call, one.arguments, one.result) for one in broker.done] == [
        ("send(1)", {}, None),
        ("book(3)", {"seat": 3, "name": "me"}, 103),
    ]


def test_a_replay_gives_a_recorded_frame_as_a_copy_and_calls_nothing() -> None:
    frame = pd.DataFrame({"day": pd.date_range("2013-01-01", periods=3), "rain": [True, False, True]})
    query, _ = recording("query", "ask", frame)
    first = broker_of(query, people=People(yes()))
    answers(first, request("query", x="SELECT day, rain FROM days"))
    query, made = recording("query", "ask", frame.head(1))
    again = broker_of(query, recorded=first.calls)
    [answer] = answers(again, request("query", x="SELECT day, rain FROM days"))
    assert answer.copy is not None
    assert isinstance(again._results._host.spool, SpoolDouble)
    pd.testing.assert_frame_equal(again._results._host.spool.written[0], frame)
    assert (made, [call.tool for call in again.replayed]) == ([], ["query"])


def test_a_recorded_result_that_cannot_be_read_is_asked_for_and_called_again() -> None:
    query, made = recording("query", "ask", "anew")
    first = broker_of(query, people=People(yes()))
    answers(first, request("query", x=1))
    known = first.calls[0]
    assert known.value is not None
    damaged = replace(known, value=replace(known.value, data="%"))
    people = People(yes())
    [answer] = answers(broker_of(query, people=people, recorded=[damaged]), request("query", x=1))
    assert (answer.value, made, len(people.asked)) == ("anew", [1, 1], 1)


def test_a_replay_gives_recorded_results_once_each_and_only_for_calls_that_were_asked_for() -> None:
    send, _ = recording("send", "ask", result="sent")
    read, _ = recording("read", "auto", result="read")
    first = broker_of(send, read, people=People(yes(), yes(), yes()))
    answers(first, request("send", x=1), request("send", number=2, x=2), request("read", number=3, x=3))
    send, sent = recording("send", "ask", result="sent anew")
    read, got = recording("read", "auto", result="read anew")
    people = People(yes(), yes())
    again = broker_of(send, read, people=people, recorded=first.calls)
    asked = [request("send", x=1), request("send", number=2, x=1), request("read", number=3, x=3)]
    assert [one.value for one in answers(again, *asked)] == ["sent", "sent anew", "read anew"]
    assert ([one.code for one in people.asked], sent, got) == (["send(1)"], [1], [3])
    assert [call.call for call in again.replayed] == ["send(1)"]
    assert [call.call for call in again.not_replayed()] == ["send(2)"]
    assert [call.call for call in again.made_again()] == ["send(1)"]
    assert [one.value for one in answers(again, *asked)] == ["sent", "sent anew", "read anew"], "within the run too"


def test_what_has_begun_is_recorded_when_it_is_cut_short_and_is_asked_for_again() -> None:
    """Its sandbox has died or the cell has ended meanwhile: what came of it nobody knows."""

    async def cut_short(broker: ToolCallBroker, begun: asyncio.Event) -> None:
        broker.begin()
        answering = asyncio.create_task(broker.answer(request("send", x=1)))
        await begun.wait()
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)

    async def both() -> tuple[ToolCallBroker, People, list[tuple[ToolCall, ...]]]:
        begun, times = asyncio.Event(), []

        async def send(x: int) -> str:
            times.append(x)
            begun.set()
            await asyncio.sleep(60 if len(times) == 1 else 0)
            return "sent"

        people = People(yes(scope="notebook"), yes())
        broker = broker_of(tool_of(send), people=people)
        on_disk: list[tuple[ToolCall, ...]] = []
        broker.on_call_start = on_disk.append
        await cut_short(broker, begun)
        assert [(call.call, call.status) for call in broker.calls] == [("send(1)", "stopped")]
        assert broker.of_run == broker.calls
        assert [one.call for one in broker.done] == list(broker.calls)
        broker.begin()
        answer = await broker.answer(request("send", x=1))
        assert answer.value == "sent"
        return broker, people, on_disk

    broker, people, on_disk = asyncio.run(both())
    assert len(people.asked) == 2, "the yes for all calls does not cover one that may have happened"
    assert "it may have happened already" in people.asked[1].note
    assert [call.status for call in broker.of_run] == ["stopped", "ok"]
    assert [[call.status for call in calls] for calls in on_disk] == [["stopped"], ["stopped"]]


def test_what_only_reads_is_not_written_down_before_it_is_called() -> None:
    read, _ = recording("read", "auto")
    broker = broker_of(read)
    broker.on_call_start = lambda _: pytest.fail("each of a thousand reads would be a write")
    answers(broker, request("read", x=1))


class Odd(list[int]):
    def __iter__(self) -> Any:
        raise OSError("gone")


@pytest.mark.parametrize(
    "value", [10**5000, pd.DataFrame({"d": pd.Series(["x"]).astype(object)}), Odd([1])], ids=["int", "frame", "odd"]
)
def test_a_call_is_recorded_whatever_it_returned(value: Any) -> None:
    tool, made = recording("send", "ask", value)
    broker = broker_of(tool, people=People(yes()))
    answers(broker, request("send", x=1))
    assert (made, [call.status for call in broker.of_run], len(broker.done)) == ([1], ["ok"], 1)


def test_a_result_that_code_cannot_have_is_an_error_of_a_call_that_was_made() -> None:
    class Broken:
        def __reduce__(self) -> Any:
            raise OSError("gone")

    tool, _ = recording("send", "ask", Broken())
    broker = broker_of(tool, people=People(yes()))

    def write(name: str, value: Any, max_bytes: int) -> CopiedVariable:
        raise OSError("gone")

    broker._results._host.spool.write = write  # type: ignore[method-assign]
    [answer] = answers(broker, request("send", x=1))
    assert (answer.ename, answer.evalue) == (
        "RuntimeError",
        "send was called, but code cannot have its result: gone",
    )
    assert [call.status for call in broker.of_run] == ["ok"]


def test_arguments_are_recorded_and_undone_as_they_were_before_the_call() -> None:
    def book(seats: list[int]) -> int:
        return len([seats.pop() for _ in range(len(seats))])

    tool = tool_of(book, undo=lambda result, seats: None)
    broker = broker_of(tool, people=People(yes()))
    answers(broker, request("book", seats=[1, 2, 3]))
    assert broker.calls[0].call == "book([1, 2, 3])"
    assert broker.done[0].arguments == {"seats": [1, 2, 3]}


@pytest.mark.parametrize("ending", [SystemExit, asyncio.CancelledError, StopIteration])
def test_a_function_that_ends_itself_has_failed_and_ends_nothing_else(ending: type[BaseException]) -> None:
    def leave() -> None:
        raise ending

    broker = broker_of(tool_of(leave, policy="auto"))
    [answer] = answers(broker, request("leave"))
    assert (answer.ename, answer.evalue) == ("RuntimeError", f"leave was ended by {ending.__name__}")


def test_a_coroutine_that_leaves_has_failed_and_its_loop_goes_on() -> None:
    async def leave() -> None:
        sys.exit(3)

    broker = broker_of(tool_of(leave, policy="auto"))
    [answer] = answers(broker, request("leave"))
    assert (answer.ename, answer.evalue) == ("RuntimeError", "leave was ended by SystemExit")


def test_an_exception_whose_message_cannot_be_read_is_told_all_the_same() -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise OSError

    tool, made = recording("send", "auto", SilentError())
    broker = broker_of(tool)
    [answer] = answers(broker, request("send", x=1))
    assert answer.evalue == "SilentError: (its message cannot be read)"
    assert (made, [call.status for call in broker.calls]) == ([1], ["failed"])


def test_a_call_that_took_too_long_may_have_happened_and_is_asked_for_again_in_any_run() -> None:
    made: list[int] = []

    async def send(x: int) -> str:
        made.append(x)
        await asyncio.sleep(60 if len(made) == 1 else 0)
        return "sent"

    grants, people = Grants(), People(yes(scope="notebook"), yes())
    unsure: set[str] = set()
    tool = tool_of(send, timeout_s=0.05)
    first = broker_of(tool, people=people, grants=grants, unsure=unsure)
    [late] = answers(first, request("send", x=1))
    assert (late.ename, late.evalue) == ("TimeoutError", "send took longer than 0.05 s, its limit")
    assert [call.status for call in first.of_run] == ["stopped"]
    assert [one.tool.undo for one in first.done] == [None]
    [sent, other] = answers(
        broker_of(tool, people=people, grants=grants, unsure=unsure),
        request("send", x=1),
        request("send", number=2, x=2),
    )
    assert (sent.value, other.value, made) == ("sent", "sent", [1, 1, 2])
    assert len(people.asked) == 2
    assert "may have happened already" in people.asked[1].note


def test_a_changed_call_that_is_none_gives_no_yes_for_several() -> None:
    send, made = recording("send", "ask")
    people = People(yes("send(open('x'))", scope="run", calls=3), NO)
    answers(broker_of(send, people=people), request("send", x=1), request("send", number=2, x=2))
    assert (len(people.asked), made) == (2, [])


def test_arguments_that_cannot_be_read_in_any_way_are_refused() -> None:
    tool, made = recording("read", "auto")
    nested = '{"dict": [["x", ' + '{"list": [' * 3000 + "]}" * 3000 + "]]}"
    packed = PackedValue(kind="json", meta_json=nested, data=b"")
    [answer] = answers(broker_of(tool), CallRequest(number=1, name="read", line=None, arguments=packed))
    assert (answer.ename, made) == ("ValueError", [])
