"""The loop: repairs, limits, decisions, one sentence at the end; with the model and the sandbox scripted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_server import code
from runner_double import RunnerDouble, Watcher, approve, failed, new_run, shown
from scripted_model import ScriptedModel

from jupyter_codeagent.agent.dependencies import Decide, LoopDependencies
from jupyter_codeagent.agent.ending import finish
from jupyter_codeagent.agent.loop import run_agent
from jupyter_codeagent.agent.prompt.context_window import LEFT_OUT, ContextWindow
from jupyter_codeagent.agent.prompt.conversation import Turn
from jupyter_codeagent.agent.rules.rule import Program
from jupyter_codeagent.agent.rules.value_matching import probe_after, probe_inline
from jupyter_codeagent.models.tokens import estimate_tokens
from jupyter_codeagent.types.approvals import Decision, Proposal
from jupyter_codeagent.types.errors import ContextTooLongError
from jupyter_codeagent.types.messages import ContentKind
from jupyter_codeagent.types.run import AgentRun, Step
from jupyter_codeagent.types.sandbox import DisplayOutput, ExecutionError, ExecutionResult, NamespaceEntry
from jupyter_codeagent.types.tagged_text import kinds_in, kinds_of, tagged
from jupyter_codeagent.types.variables import LiveNames, Privacy


def ask(
    replies: list[str],
    runner: RunnerDouble,
    *,
    run: AgentRun | None = None,
    decide: Decide = approve,
    watcher: Watcher | None = None,
    model: ScriptedModel | None = None,
    window: ContextWindow | None = None,
    max_tokens: int = 1024,
    masked_values: Sequence[str] = (),
    defined: Sequence[str] = (),
    live: LiveNames | None = None,
    hidden_columns: Mapping[str, frozenset[str]] | None = None,
) -> AgentRun:
    async def values(text: str) -> Sequence[str]:
        return [value for value in masked_values if value in text]

    tools = LoopDependencies(
        model=model or ScriptedModel(replies),
        runner=runner,
        decide=decide,
        watcher=watcher or Watcher(),
        defined=lambda: defined,
        live=live or LiveNames(),
        window=window,
        max_tokens=max_tokens,
        masked_values=values,
        hidden_columns=hidden_columns or {},
    )
    return asyncio.run(run_agent(run or new_run(), (), tools))


def test_the_first_working_code_is_the_result() -> None:
    run = ask([code("print(7)")], RunnerDouble({"print(7)": shown("7\n")}))
    assert (run.status, run.code.strip(), len(run.steps)) == ("ok", "print(7)", 1)
    assert run.outputs == shown("7\n").outputs


def test_an_answer_without_a_hidden_column_that_the_code_wanted_is_doubtful_and_says_so() -> None:
    runner = RunnerDouble({"print(a['rating'])": failed("KeyError", "'rating'")})
    hidden = {"orders": frozenset({"rating", "email"})}
    run = ask([code("print(a['rating'])"), code("print(7)")], runner, hidden_columns=hidden)
    assert run.verdict is not None
    assert run.verdict.level == "doubtful"
    assert run.verdict.reason == "answered without 'rating' of orders, which you have hidden"


def test_another_version_of_a_result_has_to_compute_again_what_the_question_asks_for() -> None:
    """Nor does a title that says *Total amount* compute one."""
    first = "d.groupby('product').amount.sum().plot.bar()"
    after = "plt.barh(d['product'], d['amount'])\nplt.title('Total amount')"
    run, turns = new_run(), (Turn(prompt="Draw the total amount of each product.", code=first),)
    run = replace(run, request=replace(run.request, prompt="Draw the total amount of each product. Sort it."))
    replaced = Step(index=0, messages=(), code=first)
    deps = LoopDependencies(
        model=ScriptedModel([]),
        runner=RunnerDouble({}),
        decide=approve,
        watcher=Watcher(),
        defined=lambda: (),
        live=LiveNames(data={"d": "DataFrame"}, columns=frozenset({"product", "amount"})),
        turns=turns,
    )
    step = Step(index=1, messages=(), code=after, result=shown("7\n"))

    asked = finish(run, step, replace(deps, replaces=(replaced,)))
    assert asked.verdict is not None
    assert asked.verdict.reason == 'the question says "total", and the code computes nothing of the kind'
    followed = finish(run, step, deps)
    assert followed.verdict is not None
    assert followed.verdict.level == "checked"


def test_a_chart_without_its_library_ends_the_run_with_the_command_that_helps() -> None:
    runner = RunnerDouble({"print(8)": failed("ModuleNotFoundError", "No module named 'matplotlib'")})
    model = ScriptedModel([code("print(8)"), code("print(7)")])
    run = ask([], runner, model=model)
    assert (run.status, len(run.steps)) == ("failed", 1)
    assert "run `%pip install matplotlib`, then ask again" in run.error


def test_code_that_needs_a_variable_which_was_not_copied_ends_with_how_to_have_it_copied() -> None:
    runner = RunnerDouble({"print(b)": failed("NameError", "name 'b' is not defined")})
    live = LiveNames(data={"a": "DataFrame", "b": "DataFrame"})
    run = ask([code("print(b)")], runner, run=new_run(max_steps=1), live=live)
    assert run.status == "failed"
    assert run.error.endswith("Your variable b was not copied: name it in the question, or with --vars b,…")


def test_an_error_goes_back_to_the_model_and_only_the_last_code_is_offered() -> None:
    runner = RunnerDouble({"print(a)": failed("TypeError", "bad operand")})
    model = ScriptedModel([code("print(a)"), code("print(7)")])
    run = ask([], runner, model=model)
    assert (run.status, run.code.strip()) == ("ok", "print(7)")
    assert [step.result.status for step in run.steps if step.result is not None] == ["error", "ok"]
    assert "bad operand" in model.requests[1].messages[-1].content


def test_a_program_that_goes_on_from_a_failed_attempt_becomes_a_cell_that_works_without_it() -> None:
    first, second = "late = df[df.d > 60]\nlate.nothing()", "print(len(late))"
    error = ExecutionError(ename="AttributeError", evalue="no nothing", line=2)
    whole = "late = df[df.d > 60]\nprint(len(late))"
    runner = RunnerDouble({first: ExecutionResult(status="error", error=error), whole: shown("7\n")})
    run = ask([code(first), code(second)], runner)
    assert (run.status, run.code.strip()) == ("ok", whole)
    assert any("starts with lines of the previous program" in note for note in run.notes)


def test_the_model_reads_its_own_program_again_as_it_wrote_it_and_the_error_in_the_lines_of_that() -> None:
    written, run_as = "x = 1\nnp.array(x).nothing()", "import numpy as np\n\nx = 1\nnp.array(x).nothing()"
    error = ExecutionError(ename="AttributeError", evalue="no nothing", line=4)
    block = f"```python\n{written}\n```"
    model = ScriptedModel([block, code("print(7)")])
    runner = RunnerDouble({run_as: ExecutionResult(status="error", error=error)})
    run = ask([], runner, model=model)
    assert [step.code.strip() for step in run.steps] == [run_as, "print(7)"]
    reply, feedback = model.requests[1].messages[-2:]
    assert reply.content == block
    assert feedback.content.startswith("AttributeError at line 2: no nothing\n    np.array(x).nothing()\n")


def test_a_program_with_a_name_that_nothing_binds_is_gone_on_with_where_it_is_missing() -> None:
    error = ExecutionError(ename="NameError", evalue="name 'verdict' is not defined", line=2)
    runner = RunnerDouble({"m = 1\nprint(verdict)": ExecutionResult(status="error", error=error)})
    model = ScriptedModel(
        ["m = 1\nprint(verdict)", " 'high' if m > 0 else 'low'\nprint(verdict)"], supports_prefill=True
    )
    run = ask([], runner, model=model)
    assert model.requests[1].prefill == "```python\nm = 1\nverdict ="
    assert model.requests[1].messages == model.requests[0].messages
    assert run.code == "m = 1\nverdict = 'high' if m > 0 else 'low'\nprint(verdict)"


KEY_ERROR = ExecutionError(ename="KeyError", evalue="'Revenu'", line=3)
SALES = NamespaceEntry(name="df", type_name="DataFrame", columns=("Revenues", "n"))
MISSED = "n = len(df)\n# Sum it\ntotal = df['Revenu'].sum()\nprint(total)"


def test_a_program_is_gone_on_with_from_the_statement_that_failed() -> None:
    error = ExecutionResult(status="error", error=KEY_ERROR, namespace=(SALES,))
    model = ScriptedModel([MISSED, " df['Revenues'].sum()\nprint(total)"], supports_prefill=True)
    run = ask([], RunnerDouble({MISSED: error}), model=model)
    first, second = model.requests
    assert second.messages == first.messages
    hint = "no column 'Revenu'; df has 'Revenues'"
    assert second.prefill == f"```python\nn = len(df)\n# Sum it\n# corrected: {hint}\ntotal ="
    assert run.code == MISSED.replace("'Revenu'", "'Revenues'")


@pytest.mark.parametrize(
    ("written", "error"),
    [
        (MISSED, replace(KEY_ERROR, line=None)),
        ("import os\ntotal = df['Revenu'].sum()\nprint(total)", replace(KEY_ERROR, line=2)),
        ("n = 1; total = df['Revenu']\nprint(total)", replace(KEY_ERROR, line=1)),
    ],
)
def test_a_program_is_written_anew_where_nothing_is_known_to_be_right_or_what_to_do(
    written: str, error: ExecutionError
) -> None:
    failed_so = ExecutionResult(status="error", error=error, namespace=(SALES,))
    model = ScriptedModel([written, "print(7)"], supports_prefill=True)
    ask([], RunnerDouble({written: failed_so}), model=model)
    assert "whole corrected program" in model.requests[1].messages[-1].content


def test_an_error_without_a_hint_is_told_itself_but_not_where_only_the_schema_may_be_told() -> None:
    error = ExecutionError(ename="ValueError", evalue="Oslo is too far", line=3)
    for privacy, told in (("stats", True), ("schema", False)):
        model = ScriptedModel([MISSED, "print(7)"], supports_prefill=True)
        runner = RunnerDouble({MISSED: ExecutionResult(status="error", error=error)})
        ask([], runner, model=model, run=new_run(privacy=privacy))
        assert model.requests[1].prefill.endswith("# corrected: ValueError: Oslo is too far\ntotal =") is told
        assert "Oslo" not in model.requests[1].messages[-1].content


OF_DF = LiveNames(data={"df": "DataFrame"}, taken=frozenset({"df"}))
SETS = "df['m'] = df.n\ntotal = df['Revenu'].sum()\nprint(total)"
KEPT = "df_2 = df.copy()\ndf_2['m'] = df_2.n\ntotal = df_2['Revenu'].sum()\nprint(total)"


def test_the_model_reads_its_program_with_the_variables_that_it_has_in_the_sandbox() -> None:
    model = ScriptedModel([code(SETS), code("print(7)")])
    error = ExecutionError(ename="ValueError", evalue="no", line=3)
    runner = RunnerDouble({KEPT: ExecutionResult(status="error", error=error)})
    run = ask([], runner, model=model, live=OF_DF)
    assert runner.executed[0] == KEPT
    assert run.steps[0].rules == ("keep-variables",)
    reply, feedback = model.requests[1].messages[-2:]
    assert reply.content == f"```python\n{KEPT}\n```"
    assert feedback.content.startswith("ValueError at line 3: no\n    total = df_2['Revenu'].sum()\n")


def test_such_a_program_is_gone_on_with_and_the_next_attempt_has_the_same_names() -> None:
    error = ExecutionResult(status="error", error=KEY_ERROR, namespace=(replace(SALES, name="df_2"),))
    model = ScriptedModel([SETS, " df_2['Revenues'].sum()\nprint(total)"], supports_prefill=True)
    run = ask([], RunnerDouble({KEPT: error}), model=model, live=OF_DF, defined=["df", "df_2"])
    assert run.steps[0].code.startswith("df_3 = ")  # another program has made df_2
    model = ScriptedModel([SETS, " df_2['Revenues'].sum()\nprint(total)"], supports_prefill=True)
    run = ask([], RunnerDouble({KEPT: error}), model=model, live=OF_DF)
    begun = "```python\ndf_2 = df.copy()\ndf_2['m'] = df_2.n\n"
    assert model.requests[1].prefill == f"{begun}# corrected: no column 'Revenu'; df_2 has 'Revenues'\ntotal ="
    assert (run.code, run.written) == (KEPT.replace("'Revenu'", "'Revenues'"),) * 2
    twice = ScriptedModel([code(SETS), code(SETS.replace("Revenu", "Revenues"))])
    run = ask([], RunnerDouble({KEPT: error}), model=twice, live=OF_DF)
    assert run.code == KEPT.replace("'Revenu'", "'Revenues'")


def test_what_later_prompts_have_of_a_program_that_goes_on_from_another_is_what_the_model_wrote() -> None:
    first, second = "late = df[df.d > 60]\nlate.nothing()", "df = df.dropna()\nprint(len(late), len(df))"
    error = ExecutionError(ename="ValueError", evalue="no", line=2)
    runner = RunnerDouble({first: ExecutionResult(status="error", error=error)})
    run = ask([code(first), code(second)], runner, live=OF_DF)
    kept = "df_2 = df.dropna()\nprint(len(late), len(df_2))"
    assert run.code == f"late = df[df.d > 60]\n{kept}"
    assert run.written == kept


def test_what_later_prompts_have_of_such_a_program_is_made_of_names_alone() -> None:
    written = "df['m'] = df.when\ndf['m'].dt.month.max()"
    error = ExecutionError(
        ename="AttributeError", evalue="Can only use .dt accessor with datetimelike values", line=3
    )
    entry = NamespaceEntry(name="df_2", type_name="DataFrame", columns=("when", "m"), dtypes=("object", "object"))
    failed_so = ExecutionResult(status="error", error=error, namespace=(entry,))
    kept = "df_2 = df.copy()\ndf_2['m'] = df_2.when\ndf_2['m'].dt.month.max()"
    run = ask([code(written)], RunnerDouble({kept: failed_so}), live=OF_DF)
    assert run.steps[0].rules == ("keep-variables", "convert-dates")
    assert "pd.to_datetime" in run.code
    assert run.written == kept


def test_a_program_that_fails_twice_in_the_same_way_is_asked_for_from_the_beginning() -> None:
    failed_so = ExecutionResult(status="error", error=KEY_ERROR, namespace=(SALES,))
    again = MISSED.partition("# Sum it\ntotal =")[2]
    model = ScriptedModel([MISSED, again, "print(7)"], supports_prefill=True)
    run = ask([], RunnerDouble({MISSED: failed_so}), model=model)
    assert [request.temperature for request in model.requests] == [0.0, 0.0, 0.7]
    assert run.code == "print(7)"


def test_a_figure_where_a_word_was_wanted_is_gone_on_from_with_the_choice() -> None:
    chosen = "r = 0.2\n# 'strong', 'weak'\nif r > 0.5:\n    c = 'strong'\nelse:\n    c = 'weak'\nprint(c)"
    runner = RunnerDouble({"r = 0.2\nprint(r)": shown("0.2\n"), chosen: shown("weak\n")})
    model = ScriptedModel(
        ["r = 0.2\nprint(r)", " r > 0.5:\n    c = 'strong'\nelse:\n    c = 'weak'\nprint(c)"], supports_prefill=True
    )
    run = ask([], runner, model=model, run=new_run(prompt="How strong is it? Say either 'strong' or 'weak'."))
    assert model.requests[1].prefill == "```python\nr = 0.2\n# 'strong', 'weak'\nif"
    assert run.code == chosen


@pytest.mark.parametrize(("approve", "named"), [("review", True), ("ask", False)])
def test_results_get_their_names_unless_a_person_would_be_asked_once_more(approve: str, named: bool) -> None:
    written, whole = "a = 1\nb = 2\ndisplay(a, b)", 'a = 1\nb = 2\nprint("a:", a)\nprint("b:", b)'
    entries = tuple(NamespaceEntry(name=name, type_name="int") for name in "ab")
    first = replace(shown("1\n2\n"), namespace=entries)
    runner = RunnerDouble({written: first, whole: shown("a: 1\nb: 2\n")})
    run = ask([code(written)], runner, run=new_run(approve=approve))
    assert (run.status, run.code.strip()) == ("ok", whole if named else written)


def test_results_keep_their_names_where_they_look_wrong_as_well() -> None:
    written, whole = "a = 1\nb = 2\nprint(a)\nprint(b)", 'a = 1\nb = 2\nprint("a:", a)\nprint("b:", b)'
    entries = tuple(NamespaceEntry(name=name, type_name="int") for name in "ab")
    doubted = replace(shown("nan\nnan\n"), namespace=entries)
    runner = RunnerDouble({written: doubted, whole: replace(shown("a: nan\nb: nan\n"), namespace=entries)})
    run = ask([code(written)] * 3, runner)
    assert (run.status, run.code.strip()) == ("ok", whole)
    assert any("Every value is missing" in note for note in run.notes)


ASKED = 'print((df["source"] == "ABC News").sum())'
RIGHT = "print((df[\"source\"] == 'abc-news').sum())"
SEEN = shown('#written-otherwise ["source", "ABC News", ["abc-news"], []]\n')


def test_a_value_that_the_data_writes_in_another_way_is_put_right_without_the_model() -> None:
    runner = RunnerDouble(
        {ASKED: shown("0\n"), probe_after(Program(code=ASKED)).strip(): SEEN, RIGHT: shown("92\n")}
    )
    run = ask([code(ASKED)], runner)
    assert (run.status, run.code.strip(), len(run.steps)) == ("ok", RIGHT, 1)
    assert "the data spells 'ABC News' as 'abc-news'" in run.notes[0]
    assert runner.executed[-1].strip() == RIGHT


@pytest.mark.parametrize(
    ("column", "found", "masked_values"),
    [
        ("patient", "Zora Quillfeather", ()),
        ("full_name", "Zquf", ()),
        ("contact", "zora@example.org", ()),
        ("code_2", "Zquf", ("Zquf",)),
    ],
)
def test_no_value_of_a_personal_column_is_put_into_the_code(
    column: str, found: str, masked_values: tuple[str, ...]
) -> None:
    asked = f'print((df["{column}"] == "Z").sum())'
    seen = shown(f'#written-otherwise ["{column}", "Z", ["{found}"], []]\n')
    runner = RunnerDouble({asked: shown("0\n"), probe_after(Program(code=asked)).strip(): seen})
    run = ask([code(asked)], runner, masked_values=masked_values)
    assert (run.status, run.code.strip()) == ("ok", asked)
    assert not any(found in executed for executed in runner.executed)


def test_the_record_has_the_program_as_the_model_wrote_it_beside_the_one_that_ran() -> None:
    runner = RunnerDouble(
        {ASKED: shown("0\n"), probe_after(Program(code=ASKED)).strip(): SEEN, RIGHT: shown("92\n")}
    )
    run = ask([code(ASKED)], runner)
    assert (run.code.strip(), run.written.strip()) == (RIGHT, ASKED)
    assert run.steps[0].written.strip() == ASKED


def test_a_person_who_edits_a_correction_tells_the_model_nothing_of_it() -> None:
    """Its value came from the data, and stands in what the person sent off."""

    async def decide(proposal: Proposal) -> Decision:
        is_correction = "abc-news" in proposal.code
        return Decision(
            action="approve",
            decided_by="panel",
            code=f"{proposal.code}\n0 / 0" if is_correction else proposal.code,
            edited=is_correction,
        )

    edited = f"{RIGHT}\n0 / 0"
    error = ExecutionError(ename="ZeroDivisionError", evalue="division by zero", line=2)
    runner = RunnerDouble({ASKED: shown("0\n"), probe_after(Program(code=ASKED)).strip(): SEEN})
    runner.results[edited] = ExecutionResult(status="error", error=error)
    model = ScriptedModel([code(ASKED), code("print(7)")])
    run = ask([], runner, model=model, run=new_run(approve="ask"), decide=decide)
    assert any("abc-news" in executed for executed in runner.executed)
    assert "abc-news" not in str(model.requests)
    assert "abc-news" not in run.written


def test_an_empty_result_is_looked_at_on_its_way() -> None:
    emptied = f"df = df[df['source'] == 'ABC News']\n{ASKED}"
    runner = RunnerDouble(
        {
            emptied: shown("Empty DataFrame\n"),
            probe_after(Program(code=emptied)).strip(): shown(
                '#written-otherwise ["source", "ABC News", [], []]\n'
            ),
            probe_inline(Program(code=emptied)).strip(): SEEN,
            emptied.replace("'ABC News'", "'abc-news'").replace('"ABC News"', "'abc-news'"): shown("92\n"),
        }
    )
    run = ask([code(emptied)], runner)
    assert (run.status, len(run.steps), run.outputs) == ("ok", 1, shown("92\n").outputs)


def test_an_empty_result_goes_back_with_the_filter_that_left_nothing() -> None:
    emptied = "print(df[df['dest'] == 'JFK'])"
    seen = shown('#written-otherwise ["dest", "JFK", [], ["origin"]]\n')
    runner = RunnerDouble({emptied: shown("Empty DataFrame\n"), probe_after(Program(code=emptied)).strip(): seen})
    runner.results[probe_inline(Program(code=emptied)).strip()] = seen
    model = ScriptedModel([code(emptied), code("print(7)")])
    run = ask([], runner, model=model)
    assert (run.status, run.code.strip()) == ("ok", "print(7)")
    told = "The result is empty. No row has 'JFK' in dest; it is a value of origin."
    assert told in model.requests[1].messages[-1].content


def test_a_hint_is_told_once_where_the_reply_is_begun_with_it_or_where_it_cannot_be() -> None:
    error = ExecutionError(ename="NameError", evalue="name 'totle' is not defined", line=1)
    entry = NamespaceEntry(name="total", type_name="int")
    runner = RunnerDouble({"print(totle)": ExecutionResult(status="error", error=error, namespace=(entry,))})
    for prefills in (True, False):
        model = ScriptedModel([code("print(totle)"), code("print(7)")], supports_prefill=prefills)
        ask([], runner, model=model)
        asked = model.requests[1]
        places = ["did you mean total" in text for text in (asked.prefill, asked.messages[-1].content)]
        assert places == [prefills, not prefills]


def test_where_only_the_schema_is_told_no_value_of_the_data_gets_into_the_code() -> None:
    runner = RunnerDouble(
        {ASKED: shown("0\n"), probe_after(Program(code=ASKED)).strip(): SEEN, RIGHT: shown("92\n")}
    )
    run = ask([code(ASKED)], runner, run=new_run(privacy="schema"))
    assert run.code.strip() == ASKED
    assert runner.executed == [run.code]


def test_a_correction_that_does_not_help_is_not_kept() -> None:
    runner = RunnerDouble(
        {ASKED: shown("0\n"), probe_after(Program(code=ASKED)).strip(): SEEN, RIGHT: failed("KeyError", "'x'")}
    )
    run = ask([code(ASKED)], runner)
    assert (run.status, run.code.strip(), run.outputs) == ("ok", ASKED, shown("0\n").outputs)
    assert runner.executed[-1].strip() == ASKED  # what lies in the sandbox is what is shown


def test_every_step_begins_with_the_messages_of_the_one_before() -> None:
    model = ScriptedModel([code("print(a)"), code("print(b)"), code("print(7)")])
    runner = RunnerDouble({"print(a)": failed("TypeError", "one"), "print(b)": failed("TypeError", "two")})
    ask([], runner, model=model)
    first, second, third = (request.messages for request in model.requests)
    assert second[: len(first)] == first
    assert third[: len(second)] == second


def test_it_stops_at_the_limit_of_steps_and_says_the_last_error() -> None:
    runner = RunnerDouble({f"print({at})": failed("TypeError", f"bad {at}") for at in range(9)})
    run = ask([code(f"print({at})") for at in range(9)], runner, run=new_run(max_steps=3))
    assert (run.status, len(run.steps)) == ("failed", 3)
    assert run.error == (
        "No working code after 3 steps. Last error: TypeError: bad 2. Ask for one thing at a time, naming tables "
        "and columns, or use a larger model (%agent models)."
    )


def test_where_a_limit_was_the_reason_no_other_model_is_named() -> None:
    stopped = ExecutionResult(status="timeout", reason="no end after 120 s")
    run = ask([code("print(1)")], RunnerDouble({"print(1)": stopped}), run=new_run(max_steps=1))
    assert run.error == "No working code after 1 step. Last: no end after 120 s"


@pytest.mark.parametrize(
    ("programs", "max_steps", "result"),
    [
        (["print(0)", "print(0)", "print(7)"], 4, "print(7)"),
        (["print(0)", "print(0)", "print(0)"], 4, "print(0)"),
        (["print(0)", "print(0)"], 2, "print(0)"),
        (["print(0)", "print(0)", "print(9)"], 3, "print(0)"),
        (["print(0)", "print(0)", "print(9)", "print(9)"], 8, "print(0)"),
        (["print(0)", "print(1)"], 4, "print(1)"),
    ],
)
def test_the_program_that_was_doubted_is_asked_for_once_more_where_it_comes_again_and_stands_then(
    programs: list[str], max_steps: int, result: str
) -> None:
    shows = {"print(0)": shown("[]"), "print(1)": shown("[]"), "print(7)": shown("7")}
    runner = RunnerDouble(shows | {"print(9)": failed("TypeError", "bad")})
    model = ScriptedModel([code(program) for program in programs])
    run = ask([], runner, model=model, run=new_run(max_steps=max_steps))
    assert (run.status, run.code.strip(), len(model.requests)) == ("ok", result, len(programs))
    assert runner.executed[-1].strip() == result


def test_what_the_last_step_shows_is_the_result_with_the_doubt_that_no_call_is_left_for() -> None:
    runner = RunnerDouble({"print(9)": failed("TypeError", "bad"), "print(0)": shown("[]"), "x": shown("")})
    run = ask([code("print(9)"), code("print(0)")], runner, run=new_run(max_steps=2))
    assert (run.status, run.code.strip(), run.outputs) == ("ok", "print(0)", shown("[]").outputs)
    assert any("looks wrong" in note for note in run.notes)


def test_a_doubted_result_is_kept_as_doubtful_where_what_comes_after_it_fails() -> None:
    runner = RunnerDouble(
        {"print(0)": shown("[]"), "print(8)": failed("TypeError", "8"), "print(9)": failed("TypeError", "9")}
    )
    run = ask([code("print(0)"), code("print(8)"), code("print(9)")], runner, run=new_run(max_steps=3))
    assert (run.status, run.code.strip(), run.outputs) == ("ok", "print(0)", shown("[]").outputs)
    assert run.verdict is not None
    assert run.verdict.level == "doubtful"
    assert runner.executed[-1].strip() == "print(0)"  # what lies in the sandbox is what is shown


PLOTTED = "import matplotlib.pyplot as plt\n\nplt.plot(x, y);"


def test_a_chart_that_is_doubted_in_the_last_step_is_the_result_too() -> None:
    chart: DisplayOutput = {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}, "metadata": {}}
    drawn = ExecutionResult(status="ok", outputs=(chart, *shown("[]").outputs))
    runner = RunnerDouble({"print(9)": failed("TypeError", "bad"), PLOTTED: drawn})
    run = ask([code("print(9)"), code("plt.plot(x, y)")], runner, run=new_run(max_steps=2))
    assert (run.status, run.outputs) == ("ok", drawn.outputs)
    assert any("The result is empty" in note for note in run.notes)


def test_a_last_step_that_shows_nothing_is_no_result() -> None:
    runner = RunnerDouble({"print(9)": failed("TypeError", "bad"), "print()": ExecutionResult(status="ok")})
    run = ask([code("print(9)"), code("print()")], runner, run=new_run(max_steps=2))
    assert (run.status, run.outputs) == ("failed", ())
    assert "Nothing was shown" in run.error


def test_a_model_that_repeats_itself_is_asked_once_more_from_the_beginning_at_another_temperature() -> None:
    runner = RunnerDouble({"print(a)": failed("TypeError", "bad")})
    model = ScriptedModel([code("print(a)"), code("print(a)"), code("print(7)")])
    run = ask([], runner, model=model)
    assert (run.status, run.code.strip()) == ("ok", "print(7)")
    assert [request.temperature for request in model.requests] == [0.0, 0.0, 0.7]
    assert model.requests[2].messages == model.requests[0].messages


def test_it_stops_when_the_model_goes_on_to_repeat_itself() -> None:
    runner = RunnerDouble({"print(a)": failed("TypeError", "bad")})
    run = ask([code("print(a)")] * 9, runner, run=new_run(max_steps=8))
    assert (run.status, len(run.steps)) == ("failed", 3)
    assert "repeated itself" in run.error


def test_a_reply_without_code_is_asked_again() -> None:
    run = ask(["I cannot help with that.", code("print(7)")], RunnerDouble({"print(7)": shown("7")}))
    assert (run.status, len(run.steps)) == ("ok", 2)


def test_the_blocks_of_a_reply_run_as_one_program_and_what_is_left_out_is_said_beside_the_result() -> None:
    reply = f"{code('x = 3')}\nThen:\n{code('print(x + 4)')}\nAlternatively:\n{code('print(7)')}"
    program = "x = 3\n\nprint(x + 4)"
    run = ask([reply], RunnerDouble({program: shown("7\n")}))
    assert (run.status, run.code.strip()) == ("ok", program)
    (note,) = run.notes
    assert "joined from blocks 1 and 2 of the reply" in note
    assert "left out of the reply: the alternative at its end" in note


CANNOT = "I cannot do that because there is no such data."


def test_a_model_that_answers_in_words_twice_has_its_own_words_shown_once() -> None:
    model = ScriptedModel([CANNOT] * 3)
    run = ask([], RunnerDouble({}), model=model)
    assert (run.status, len(run.steps)) == ("failed", 2)
    assert run.error == f"The model wrote no code. The model says: “{CANNOT}”"
    assert "say in one sentence why" in model.requests[1].messages[-1].content


def test_words_at_the_end_of_failed_attempts_are_shown() -> None:
    runner = RunnerDouble({"print(a)": failed("TypeError", "bad")})
    run = ask([code("print(a)"), CANNOT], runner, run=new_run(max_steps=2))
    assert run.error == f"No working code after 2 steps. The model says: “{CANNOT}”"


def test_a_reply_with_a_broken_program_is_told_by_what_is_wrong_with_it() -> None:
    run = ask(["```python\nprint((\n```"], RunnerDouble({}), run=new_run(max_steps=1))
    assert run.error.startswith("No working code after 1 step. Last: ")
    assert "The model says" not in run.error


def test_the_words_of_a_model_are_bounded_cleaned_and_masked() -> None:
    words = "No \x1b]52;c;aGk=\x07data \u202efor Ada Byron. <img src=x> Write to ada@example.org. " + " ".join(
        map(str, range(999))
    )

    run = ask([words] * 2, RunnerDouble({}), masked_values=("Ada Byron",))
    assert run.error.startswith("The model wrote no code. The model says: “No data ")
    assert not [hidden for hidden in ("\x1b", "\u202e", "aGk", "Ada", "example.org", "<img") if hidden in run.error]
    assert len(run.error) < 1000


def test_after_a_reply_without_a_program_the_next_call_carries_a_grammar_and_only_that_one() -> None:
    replies = ["I cannot.", code("print(a)"), code("print(7)")]
    model = ScriptedModel(replies)
    ask([], RunnerDouble({"print(a)": failed("TypeError", "bad")}), model=model)
    assert [request.grammar[:8] for request in model.requests] == ["", "root ::=", ""]


def test_a_program_in_comments_is_run_and_told_to_the_model_as_it_ran() -> None:
    model = ScriptedModel([code("# a = 3\n# print(a)"), code("print(7)")])
    runner = RunnerDouble({"a = 3\nprint(a)": failed("TypeError", "bad")})
    run = ask([], runner, model=model)
    assert runner.executed[0] == "a = 3\nprint(a)"
    assert run.steps[0].note == "the program stood in comments"
    assert "\na = 3\nprint(a)" in model.requests[1].messages[-2].content


def test_code_that_hides_what_it_does_is_not_run_and_the_model_is_asked_again() -> None:
    hidden = "evil() #" + "\b" * 8 + "print(7)"
    runner = RunnerDouble()
    run = ask([code(hidden), code("print(8)")], runner)
    assert (run.status, runner.executed) == ("ok", ["print(8)"])
    assert "U+0008" in run.steps[0].note


def test_under_privacy_schema_no_output_and_no_error_value_goes_to_the_model() -> None:
    bad = replace(failed("ValueError", "could not convert 'CANARY'"), outputs=shown("CANARY").outputs)
    runner = RunnerDouble({"print(a)": bad, "print(7)": shown("CANARY")})
    model = ScriptedModel([code("print(a)"), code("print(7)")])
    run = ask([], runner, run=new_run(privacy="schema"), model=model)
    assert run.status == "ok"
    assert "CANARY" not in str(model.requests)
    assert "ValueError" in str(model.requests[1])
    told = ScriptedModel([code("print(a)"), code("print(7)")])
    ask([], runner, run=new_run(privacy="stats"), model=told)
    assert "CANARY" in str(told.requests)  # the twin


def test_a_rejection_without_a_reason_ends_the_run_and_nothing_is_run() -> None:
    async def reject(proposal: Proposal) -> Decision:
        return Decision(action="reject", code=proposal.code, decided_by="panel")

    runner = RunnerDouble()
    run = ask([code("print(7)")], runner, decide=reject)
    assert (run.status, runner.executed) == ("rejected", [])


def test_a_rejection_with_a_reason_is_told_to_the_model() -> None:
    async def reject_first(proposal: Proposal) -> Decision:
        no = proposal.step == 1
        reason = "use the median" if no else ""
        return Decision(action="reject" if no else "approve", code=proposal.code, decided_by="panel", reason=reason)

    model = ScriptedModel([code("print(1)"), code("print(7)")])
    run = ask([], RunnerDouble(), decide=reject_first, model=model)
    assert run.status == "ok"
    assert "use the median" in model.requests[1].messages[-1].content


def test_each_proposal_tells_what_led_to_it_and_the_code_of_the_attempt_before() -> None:
    asked: list[Proposal] = []

    async def reject_second(proposal: Proposal) -> Decision:
        asked.append(proposal)
        no = len(asked) == 2
        return Decision(
            action="reject" if no else "approve",
            code=proposal.code,
            decided_by="panel",
            reason="use the median" if no else "",
        )

    runner = RunnerDouble({"print(1)": failed("KeyError", "'late'")})
    ask([code("print(1)"), code("print(2)"), code("print(7)")], runner, decide=reject_second)
    assert {proposal.note for proposal in asked} == {""}  # what is asked, its kind says
    assert [(proposal.previous_code, proposal.why) for proposal in asked] == [
        ("", ""),
        ("print(1)", "The previous attempt failed: KeyError: 'late'"),
        ("print(2)", "You rejected the previous attempt: use the median"),
    ]


def test_edited_code_is_what_runs_and_what_is_offered() -> None:
    async def edit(proposal: Proposal) -> Decision:
        return Decision(action="approve", code="print(8)", decided_by="panel")

    runner = RunnerDouble()
    run = ask([code("print(7)")], runner, decide=edit)
    assert runner.executed == [run.code] == ["print(8)"]


def test_a_reply_that_goes_round_in_circles_is_not_run_and_is_asked_for_anew_at_another_temperature() -> None:
    circle = "print(f'{x < 1 and not np.isnan(x)" + " and not np.isinf(x) and not np.isnan(x)" * 400
    model = ScriptedModel([f"```python\n{circle}", code("print(7)")])
    run = ask([], RunnerDouble({"print(7)": shown("7")}), model=model)
    assert (run.status, len(run.steps)) == ("ok", 2)
    assert "repeated one passage without end" in run.steps[0].note
    assert model.requests[1].messages == model.requests[0].messages
    assert [request.temperature for request in model.requests] == [0.0, 0.7]


def test_the_record_is_written_before_the_model_is_asked_and_before_code_is_run() -> None:
    watcher = Watcher()
    ask([code("print(7)")], RunnerDouble({"print(7)": shown("7")}), watcher=watcher)
    before_model, before_run, after = (
        watcher.written[0].steps[-1],
        watcher.written[-2].steps[-1],
        watcher.written[-1],
    )
    assert (before_model.reply, before_model.code) == ("", "")
    assert (before_run.code.strip(), before_run.result) == ("print(7)", None)
    assert after.steps[-1].result == shown("7")


# --- the model's context --------------------------------------------------------------------------


def window(context_tokens: int) -> ContextWindow:
    return ContextWindow(context_tokens=context_tokens, certain=True, count=estimate_tokens)


@settings(max_examples=15, deadline=None)
@given(
    context_tokens=st.integers(3000, 8192),
    max_tokens=st.integers(100, 3000),
    columns=st.integers(0, 200),
    lines=st.lists(st.integers(1, 60), min_size=5, max_size=5),
)
def test_no_call_of_a_run_exceeds_the_models_context(
    context_tokens: int, max_tokens: int, columns: int, lines: list[int]
) -> None:
    told = "\n".join(["df: DataFrame 9x9", *(f" 'column {at}' float 0..{at}" for at in range(columns))])
    programs = [
        "\n".join(
            [f"# {at}", *(f"v{line**3} = df['{line * 7919}'] * {line}" for line in range(length)), "print(v0)"]
        )
        for at, length in enumerate(lines)
    ]
    runner = RunnerDouble(
        {
            program: replace(failed("TypeError", f"bad {at}"), outputs=shown("0.5 oslo\n" * 400).outputs)
            for at, program in enumerate(programs[:-1])
        }
        | {programs[-1]: shown("7\n" * 290)}
    )
    model = ScriptedModel([*map(code, programs)])
    run = ask(
        [],
        runner,
        run=replace(new_run(max_steps=9), context=told),
        model=model,
        window=window(context_tokens),
        max_tokens=max_tokens,
    )
    assert (run.status, len(model.requests)) == ("ok", len(programs))
    for request in model.requests:
        sent = sum(estimate_tokens(message.content) for message in request.messages)
        assert sent + min(request.max_tokens, context_tokens // 2) <= context_tokens
    too_long = sum(estimate_tokens(program) for program in programs) > context_tokens
    assert any(LEFT_OUT in note for note in run.notes) or not too_long


@pytest.mark.parametrize(("context_tokens", "gone_on_with"), [(5200, True), (5000, False)])
def test_a_long_program_that_is_gone_on_with_leaves_room_for_the_reply(
    context_tokens: int, gone_on_with: bool
) -> None:
    written = "\n".join([*(f"v{at} = df['column {at}'] * {at}" for at in range(120)), "print(verdict)"])
    error = ExecutionError(ename="NameError", evalue="name 'verdict' is not defined", line=121)
    runner = RunnerDouble({written: ExecutionResult(status="error", error=error)})
    model = ScriptedModel([written, " 7\nprint(verdict)"], supports_prefill=True)
    told = "\n".join(["df: DataFrame 9x9", *(f" 'column {at}' float 0..{at}" for at in range(300))])
    limit = window(context_tokens)
    run = ask([], runner, run=replace(new_run(), context=told), model=model, window=limit, max_tokens=600)
    again = model.requests[1]
    assert again.prefill.endswith("verdict =") is gone_on_with
    sent = sum(estimate_tokens(message.content) for message in again.messages)
    assert sent + estimate_tokens(again.prefill) + again.max_tokens <= context_tokens
    assert any(LEFT_OUT in note for note in run.notes)


def test_a_question_that_exceeds_the_models_context_alone_is_not_sent() -> None:
    model = ScriptedModel([code("print(7)")])
    with pytest.raises(ContextTooLongError, match=r"has about \d+ tokens, .* context of the model is 2000,"):
        ask([], RunnerDouble(), run=new_run("why? " * 3000), model=model, window=window(2000))
    assert model.requests == []


SALES_TOLD: dict[str, Any] = {"context": "df: DataFrame", "context_spans": tagged("df: DataFrame", "names").spans}


@pytest.mark.parametrize(("privacy", "kind"), [("stats", "error"), ("schema", "error_kind")])
def test_a_hint_that_the_reply_is_begun_with_counts_as_sent(privacy: Privacy, kind: ContentKind) -> None:
    error = ExecutionResult(status="error", error=KEY_ERROR, namespace=(SALES,))
    model = ScriptedModel([MISSED, " df['Revenues'].sum()\nprint(total)"], supports_prefill=True)
    told = replace(new_run(prompt="Revenues of df?", privacy=privacy), **SALES_TOLD)
    run = ask([], RunnerDouble({MISSED: error}), run=told, model=model)
    second = model.requests[1]
    assert "no column 'Revenu'; df has 'Revenues'" in second.prefill
    assert kinds_in(second.messages, second.prefill_spans) == ("names", kind)
    assert run.steps[1].prefill_spans == second.prefill_spans  # the record has what went out


def test_code_that_a_person_has_changed_is_told_as_theirs() -> None:
    async def edit(proposal: Proposal) -> Decision:
        return Decision(action="approve", code="print(mine)", decided_by="panel", edited=True)

    runner = RunnerDouble({"print(mine)": failed("TypeError", "bad")})
    model = ScriptedModel([code("print(1)"), code("print(2)")])
    ask([], runner, decide=edit, model=model, run=new_run(approve="ask", max_steps=2))
    reply, feedback = model.requests[1].messages[-2:]
    assert "print(mine)" in reply.content
    assert kinds_of(reply.spans) == ("edited_code",)
    assert kinds_of(feedback.spans) == ("error",)


def test_the_models_own_reply_and_our_own_words_are_nothing_of_the_users() -> None:
    model = ScriptedModel(["Sorry, no.", code("print(7)")])
    ask([], RunnerDouble(), model=model)
    assert kinds_in(model.requests[1].messages) == ()


def test_a_step_records_which_rules_fired() -> None:
    runner = RunnerDouble(
        {ASKED: shown("0\n"), probe_after(Program(code=ASKED)).strip(): SEEN, RIGHT: shown("92\n")}
    )
    assert ask([code(ASKED)], runner).steps[0].rules == ("match-values",)
    failing = RunnerDouble({"print(np.NaN)": failed("NameError", "name 'mean' is not defined")})
    run = ask([code("print(np.NaN)"), code("print(1)")], failing)
    assert run.steps[0].rules[0] == "modern-names"
    empty = RunnerDouble({"print(df)": shown("Empty DataFrame\n"), "print(1)": shown("1\n")})
    run = ask([code("print(df)"), code("print(1)")], empty)
    assert [step.rules for step in run.steps] == [("empty-result",), ()]
