"""`jupyter_codeagent.frontend.receipt`: true words for each record, most of them folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast, get_args

import pytest
from run_examples import example_run

from jupyter_codeagent.frontend.display import receipt_text
from jupyter_codeagent.frontend.receipt import ended_by_user, receipt_of, step_outcome, tokens_text
from jupyter_codeagent.frontend.receipt_words import IN_DETAIL, IN_LINE, PURPOSES
from jupyter_codeagent.types.approvals import Decision
from jupyter_codeagent.types.messages import ContentKind, Message, ModelCall, ModelCallPurpose, Usage
from jupyter_codeagent.types.run import AgentRequest, AgentRun, Step, Verdict
from jupyter_codeagent.types.sandbox import CopyChange, ExecutionError, ExecutionResult
from jupyter_codeagent.types.sizes import format_bytes
from jupyter_codeagent.types.variables import CopiedVariable, Manifest, SkippedVariable

DF = CopiedVariable(name="df", type_name="DataFrame", size_bytes=3 << 20)
ASKED = ModelCall(purpose="program", kinds=("names", "statistics"), sent=True)
RUN = AgentRun(
    id="abc123def456",
    request=AgentRequest(prompt="how many?", model="qwen", server="127.0.0.1:8080"),
    status="ok",
    started_at=100.0,
    ended_at=103.25,
    steps=(Step(index=1, messages=(), code="len(df)", result=ExecutionResult(status="ok"), duration_s=3.0),),
    manifest=Manifest(copied=(DF,)),
    sandbox="bubblewrap, no network",
    model_calls=(ASKED,),
)
YES = Decision(action="approve", code="", decided_by="policy")
NO = Decision(action="reject", code="", decided_by="panel", reason="use the median")
KEY_ERROR = ExecutionResult(status="error", error=ExecutionError(ename="KeyError", evalue="'Revenu'\nmore"))
OK = ExecutionResult(status="ok")


def details(run: AgentRun) -> str:
    return "\n".join(f"{title}\n{text}" for title, text in receipt_of(run).details)


def step(code: str = "x", **fields: object) -> Step:
    return replace(Step(index=1, messages=(), code=code), **fields)  # type: ignore[arg-type]


def test_the_line_says_how_long_it_took_what_was_copied_and_what_was_sent_where() -> None:
    assert receipt_of(RUN).line == "✓ 3.2 s · copied df · statistics → this machine"
    assert receipt_of(RUN).attention == ()


def test_an_unchanged_copy_is_not_called_copied_again() -> None:
    more = replace(DF, name="planes")
    manifest = Manifest(copied=(DF, more), unchanged=("df",))
    assert " · copied planes · df already copied · " in receipt_of(replace(RUN, manifest=manifest)).line
    assert "df: DataFrame, 3 MiB, already copied" in details(replace(RUN, manifest=manifest))
    assert (
        " · df already copied · "
        in receipt_of(replace(RUN, manifest=Manifest(copied=(DF,), unchanged=("df",)))).line
    )
    assert " · nothing copied · " in receipt_of(replace(RUN, manifest=Manifest())).line


def test_of_many_copies_the_line_names_a_few() -> None:
    many = Manifest(copied=tuple(replace(DF, name=f"t{at}") for at in range(5)))
    assert "copied t0, t1, t2 and 2 more" in receipt_of(replace(RUN, manifest=many)).line
    assert "t4: DataFrame" in details(replace(RUN, manifest=many))


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ((), "the question → this machine"),
        (("names",), "names and types → this machine"),
        (("names", "statistics", "rows"), "statistics, sample rows → this machine"),
        (("names", "earlier_results", "output"), "names and types, earlier results, output → this machine"),
        (("names", "statistics", "earlier_code"), "statistics, earlier code → this machine"),
        (("statistics", "earlier_code", "earlier_results"), "statistics, earlier code + results → this machine"),
    ],
)
def test_the_line_has_a_word_for_each_kind_that_was_sent(kinds: tuple[ContentKind, ...], words: str) -> None:
    assert receipt_of(replace(RUN, model_calls=(replace(ASKED, kinds=kinds),))).line.endswith(f" · {words}")


def test_house_rules_are_named_in_the_line_and_stand_in_the_details() -> None:
    told = replace(RUN, house_rules="Use bars.", model_calls=(replace(ASKED, kinds=("names", "house_rules")),))
    assert receipt_of(told).line.endswith(" · names and types, house rules → this machine")
    assert "House rules\nUse bars." in details(told)
    assert "House rules" not in details(RUN)


def test_what_was_about_to_be_sent_and_was_not_is_not_said_to_be_sent() -> None:
    refused = replace(RUN, status="failed", model_calls=(replace(ASKED, sent=False),))
    assert receipt_of(refused).line.endswith(" · nothing sent")
    assert "not sent: no connection" in details(refused)
    assert receipt_of(replace(RUN, model_calls=())).line.endswith(" · nothing sent")


def test_a_remote_server_is_named_and_shown_outside_of_the_details() -> None:
    remote = replace(RUN, request=replace(RUN.request, server="models.example.org", remote=True))
    assert receipt_of(remote).line.endswith("statistics → models.example.org")
    assert receipt_of(remote).attention == ("Sent to another machine: models.example.org",)
    assert receipt_of(replace(remote, model_calls=())).attention == ()


def test_a_server_of_another_account_is_named_outside_of_the_details() -> None:
    server = "127.0.0.1:11434, server of mallory"
    theirs = replace(RUN, request=replace(RUN.request, server=server))
    assert receipt_of(theirs).line.endswith("statistics → this machine, server of mallory")
    assert f"Sent to {server}, on this machine" in details(theirs)


def test_each_request_stands_in_the_details_with_what_it_held_beyond_the_one_before() -> None:
    counted = ModelCall(purpose="count", kinds=("names",), sent=True)
    repaired = replace(ASKED, kinds=(*ASKED.kinds, "error"), usage=Usage(prompt_tokens=300, calls=1))
    texts = ModelCall(purpose="text", kinds=("texts",), sent=True)
    shown = details(replace(RUN, model_calls=(counted, ASKED, repaired, texts)))
    assert (
        "to count tokens: names and types of variables\n"
        "for a program: the question, names and types of variables, statistics and values of variables\n"
        "for a program: the same, and the error of the code (300 tokens in, 0 out)\n"
        "by ask_model: the texts that ask_model was given"
    ) in shown


def test_a_request_of_an_older_version_is_told_by_the_name_of_its_purpose() -> None:
    old = replace(ASKED, purpose=cast("ModelCallPurpose", "sentence"))
    assert "sentence: names and types of variables" in details(replace(RUN, model_calls=(ASKED, old)))


def test_every_kind_and_purpose_has_words() -> None:
    assert set(IN_LINE) == set(IN_DETAIL) == set(get_args(ContentKind))
    assert set(PURPOSES) == set(get_args(ModelCallPurpose))


def test_estimated_tokens_are_called_so() -> None:
    usage = Usage(prompt_tokens=1210, completion_tokens=31, cached_tokens=180, calls=1)
    assert tokens_text(usage) == "1,210 tokens in (180 cached), 31 out"
    assert tokens_text(usage + Usage(estimated=True)) == "about 1,210 tokens in (180 cached), 31 out"


def test_a_record_of_an_older_version_is_not_guessed_at() -> None:
    old = replace(RUN, model_calls=(), usage=Usage(prompt_tokens=1, calls=2))
    assert receipt_of(old).line.endswith(" · messages → this machine")
    assert "recorded by an older version" in details(old)
    begun = replace(RUN, model_calls=(), steps=(step(messages=(Message(role="user", content="x"),)),))
    assert receipt_of(begun).line.endswith(" · messages → this machine")


# --- what needs attention -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "note",
    [
        "column 'Revenu' is 'Revenues'",
        "numbers for df are from its copy (random sample of 9 rows); accepted cells run on your whole df",
        "the result looks wrong: The result is empty.",
        "begins with lines of the attempt before",
        "2 of 3 candidates found this result; 1 found 0.38",
        "called send_mail once (denied)",
        "1 message of type application/javascript dropped",
        "house rules, left out of CODEAGENT.md beside the notebook: what is beyond 4 KiB",
        "a note that nobody has thought of yet",
    ],
)
def test_what_may_change_the_meaning_of_a_result_is_shown(note: str) -> None:
    assert receipt_of(replace(RUN, notes=(note,))).attention == (note,)


@pytest.mark.parametrize(
    "note",
    [
        "the last value is shown",
        "added: import numpy as np; import pandas as pd",
        "line 2 dropped: df is loaded already",
        "3 of 3 candidates found this result",
        "3 of 5 candidates found this result; 2 not run, the vote was decided",
        "candidate 1 of 3: chosen; the last value is shown",
        "called weather 3 times",
        "ask_model: 12 questions, 1,400 tokens",
        "house rules: 3 lines of CODEAGENT.md beside the notebook",
        "its cells are already in the notebook",
    ],
)
def test_what_a_user_expects_anyway_is_folded(note: str) -> None:
    receipt = receipt_of(replace(RUN, notes=(note,)))
    assert receipt.attention == ()
    assert all(part in details(replace(RUN, notes=(note,))) for part in note.split("; "))


def test_of_several_corrections_only_those_that_need_attention_are_shown() -> None:
    note = "the last value is shown; column 'a' is 'b'; added: import numpy as np; import pandas as pd; 'c' is 'd'"
    assert receipt_of(replace(RUN, notes=(note,))).attention == ("column 'a' is 'b'; 'c' is 'd'",)


@pytest.mark.parametrize(
    ("sandbox", "shown"),
    [
        ("bubblewrap, no network", ()),
        ("container (docker image x), no network", ()),
        ("landlock, no network", ("Sandbox: landlock, no network",)),
        ("gateway (https://example.org), no network", ("Sandbox: gateway (https://example.org), no network",)),
        ("NOT ISOLATED", ("NOT ISOLATED: the code ran without a sandbox.",)),
        ("", ()),
    ],
)
def test_a_weaker_sandbox_is_shown(sandbox: str, shown: Sequence[str]) -> None:
    assert receipt_of(replace(RUN, sandbox=sandbox)).attention == shown


def test_a_changed_copy_is_shown() -> None:
    change = CopyChange(name="df", kind="changed", added=("'speed'",))
    assert receipt_of(replace(RUN, changes=(change,))).attention == ("changed its copy of df (+ 'speed')",)


# --- what ran, and what never did ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "outcome"),
    [
        (step(decision=YES, result=OK), "ran"),
        (step(decision=YES, result=KEY_ERROR), "KeyError: 'Revenu'"),
        (step(decision=NO), "never ran, you rejected it: use the median"),
        (step(decision=replace(NO, decided_by="nobody", reason="")), "never ran, nobody approved it"),
        (step(), "never ran"),
        (step(decision=YES), "did not finish"),
        (step(decision=YES, result=ExecutionResult(status="interrupted")), "stopped while it ran"),
        (step(decision=YES, result=ExecutionResult(status="killed", reason="memory 2 GiB")), "memory 2 GiB"),
        (step("", note="no code in the reply", reply="Sorry."), "no code in the reply"),
        (step("", reply="```python\nprint("), "the reply was cut off"),
        (step(""), "no reply came"),
    ],
)
def test_a_step_says_whether_its_code_ran(one: Step, outcome: str) -> None:
    assert step_outcome(one) == outcome


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (step(result=KEY_ERROR), "1 failed attempt repaired in the sandbox"),
        (step(decision=NO), "1 program that you rejected never ran"),
        (step("", note="no code in the reply"), "1 reply without a program"),
        (
            step(result=OK, note="the result looks wrong: x"),
            "1 result that looked wrong, so the model was asked again",
        ),
    ],
)
def test_rejected_code_and_replies_without_any_are_not_called_attempts_that_failed(before: Step, said: str) -> None:
    assert said in details(replace(RUN, steps=(before, *RUN.steps)))
    assert ("failed attempt" in details(replace(RUN, steps=(before, *RUN.steps)))) == ("failed" in said)
    assert said not in details(RUN)


def test_a_run_that_its_user_has_ended_has_neutral_words_and_no_cross() -> None:
    stopped = replace(RUN, status="stopped", error="Stopped by you; no cells were inserted.")
    rejected = replace(RUN, status="rejected", steps=(step(decision=NO),), error="You rejected the code.")
    for run, words in ((stopped, "■ Stopped by you after 3.2 s"), (rejected, "■ Rejected by you after 3.2 s")):
        assert ended_by_user(run)
        assert receipt_of(run).line.startswith(words)
        assert receipt_of(run).attention == ("No cells were inserted. Cells queued after this one were not run.",)
    unasked = replace(rejected, steps=(step(decision=replace(NO, decided_by="nobody")),))
    assert not ended_by_user(unasked)
    assert receipt_of(unasked).line.startswith("✗ Not approved after 3.2 s")
    assert receipt_of(unasked).attention == ()


def test_a_failure_is_not_said_twice() -> None:
    failed = replace(RUN, status="failed", error="No working code after 4 steps.")
    assert receipt_of(failed).line.startswith("✗ Failed after 3.2 s · ")
    assert "No working code" not in str(receipt_of(failed))  # its cell says it in red


def test_a_replayed_run_says_that_no_model_was_asked() -> None:
    replayed = replace(RUN, replayed_from="older", model_calls=())
    assert receipt_of(replayed).line == "✓ 3.2 s · replayed, model not called · copied df · nothing sent"


def test_what_was_not_copied_is_told_with_its_reason() -> None:
    skipped = SkippedVariable(name="con", reason="a database connection cannot be copied")
    manifest = replace(RUN.manifest, skipped=(skipped,))
    assert "con: not copied, a database connection cannot be copied" in details(replace(RUN, manifest=manifest))


def test_a_receipt_is_made_of_any_record() -> None:
    assert receipt_of(example_run()).line.startswith("✓ 3.5 s")


@pytest.mark.parametrize(
    ("size", "text"),
    [(1, "1 byte"), (12, "12 bytes"), (3 << 20, "3 MiB"), (1020 << 20, "1020 MiB"), (5 << 30, "5 GiB")],
)
def test_sizes_are_short(size: int, text: str) -> None:
    assert format_bytes(size) == text


def test_what_a_person_should_know_of_a_result_stands_below_the_line_where_there_is_no_page() -> None:
    lines = receipt_text(example_run()).split("\n")
    assert lines[1] == "Worth a look: 4 rows without carrier left out (line 1)"
    checked = replace(example_run(), verdict=Verdict(level="checked", reason="nothing lost"))
    assert "nothing lost" not in receipt_text(checked)


def test_the_details_have_the_verdict_what_was_assumed_and_each_step_of_the_code() -> None:
    told = dict(receipt_of(example_run()).details)
    assert told["Verdict: worth a look"] == "4 rows without carrier left out (line 1)"
    assert told["Assumed"] == (
        "9,430 missing values of arr_delay skipped; otherwise: %agent refine 012345 count missing values of "
        "arr_delay as 0"
    )
    assert told["Steps of the code"].split("\n") == [
        "line 1: mean of arr_delay by carrier: 336,776 rows → 16; 4 rows without carrier left out; "
        "9,430 missing values of arr_delay skipped",
        "some steps were not observed: RuntimeError: a bug",
    ]
