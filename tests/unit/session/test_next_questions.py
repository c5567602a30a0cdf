"""What of the tried programs is worth offering, and the names that they may assign to."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from run_examples import example_run

from jupyter_codeagent.explore.question_templates import NextQuestion
from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.session.next_questions import NextQuestions, _within_limit, is_worth_showing, with_free_names
from jupyter_codeagent.session.replay import is_same_question
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.types.run import NO_MODEL, AgentRequest, AgentRun
from jupyter_codeagent.types.sandbox import ExecutionResult
from jupyter_codeagent.variables.privacy.sharing.notebook_sharing import NotebookSharing
from jupyter_codeagent.variables.user_namespace import UserNamespace

TABLE = "region  mean\nnorth   12.5\nsouth   17.25"


def result(text: str, **changes: Any) -> ExecutionResult:
    output: Any = {
        "output_type": "execute_result",
        "data": {"text/plain": text},
        "metadata": {},
        "execution_count": 1,
    }
    return ExecutionResult(**{"status": "ok", "outputs": (output,), **changes})


@pytest.mark.parametrize(
    ("shown", "seen", "worth"),
    [
        (result(TABLE), "", True),
        (result(TABLE), "north 12.5003\nsouth 17.25\nwest 3", False),
        (result(TABLE), "north 12.5", True),
        (result("Empty DataFrame\nColumns: [a 1]\nIndex: []"), "", False),
        (result("shape: (0, 2)"), "", False),
        (result("no figure"), "", False),
        (result(TABLE, status="error"), "", False),
        (result(TABLE, status="timeout"), "", False),
    ],
)
def test_a_program_is_offered_that_ended_well_with_figures_that_are_new(
    shown: ExecutionResult, seen: str, worth: bool
) -> None:
    assert is_worth_showing(shown, seen) is worth


def test_what_the_user_has_bound_meanwhile_is_not_assigned_to() -> None:
    code = 'by_region = shop.groupby("region").size()\nprint("by_region")\nby_region.to_frame("rows")'
    renamed = with_free_names(code, {"by_region", "shop", "by_region_2"})
    assert renamed == code.replace("by_region.to", "by_region_3.to").replace("by_region = ", "by_region_3 = ")
    assert with_free_names(code, {"shop"}) == code


def test_the_answer_of_a_template_is_the_same_for_any_model_while_the_data_is_the_same() -> None:
    def asked(model: str, prompt: str = "How?") -> AgentRun:
        request = AgentRequest(prompt=prompt, model=model)
        return AgentRun(id="a", request=request, status="ok", started_at=0.0, described_sha256=model)

    assert is_same_question(asked(NO_MODEL), asked("qwen"))
    assert not is_same_question(asked(NO_MODEL, "Why?"), asked("qwen"))
    assert not is_same_question(asked("llama"), asked("qwen"))


def test_an_error_that_nobody_expected_is_logged_and_nothing_is_offered(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise ZeroDivisionError("by the way")

    asyncio.run(_within_limit(fail))
    assert "The search for next questions ended with an error" in caplog.text
    assert "by the way" in caplog.text


def test_questions_that_need_a_hidden_column_are_taken_back_and_the_others_stay(tmp_path: Path) -> None:
    history = HistoryStore(tmp_path / "history.sqlite")
    run_log = RunLog(history, session_id="k")
    live = UserNamespace(cast("Any", SimpleNamespace(user_ns={"orders": 1, "other": 2}, user_ns_hidden={})))
    sharing = NotebookSharing(live, forget=run_log.forget_variable)
    told: list[tuple[str, ...]] = []
    questions = NextQuestions(
        background=cast("Any", None),
        front_ends=cast("Any", None),
        workspace=cast("Any", None),
        live=live,
        sharing=sharing,
        run_log=run_log,
        changed=lambda run: told.append(run.next_questions),
    )
    run_log.write(example_run(id="abc"))
    offered = [
        NextQuestion(text=text, table=table, code=code, kind="means", columns=())
        for text, table, code in (
            ("Highest rating?", "orders", 'orders.nlargest(3, "rating")'),
            ("Sizes?", "orders", 'orders["size"].mean()'),
            ("Ratings of others?", "other", 'other["rating"].mean()'),
        )
    ]
    questions._offer(run_log.find("abc"), offered)
    sharing.share_columns("orders", frozenset({"rating"}), "hidden")
    assert [*told[-1]] == ["Sizes?", "Ratings of others?"]
    assert run_log.find("abc").next_questions == told[-1]
    assert questions.program_for("Highest rating?", RunOptions()) is None
    assert questions.program_for("Sizes?", RunOptions()) is not None
    sharing.share("orders", "hidden")
    assert [*told[-1]] == ["Ratings of others?"]
    history.close()
