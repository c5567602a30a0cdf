"""Several programs for one question: how they are sampled, decided, run and told; the model is scripted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

from model_server import code
from runner_double import RunnerDouble, Watcher, approve, failed, new_run, shown
from scripted_model import ScriptedModel

from jupyter_codeagent.agent.candidates import run_candidates
from jupyter_codeagent.agent.dependencies import Decide, LoopDependencies
from jupyter_codeagent.agent.prompt.conversation import Turn
from jupyter_codeagent.agent.sent_requests import SentRequests
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.types.approvals import Decision, Proposal
from jupyter_codeagent.types.messages import Usage
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.sandbox import ExecutionResult
from jupyter_codeagent.types.variables import Manifest

SCRIPTED = ModelEndpoint(model="scripted", label="scripted", kind="registered", remote=False)


@dataclass
class SeatDouble(RunnerDouble):
    """A sandbox for one candidate."""

    names: tuple[str, ...] = ()
    settled: int = 0

    async def prepare(self, manifest: Manifest) -> None:
        pass

    def keep_changes(self) -> None:
        self.settled += 1

    def undo_attempt(self) -> None:
        pass


@dataclass
class Case:
    """One run of several candidates, and what was seen of it."""

    replies: Sequence[str]
    results: dict[str, ExecutionResult] = field(default_factory=dict)
    seats: list[SeatDouble] = field(default_factory=list)
    asked: list[Proposal] = field(default_factory=list)
    watcher: Watcher = field(default_factory=Watcher)

    def __post_init__(self) -> None:
        self.model = ScriptedModel(self.replies)
        self.sent = SentRequests()
        self.own = RunnerDouble(self.results)

    def run(self, decide: Decide = approve, turns: Sequence[Turn] = (), **request: object) -> AgentRun:
        async def decided(proposal: Proposal) -> Decision:
            self.asked.append(proposal)
            return await decide(proposal)

        tools = LoopDependencies(
            model=self.sent.of(self.model, SCRIPTED),
            runner=self.own,
            decide=decided,
            watcher=self.watcher,
            defined=lambda: (),
        )
        run = new_run(**{"candidates": len(self.replies), **request})  # type: ignore[arg-type]
        return asyncio.run(run_candidates(run, turns, tools, cast("Any", self._seat)))

    @asynccontextmanager
    async def _seat(self) -> AsyncIterator[SeatDouble]:
        self.seats.append(SeatDouble(self.results))
        yield self.seats[-1]

    @property
    def executed(self) -> list[str]:
        return [text.strip() for seat in self.seats for text in seat.executed]


def numbers(*printed: str) -> Case:
    """Programs by their names, and what they print."""
    names = [f"print({'abcdefgh'[at]})" for at in range(len(printed))]
    results = {name: shown(text) for name, text in zip(names, printed, strict=True)}
    return Case([code(name) for name in names], results)


def test_the_first_is_what_a_run_without_candidates_asks_and_the_others_differ_in_their_seeds() -> None:
    case = numbers("1", "2", "2")
    case.run()
    requests = case.model.requests
    assert [request.temperature for request in requests] == [0.0, 0.7, 0.7]
    assert len({request.seed for request in requests}) == 3
    assert len({request.messages for request in requests}) == 1


def test_the_prompt_is_counted_for_the_first_and_once_for_all_others() -> None:
    case = numbers("1", "2", "2")
    run = case.run()
    words = sum(len(message.content.split()) for message in case.model.requests[0].messages)
    written = sum(step.usage.completion_tokens for step in run.steps)
    assert case.sent.usage == Usage(prompt_tokens=2 * words, completion_tokens=written, calls=2)
    assert case.sent.usage == sum((step.usage for step in run.steps), Usage())


def test_the_majority_runs_once_more_in_the_notebooks_sandbox_and_the_vote_is_told() -> None:
    case = numbers("1", "x: 2.00001", "2", "the result is 2.0", "0")
    run = case.run()
    assert run.status == "ok"
    assert run.code.strip() == "print(b)"
    assert [text.strip() for text in case.own.executed] == ["print(b)"]
    assert run.notes == ("3 of 5 candidates found this result; 1 found 1; 1 not run, the vote was decided",)
    assert [step.note for step in run.steps] == [
        "candidate 1 of 5: another result",
        "candidate 2 of 5: chosen",
        "candidate 3 of 5: the same result",
        "candidate 4 of 5: the same result",
        "",
        "candidate 2 again, in the notebook's sandbox",
    ]
    assert [step.index for step in run.steps] == [1, 2, 3, 4, 5, 6]
    assert case.watcher.written[-1].steps[-1].result is not None


def test_each_program_has_a_sandbox_of_its_own_with_what_earlier_turns_made() -> None:
    case = numbers("1", "2")
    case.run(turns=(Turn(prompt="before", code="k = 1"),))
    assert [seat.executed for seat in case.seats] == [["k = 1", "print(a)"], ["k = 1", "print(b)"]]
    assert [seat.settled for seat in case.seats] == [1, 1]


def test_a_program_that_came_twice_runs_once_and_has_two_votes() -> None:
    replies = [code("print(a)"), code("print( b )  # b"), code("# of b\nprint(b)")]
    case = Case(replies, {"print(a)": shown("1"), "print( b )  # b": shown("2")})
    run = case.run()
    assert case.executed == ["print(a)", "print( b )  # b"]
    assert run.notes[0].startswith("2 of 3 candidates found this result")
    assert run.outputs == shown("2").outputs


def test_a_program_that_ran_before_votes_even_when_all_is_decided() -> None:
    case = Case([code("a"), code("b"), code("c"), code("a")], {name: shown("1") for name in "abc"})
    assert case.run().notes == ("4 of 4 candidates found this result",)
    assert case.executed == ["a", "b", "c"]


def test_programs_that_came_at_once_are_not_attempts_one_after_the_other() -> None:
    run = Case([code("print(1)"), code("print(2)"), code("print(1)")], {}).run(prompt="n?")
    assert run.verdict is not None
    assert run.verdict.level == "checked"


def test_where_none_ran_the_run_goes_on_from_the_first_failure() -> None:
    case = Case(
        [code("print(a)"), code("print(b)")],
        {"print(a)": failed("TypeError", "bad a"), "print(b)": failed("ValueError", "bad b")},
    )
    case.model = ScriptedModel([*case.replies, code("print(7)")])
    run = case.run()
    last = case.model.requests[-1]
    assert (last.temperature, "bad a" in last.messages[-1].content) == (0.0, True)
    assert "bad b" not in last.messages[-1].content
    assert (run.status, run.code.strip()) == ("ok", "print(7)")
    assert [step.code.strip() for step in run.steps] == ["print(a)", "print(b)", "print(7)"]
    assert [step.index for step in run.steps] == [1, 2, 3]
    assert case.sent.usage.calls == 3
    assert all(len(seen.steps) >= 3 for seen in case.watcher.written[-2:])


def test_the_samples_are_one_of_the_models_calls_that_are_allowed() -> None:
    case = Case([code("a"), code("b")], {"a": failed("TypeError", "bad"), "b": failed("TypeError", "bad")})
    run = case.run(max_steps=1)
    assert (run.status, len(run.steps)) == ("failed", 2)
    assert "TypeError: bad" in run.error


def test_a_candidate_without_code_has_no_vote_and_none_with_code_is_told_so() -> None:
    case = Case(["No idea.", code("b")], {"b": shown("3")})
    run = case.run()
    assert run.notes == ("1 of 2 candidates found this result; 1 failed",)
    case = Case(["No idea.", "None."])
    case.model = ScriptedModel([*case.replies, code("print(7)")])
    assert case.run().code.strip() == "print(7)"


def test_a_chosen_program_that_fails_the_second_time_fails_the_run() -> None:
    case = numbers("1", "1")
    case.own = RunnerDouble({"print(a)": failed("ValueError", "once only")})
    run = case.run()
    assert (run.status, run.error) == (
        "failed",
        "The chosen candidate did not run a second time: ValueError: once only",
    )


def test_a_result_of_chance_is_called_one() -> None:
    case = numbers("1", "1")
    case.own = RunnerDouble({"print(a)": shown("5")})
    run = case.run()
    assert run.status == "ok"
    assert "its result differs from one execution to the next" in run.notes


# --- decisions ----------------------------------------------------------------------------------------


def test_with_ask_one_question_shows_all_programs_before_any_runs() -> None:
    case = numbers("1", "2", "2")

    async def yes(proposal: Proposal) -> Decision:
        assert not case.seats
        return Decision(action="approve", code=proposal.code, decided_by="panel")

    run = case.run(yes, approve="ask")
    assert len(case.asked) == 1
    for name in "abc":
        assert f"print({name})" in case.asked[0].code
    assert "sandbox of its own" in case.asked[0].note
    assert run.status == "ok"
    assert {step.decision.decided_by for step in run.steps if step.decision is not None} == {"panel"}


def test_with_ask_a_correction_that_was_not_in_the_question_does_not_run() -> None:
    written = "from sklearn.metrics import mean_squared_error\nmean_squared_error(a, b, squared=False)"
    corrected = "mean_squared_error(a, b) ** 0.5"
    error = failed("TypeError", "got an unexpected keyword argument 'squared'")
    case = Case([code(written), code("print(2)")], {written: error, "print(2)": shown("2")})
    case.run(approve="ask")
    assert case.executed[0] == written
    assert corrected not in "".join(case.executed)
    again = Case(case.replies, case.results)
    again.run()
    assert corrected in "".join(again.executed)


def test_a_no_without_a_reason_ends_the_run_and_one_with_a_reason_asks_for_another_program() -> None:
    async def no(proposal: Proposal) -> Decision:
        reason = "" if len(case.asked) > 1 else "use the median"
        return Decision(action="reject", code=proposal.code, decided_by="panel", reason=reason)

    case = numbers("1", "2")
    case.model = ScriptedModel([*case.replies, code("print(c)")])
    run = case.run(no, approve="ask")
    assert "use the median" in case.model.requests[-1].messages[-1].content
    assert (run.status, case.seats, case.own.executed) == ("rejected", [], [])


def test_what_the_person_wrote_in_place_of_the_programs_is_what_runs() -> None:
    async def mine(proposal: Proposal) -> Decision:
        return Decision(action="approve", code="print(mine)", decided_by="panel", edited=True)

    case = numbers("1", "2")
    case.own.results["print(mine)"] = shown("9")
    run = case.run(mine, approve="ask")
    assert (case.seats, case.own.executed) == ([], ["print(mine)"])
    assert (run.status, run.code, run.outputs) == ("ok", "print(mine)", shown("9").outputs)
    assert replace(run.steps[0].usage, calls=1) == run.steps[0].usage
