"""`approvals.policies`, `approvals.gate` and `approvals.approvers`: no answer is a no."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from IPython.core.error import StdinNotImplementedError

from jupyter_codeagent.frontend.approvals.approvers import (
    FirstAvailableApprover,
    InformedApprover,
    NobodyApprover,
    StdinApprover,
)
from jupyter_codeagent.frontend.approvals.gate import ApprovalGate
from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.approvals.policies import asked_each_time, needs_person, scopes_of
from jupyter_codeagent.frontend.approvals.protocol import Approver
from jupyter_codeagent.types.approvals import (
    ApprovalPolicy,
    Decision,
    DecisionScope,
    Effects,
    Grant,
    GrantKind,
    NamedValue,
    Proposal,
    ProposalKind,
)


def proposal(kind: ProposalKind = "run", subject: str = "") -> Proposal:
    """With what a yes to it grants, where one can last."""
    lasting = (Grant(kind=kind, subject=subject),) if kind in ("run", "mount", "call", "query", "server") else ()
    return Proposal(id="p", run_id="r", kind=kind, code="1 + 1", note="It is short.", lasting=lasting)


def gate_of(approver: Approver, timeout_s: float = 1, grants: Grants | None = None) -> ApprovalGate:
    return ApprovalGate(approver, grants=grants or Grants(), timeout_s=timeout_s)


class Answers:
    """An approver with one answer; counts how often it is asked."""

    def __init__(self, decision: Decision | None) -> None:
        self.decision = decision
        self.asked = 0

    async def ask(self, proposal: Proposal) -> Decision:
        self.asked += 1
        if self.decision is None:
            await asyncio.sleep(60)
            raise AssertionError("unreachable")
        return self.decision


def yes(scope: DecisionScope = "once", calls: int = 0) -> Decision:
    return Decision(action="approve", code="2 + 2", decided_by="panel", scope=scope, calls=calls)


def decide(gate: ApprovalGate, policy: ApprovalPolicy, kind: ProposalKind = "run", subject: str = "") -> Decision:
    return asyncio.run(gate.decide(proposal(kind, subject), policy))


@pytest.mark.parametrize("policy", ["review", "auto", "ask"])
@pytest.mark.parametrize("kind", ["apply", "overwrite", "mount", "server"])
def test_touching_the_live_kernel_or_sending_to_a_new_server_always_asks(
    policy: ApprovalPolicy, kind: ProposalKind
) -> None:
    assert needs_person(policy, kind)


@pytest.mark.parametrize("kind", ["mount", "server"])
def test_a_yes_to_a_file_or_a_server_is_never_a_yes_to_all_of_the_notebook(kind: ProposalKind) -> None:
    asked = Answers(yes("notebook"))
    gate = gate_of(asked)
    decide(gate, "review", kind, "a")
    decide(gate, "review", kind, "a")
    assert asked.asked == 1
    decide(gate, "review", kind, "b")
    assert asked.asked == 2


@pytest.mark.parametrize("kind", ["apply", "overwrite"])
def test_for_the_users_own_kernel_no_lasting_yes_is_offered_and_one_that_a_page_sends_is_for_this_once(
    kind: ProposalKind,
) -> None:
    asked, grants = Answers(yes("notebook")), Grants()
    gate = gate_of(asked, grants=grants)
    assert scopes_of(proposal(kind)) == ("once",)
    assert [decide(gate, "auto", kind).scope for _ in range(2)] == ["once", "once"], "the record says so too"
    assert (asked.asked, grants.all) == (2, ())


@pytest.mark.parametrize("kind", ["mount", "server"])
def test_a_yes_to_files_or_a_server_lasts_for_that_alone(kind: GrantKind) -> None:
    grants = Grants()
    assert decide(gate_of(Answers(yes()), grants=grants), "auto", kind, "a").scope == "notebook"
    assert grants.all == (Grant(kind=kind, subject="a"),)


def test_what_is_taken_back_is_asked_for_again() -> None:
    asked, grants = Answers(yes("notebook")), Grants()
    gate = gate_of(asked, grants=grants)
    decide(gate, "ask")
    decide(gate, "ask")
    assert asked.asked == 1
    grants.take_back("run")
    decide(gate, "ask")
    assert asked.asked == 2


def test_a_no_for_the_notebook_grants_nothing() -> None:
    grants = Grants()
    no = Decision(action="reject", code="", decided_by="panel", scope="notebook")
    assert decide(gate_of(Answers(no), grants=grants), "ask").action == "reject"
    assert grants.all == ()


@pytest.mark.parametrize(("kind", "calls"), [("run", 0), ("apply", 0), ("mount", 0), ("call", 40)])
def test_only_a_yes_to_a_call_can_be_for_several(kind: ProposalKind, calls: int) -> None:
    decision = decide(gate_of(Answers(yes("run", 40))), "ask", kind)
    assert (decision.scope == "run", decision.calls) == (calls > 0, calls)


@pytest.mark.parametrize("kind", ["mount", "overwrite"])
def test_only_code_and_calls_can_be_changed_by_an_answer(kind: ProposalKind) -> None:
    decision = decide(gate_of(Answers(yes())), "ask", kind)
    assert (decision.code, decision.edited) == ("1 + 1", False)
    assert decide(gate_of(Answers(yes())), "ask", "apply").edited


def test_where_nothing_lasting_is_named_none_is_offered() -> None:
    once = replace(proposal("call", "send"), lasting=())
    assert scopes_of(once) == ("once", "run")
    assert scopes_of(proposal("call", "send")) == ("once", "run", "notebook")


def test_running_in_the_sandbox_asks_only_under_ask() -> None:
    assert needs_person("ask", "run")
    assert not needs_person("review", "run")
    assert not needs_person("auto", "run")


def test_review_lets_code_into_the_sandbox_without_a_person() -> None:
    approver = Answers(None)
    decision = decide(gate_of(approver), "review")
    assert (decision.action, decision.decided_by, approver.asked) == ("approve", "policy", 0)


def test_under_ask_the_edited_code_is_what_runs() -> None:
    assert decide(gate_of(Answers(yes())), "ask").code == "2 + 2"


def test_no_answer_within_the_limit_is_a_no() -> None:
    decision = decide(gate_of(Answers(None), 0.05), "ask")
    assert (decision.action, decision.decided_by) == ("reject", "nobody")
    assert "no answer within" in decision.reason


def test_a_yes_for_the_notebook_is_remembered_for_its_kind_only() -> None:
    approver = Answers(yes("notebook"))
    gate = gate_of(approver)
    decide(gate, "ask")
    assert decide(gate, "ask").decided_by == "policy"
    assert approver.asked == 1
    decide(gate, "ask", "apply")
    assert approver.asked == 2


@pytest.mark.parametrize(("rule", "kind"), [("approve", "run"), ("tools", "call"), ("tools", "query")])
def test_where_the_administrator_wants_each_seen_no_yes_lasts_and_one_given_before_does_not_hold(
    rule: str, kind: ProposalKind
) -> None:
    grants = Grants()
    approver = Answers(yes("notebook"))
    decide(gate_of(approver, grants=grants), "ask", kind)
    before = grants.all
    assert before
    strict = ApprovalGate(approver, grants=grants, timeout_s=1, each_time=asked_each_time({rule: "ask"}))
    for asked in (2, 3):
        assert decide(strict, "ask", kind).scope == "once"
        assert approver.asked == asked
    assert grants.all == before
    assert asked_each_time({"approve": "review", "tools": "auto"}) == frozenset()


def test_a_yes_once_is_asked_again() -> None:
    approver = Answers(yes())
    gate = gate_of(approver)
    decide(gate, "ask")
    decide(gate, "ask")
    assert approver.asked == 2


def test_headless_there_is_nobody_and_the_answer_is_no() -> None:
    decision = decide(gate_of(NobodyApprover()), "ask")
    assert (decision.action, decision.decided_by) == ("reject", "nobody")


@pytest.mark.parametrize(
    ("kind", "helps"), [("run", True), ("mount", False), ("apply", False), ("overwrite", False)]
)
def test_another_policy_is_only_proposed_where_it_would_help(kind: ProposalKind, helps: bool) -> None:
    decision = asyncio.run(NobodyApprover().ask(proposal(kind)))
    assert ("--approve" in decision.reason) is helps
    assert "JupyterLab" in decision.reason


@pytest.mark.parametrize(
    ("address", "hint"),
    [
        ("https://api.example.org", "`--allow-server https://api.example.org`"),
        ("http://127.0.0.1:8000 of user 'eve'", "`--allow-server http://127.0.0.1:8000`"),
        ("mine (somewhere:make)", ""),
    ],
)
def test_with_nobody_to_ask_a_server_says_how_it_is_allowed(address: str, hint: str) -> None:
    decision = asyncio.run(NobodyApprover().ask(replace(proposal("server"), code=address)))
    assert decision.action == "reject"
    assert hint in decision.reason
    assert ("--allow-server" in decision.reason) is bool(hint)


async def here(call: Callable[[], str]) -> str:
    return call()


@pytest.mark.parametrize(
    ("typed", "action", "reason"),
    [
        ("y", "approve", ""),
        ("Yes", "approve", ""),
        ("", "reject", ""),
        ("n", "reject", ""),
        ("use the median", "reject", "use the median"),
    ],
)
def test_a_question_on_stdin_takes_yes_no_and_a_reason(
    monkeypatch: pytest.MonkeyPatch, typed: str, action: str, reason: str
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: typed)
    shown: list[str] = []
    decision = asyncio.run(StdinApprover(here, shown.append).ask(proposal()))
    assert (decision.action, decision.reason) == (action, reason)
    assert "1 + 1" in shown[0]


def test_on_stdin_a_number_is_a_yes_to_so_many_calls_of_a_function_and_to_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return "40"

    monkeypatch.setattr("builtins.input", answer)
    approver = StdinApprover(here, lambda _: None)
    decision = asyncio.run(approver.ask(proposal("call")))
    assert (decision.action, decision.scope, decision.calls) == ("approve", "run", 40)
    decision = asyncio.run(approver.ask(proposal("run")))
    assert (decision.action, decision.reason) == ("reject", "40")
    assert ["the number" in question for question in asked] == [True, False]


@pytest.mark.parametrize("error", [StdinNotImplementedError, EOFError])
def test_a_front_end_without_stdin_is_nobody(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def refuse(_: str) -> str:
        raise error

    monkeypatch.setattr("builtins.input", refuse)
    decision = asyncio.run(StdinApprover(here, lambda _: None).ask(proposal()))
    assert (decision.action, decision.decided_by) == ("reject", "nobody")


EFFECTS = Effects(reads=(NamedValue(name="df", what="DataFrame 3x2"),), overwrites=(NamedValue(name="n"),))


async def looked(asked: Proposal) -> Effects | None:
    return EFFECTS if asked.kind == "apply" else None


def test_on_stdin_the_question_says_why_and_what_the_code_would_do_to_the_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "y")
    shown: list[str] = []
    approver = InformedApprover(StdinApprover(here, shown.append), looked)
    hostile = "\u202eIt failed before"
    asyncio.run(approver.ask(replace(proposal("apply"), why=hostile)))
    asyncio.run(approver.ask(proposal("mount")))
    assert shown == [
        "Run this code in YOUR kernel?\nIt is short.\n<U+202E>It failed before\n\n    1 + 1\n\n"
        "Reads: df (DataFrame 3x2)\nWould overwrite: n\n",
        "Let the sandbox read your files?\nIt is short.\n\n    1 + 1\n",
    ]


def test_headless_the_refusal_tells_what_the_code_would_have_done() -> None:
    decision = asyncio.run(InformedApprover(NobodyApprover(), looked).ask(proposal("apply")))
    assert "Reads: df (DataFrame 3x2); Would overwrite: n" in decision.reason


def test_the_panel_is_asked_only_while_it_is_open() -> None:
    panel, fallback = Answers(yes()), Answers(yes())
    open_now = [True]
    approver = FirstAvailableApprover(panel, fallback, lambda: open_now[0])
    asyncio.run(approver.ask(proposal()))
    open_now[0] = False
    asyncio.run(approver.ask(proposal()))
    assert (panel.asked, fallback.asked) == (1, 1)
