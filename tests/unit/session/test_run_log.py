"""What a run may be told of earlier ones."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.session.run_log import KEPT_RUNS, RunLog
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.run import NO_MODEL, AgentRequest, AgentRun, CellState, Placed
from jupyter_codeagent.types.sandbox import CopyChange, NamespaceEntry, StreamOutput
from jupyter_codeagent.types.variables import CopiedVariable, Manifest, ToolStub


def a_run(run_id: str, **request: Any) -> AgentRun:
    asked = replace(AgentRequest(prompt=f"question {run_id}", model="m", server="127.0.0.1:1"), **request)
    return AgentRun(
        id=run_id, request=asked, status="ok", started_at=1.0, code="print(1)", answer=f"answer {run_id}"
    )


@pytest.fixture
def run_log(tmp_path: Path) -> RunLog:
    return RunLog(HistoryStore(tmp_path / "history.sqlite"), session_id="s")


def test_the_conversation_has_prompt_code_and_result_of_earlier_runs(run_log: RunLog) -> None:
    run_log.write(a_run("a"))
    [turn] = run_log.turns_before(a_run("b"))
    assert (turn.prompt, turn.code, turn.answer) == ("question a", "print(1)", "answer a")


def test_of_a_templates_program_the_conversation_has_the_part_that_makes_the_table_unless_its_chart_is_refined(
    run_log: RunLog,
) -> None:
    table = "by_city = df.groupby('city').size()"
    code = f"import matplotlib.pyplot as plt\n{table}\nby_city.plot(ax=plt.gca())\nby_city"
    run_log.write(replace(a_run("a", model=NO_MODEL), code=code))
    assert run_log.turns_before(a_run("b"))[0].code == f"{table}\nby_city"
    assert run_log.refined_turn(a_run("b", refines="a"))[0].code == code
    run_log.write(replace(a_run("c"), code=code))
    assert run_log.turns_before(a_run("d"))[-1].code == code


def test_the_programs_of_findings_and_next_questions_are_known(run_log: RunLog) -> None:
    run_log.write(a_run("a"))
    run_log.write(replace(a_run("b", model=NO_MODEL), code="rows = 2"))
    assert run_log.programs_without_model() == {"rows = 2"}


def test_what_was_said_to_one_server_is_not_told_to_another_that_is_remote(run_log: RunLog) -> None:
    run_log.write(a_run("a"))
    assert run_log.turns_before(a_run("b", server="api.example.org", remote=True)) == ()
    assert len(run_log.turns_before(a_run("b", server="127.0.0.1:2"))) == 1


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [("samples", "stats", ""), ("stats", "schema", ""), ("schema", "schema", ""), ("stats", "samples", "answer a")],
)
def test_results_are_told_only_under_a_privacy_that_is_not_stricter(
    run_log: RunLog, then: str, now: str, told: str
) -> None:
    run_log.write(a_run("a", privacy=then))
    assert [turn.answer for turn in run_log.turns_before(a_run("b", privacy=now))] == [told]


def test_a_cell_makes_anew_what_its_earlier_versions_made_and_not_what_was_the_users_before(
    run_log: RunLog,
) -> None:
    frame = NamespaceEntry(name="df", type_name="DataFrame")
    made = (frame, replace(frame, name="monthly"))
    manifest = Manifest(copied=(CopiedVariable(name="df", type_name="DataFrame", size_bytes=1),))
    run_log.write(replace(a_run("a", cell_id="c1"), made=made, manifest=manifest))
    assert run_log.made_by_cell("c1") == {"monthly"}
    assert run_log.made_by_cell("c2") == frozenset()
    assert run_log.made_by_cell(None) == frozenset()


def test_runs_of_the_same_cell_and_discarded_ones_are_not_told(run_log: RunLog) -> None:
    run_log.write(a_run("a", cell_id="c1"))
    run_log.write(a_run("b", cell_id="c2"))
    run_log.set_cell_state("b", "discarded", decided_by="panel")
    assert run_log.turns_before(a_run("x", cell_id="c1")) == ()


def test_runs_that_had_a_copy_of_a_hidden_variable_are_not_told(run_log: RunLog) -> None:
    copied = CopiedVariable(name="df", type_name="DataFrame", size_bytes=1)
    run_log.write(replace(a_run("a"), manifest=Manifest(copied=(copied,))))
    run_log.write(a_run("b"))
    run_log.forget_variable("df")
    assert [turn.prompt for turn in run_log.turns_before(a_run("x"))] == ["question b"]


def test_a_newer_run_replaces_the_undecided_ones_of_its_cell_but_not_in_a_notebook_it_is_a_copy_of(
    run_log: RunLog, tmp_path: Path
) -> None:
    original, copy, renamed = (str(tmp_path / name) for name in ("original.ipynb", "copy.ipynb", "gone.ipynb"))
    Path(original).touch()
    of_cell = {"cell_id": "c1"}
    run_log.write(a_run("original", **of_cell, notebook=original))
    run_log.write(a_run("renamed", **of_cell, notebook=renamed))
    run_log.write(a_run("same", **of_cell, notebook=copy))
    run_log.write(replace(a_run("kept", **of_cell, notebook=copy), cell_state="accepted"))
    run_log.write(a_run("other", cell_id="c2", notebook=copy))
    new = a_run("new", **of_cell, notebook=copy)
    run_log.write(new)
    assert run_log.replaced_by(new) == ["same", "renamed"]
    assert run_log.earlier_versions(new) == ["kept", "same", "renamed", "original"]


def test_a_run_replaces_the_pending_run_that_it_refines_once_whatever_its_cell_or_notebook(
    run_log: RunLog, tmp_path: Path
) -> None:
    original = str(tmp_path / "original.ipynb")
    Path(original).touch()
    run_log.write(a_run("elsewhere", cell_id="c2", notebook=original))
    run_log.write(a_run("same", cell_id="c1"))
    run_log.write(replace(a_run("accepted", cell_id="c1"), cell_state="accepted"))
    of_other_cell = a_run("new", cell_id="c1", refines="elsewhere")
    assert run_log.earlier_versions(of_other_cell) == ["elsewhere", "accepted", "same"]
    assert run_log.replaced_by(of_other_cell) == ["elsewhere", "same"]
    of_its_cell = a_run("new", cell_id="c1", refines="same")
    assert run_log.earlier_versions(of_its_cell) == ["same", "accepted"]
    assert run_log.replaced_by(of_its_cell) == ["same"]
    of_accepted = a_run("new", refines="accepted")
    assert run_log.earlier_versions(of_accepted) == ["accepted"]
    assert run_log.replaced_by(of_accepted) == []


def test_a_decision_made_before_the_run_has_ended_outlives_its_end(run_log: RunLog) -> None:
    run_log.write(replace(a_run("a"), cell_state="pending"))
    run_log.set_cell_state("a", "accepted", decided_by="panel")
    run_log.write(replace(a_run("a"), cell_state="pending", notes=("the end",)))
    assert [(run.cell_state, run.notes) for run in run_log.recent] == [("accepted", ("the end",))]


def test_what_a_page_wrote_into_the_history_itself_is_known_to_the_kernel(run_log: RunLog, tmp_path: Path) -> None:
    run_log.write(a_run("a"))
    server = HistoryStore(tmp_path / "history.sqlite")
    server.set_cell_state("a", "discarded", "panel")
    server.close()
    assert [run.cell_state for run in run_log.recent] == ["discarded"]
    assert run_log.find("a").cell_state == "discarded"
    assert run_log.turns_before(a_run("b")) == ()


def test_a_page_links_although_the_history_cannot_be_read(run_log: RunLog, tmp_path: Path) -> None:
    run_log.write(a_run("a"))
    run_log.history.close()
    (tmp_path / "history.sqlite").write_bytes(b"not a database")
    assert [run.id for run in run_log.recent] == ["a"]


def test_the_cells_that_show_a_replayed_result_are_its_own_or_those_that_were_kept(run_log: RunLog) -> None:
    chain: list[tuple[str, Placed, str]] = [
        *(("a", "cells", ""), ("b", "kept", "a"), ("c", "cells", "a"), ("d", "kept", "c")),
        ("old", "", "a"),
    ]
    for run_id, placed, source in chain:
        run_log.write(replace(a_run(run_id), placed=placed, replayed_from=source))
    shown = {run_id: run_log.runs_displaying(run_log.find(run_id)) for run_id, *_ in chain}
    assert shown == {"a": ["a"], "b": ["b", "a"], "c": ["c"], "d": ["d", "c"], "old": ["old", "a"]}
    run_log.history.delete("c")
    assert run_log.runs_displaying(run_log.find("d")) == ["d", "c"]


def test_the_version_that_is_refined_is_told_once_whatever_was_decided_and_without_the_variables_it_made(
    run_log: RunLog,
) -> None:
    made = (NamespaceEntry(name="daily", type_name="DataFrame"),)
    decided: list[tuple[CellState, str | None]] = [("pending", "c1"), ("discarded", "c2"), ("accepted", None)]
    for state, cell_id in decided:
        run_log.write(replace(a_run(state), cell_state=state, made=made))
        asked = a_run("b", refines=state, cell_id=cell_id)
        assert [turn.prompt for turn in run_log.refined_turn(asked)] == [f"question {state}"]
        assert run_log.refined_turn(asked)[0].made == ()
        assert f"question {state}" not in [turn.prompt for turn in run_log.turns_before(asked, {"daily"})]


def test_what_is_refined_is_not_told_to_another_server_that_is_remote(run_log: RunLog) -> None:
    run_log.write(a_run("a"))
    assert run_log.refined_turn(a_run("b", refines="a", server="api.example.org", remote=True)) == ()
    assert run_log.refined_turn(a_run("b")) == ()


def test_what_is_refined_is_told_as_its_privacy_allows(run_log: RunLog) -> None:
    for run_id, privacy in (("strict", "schema"), ("lax", "samples")):
        run = a_run(run_id, privacy=privacy)
        run_log.write(replace(run, code="df[df.name == 'Ada Lovelace']", written="df[df.name == 'Ada']"))
    [told] = run_log.refined_turn(a_run("b", refines="strict", privacy="schema"))
    assert (told.code, told.answer) == ("df[df.name == 'Ada']", "")
    [told] = run_log.refined_turn(a_run("b", refines="lax", privacy="schema"))
    assert (told.code, told.answer) == ("", "")
    [told] = run_log.refined_turn(a_run("b", refines="lax", privacy="samples"))
    assert (told.code, told.answer) == ("df[df.name == 'Ada Lovelace']", "answer lax")


def test_another_version_is_about_the_variables_of_the_one_it_refines_whatever_was_asked_since(
    run_log: RunLog,
) -> None:
    for run_id in ("trips", "weather"):
        copied = CopiedVariable(name=run_id, type_name="DataFrame", size_bytes=1)
        run_log.write(replace(a_run(run_id, cell_id=f"asked {run_id}"), manifest=Manifest(copied=(copied,))))
    assert [copy.name for copy in run_log.data_before("asked trips", refines="trips").copied] == ["trips"]
    assert [copy.name for copy in run_log.data_before("another").copied] == ["weather"]


def test_what_is_hidden_takes_the_questions_that_asked_it_out_of_the_conversation(run_log: RunLog) -> None:
    stub = ToolStub(name="db", signature="(sql: str)", kind="duckdb")
    run_log.write(replace(a_run("first"), manifest=Manifest(tools=(stub,))))
    assert run_log.data_before("another").databases == ("db",)
    run_log.forget_variable("db")
    assert run_log.data_before("another").databases == ()


def test_of_a_cells_results_the_newest_counts_that_was_not_discarded(run_log: RunLog) -> None:
    decided: list[tuple[str, CellState]] = [
        ("first", "discarded"),
        ("kept", "accepted"),
        ("put aside", "discarded"),
    ]
    for run_id, state in decided:
        run_log.write(replace(a_run(run_id, cell_id="c1"), cell_state=state))
    found = run_log.last_result_of_cell(a_run("again", cell_id="c1"))
    assert found is not None
    assert found.id == "kept"
    run_log.set_cell_state("kept", "discarded", decided_by="panel")
    assert run_log.last_result_of_cell(a_run("again", cell_id="c1")) is None


def test_of_older_runs_only_the_conversation_is_kept_in_memory_and_the_rest_comes_from_the_history(
    run_log: RunLog,
) -> None:
    plot = StreamOutput(output_type="stream", name="stdout", text="x" * 1_000_000)
    for number in range(KEPT_RUNS + 1):
        run_log.write(replace(a_run(f"run{number:03}"), outputs=(plot,)))
    assert len(run_log.recent) == KEPT_RUNS
    assert len(str(run_log._runs["run000"])) < 20_000
    assert run_log.find("run000").outputs == (plot,)
    assert run_log.turns_before(a_run("next"))[0].answer == "answer run000"


def test_of_what_runs_made_only_what_is_still_there_is_told(run_log: RunLog) -> None:
    made = (
        NamespaceEntry(name="daily", type_name="DataFrame", shape=(3, 2), columns=("day", "n")),
        NamespaceEntry(name="gone", type_name="int"),
    )
    run_log.write(replace(a_run("a"), made=made))
    [turn] = run_log.turns_before(a_run("b"), {"daily"})
    assert turn.made == ("daily: DataFrame 3x2 (day, n)",)
    assert [turn.made for turn in run_log.turns_before(a_run("b"))] == [()]
    assert [turn.made for turn in run_log.turns_before(a_run("b", privacy="schema"), {"daily"})] == [()]


def test_under_schema_only_variables_that_the_model_has_named_are_told_and_only_types_of_libraries(
    run_log: RunLog,
) -> None:
    """Code can give variables and types any names, those of people too."""
    importlib.import_module("pandas")  # whose types are known while it is loaded
    made = (
        NamespaceEntry(name="daily", type_name="DataFrame", columns=("Zora",)),
        NamespaceEntry(name="Zora_Quillfeather", type_name="int"),
        NamespaceEntry(name="odd", type_name="Zora"),
        NamespaceEntry(name="n", type_name="int"),
    )
    written = "daily = df.pivot()\nodd = kinds[0]()\nn = 1\nglobals()[name] = 1"
    run_log.write(replace(a_run("a", privacy="schema"), made=made, written=written))
    [turn] = run_log.turns_before(a_run("b", privacy="schema"), {entry.name for entry in made})
    assert turn.made == ("daily: DataFrame", "odd: object", "n: int")


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        ("stats", "stats", "df == 'Zora'"),
        ("schema", "stats", "df == 'Zora'"),
        ("schema", "schema", "df == 'Z'"),
        ("stats", "schema", ""),
        ("samples", "stats", ""),
    ],
)
def test_code_is_told_as_it_was_written_under_schema_and_not_at_all_under_a_stricter_privacy(
    run_log: RunLog, then: str, now: str, told: str
) -> None:
    run_log.write(replace(a_run("a", privacy=then), code="df == 'Zora'", written="df == 'Z'"))
    [turn] = run_log.turns_before(a_run("b", privacy=now))
    assert (turn.code, turn.ran) == (told, "df == 'Zora'")


def test_a_cell_that_is_run_again_knows_which_copies_it_had_changed(run_log: RunLog) -> None:
    changes = (
        CopyChange(name="df", kind="changed"),
        CopyChange(name="other", kind="changed", earlier=True),
    )
    run_log.write(replace(a_run("a", cell_id="c1"), changes=changes))
    assert run_log.changed_by_cell("c1") == {"df"}
    assert run_log.changed_by_cell("c2") == run_log.changed_by_cell(None) == frozenset()


def prompts(run_log: RunLog, run: AgentRun) -> list[str]:
    return [turn.prompt for turn in run_log.turns_before(run)]


def written(run_log: RunLog, *runs: AgentRun) -> None:
    for run in runs:
        run_log.write(run)


def test_a_question_from_an_earlier_result_is_told_nothing_of_what_came_after_it(run_log: RunLog) -> None:
    written(run_log, a_run("a"), a_run("b"), a_run("c"))
    assert prompts(run_log, a_run("x", follows="b")) == ["question a", "question b"]
    written(run_log, a_run("d", follows="a"))
    assert prompts(run_log, a_run("next")) == ["question a", "question d"], "it goes on where the newest result is"
    assert prompts(run_log, a_run("back", follows="c")) == ["question a", "question b", "question c"]
    written(run_log, replace(a_run("e", follows="b"), status="failed"))
    assert prompts(run_log, a_run("next")) == ["question a", "question d"], "a failed question leads nowhere"


def test_a_branch_whose_result_was_discarded_goes_on_from_what_it_was_asked_from(run_log: RunLog) -> None:
    written(run_log, a_run("a"), a_run("b"), replace(a_run("c", follows="a"), cell_state="discarded"))
    assert prompts(run_log, a_run("next")) == ["question a"]


def test_a_finding_is_told_to_the_question_that_is_asked_from_it_and_to_no_other(run_log: RunLog) -> None:
    written(run_log, a_run("a"), a_run("found", exploration="e"), a_run("other", exploration="e"))
    assert prompts(run_log, a_run("x", follows="found")) == ["question a", "question found"]
    assert prompts(run_log, a_run("x")) == ["question a"]


def test_from_means_the_result_that_the_cell_of_the_question_has_now(run_log: RunLog) -> None:
    written(run_log, a_run("aaa", cell_id="c1"), a_run("bbb", cell_id="c2"))
    assert run_log.followed("aa") == "aaa"
    written(run_log, replace(a_run("ccc", cell_id="c1"), status="failed"), a_run("ddd", cell_id="c1"))
    assert run_log.followed("aaa") == "aaa", "it is still in the notebook"
    run_log.set_cell_state("aaa", "discarded", decided_by="rerun")
    assert run_log.followed("aaa") == "ddd"
    run_log.set_cell_state("ddd", "discarded", decided_by="panel")
    with pytest.raises(UsageError, match="--from aaa: this kernel has no result of run aaa"):
        run_log.followed("aaa")
    run_log.forget_conversation()
    with pytest.raises(UsageError, match="--from bbb"):
        run_log.followed("bbb")


def test_from_a_result_whose_data_was_hidden_since_tells_the_reason_and_what_to_do(run_log: RunLog) -> None:
    manifest = Manifest(copied=(CopiedVariable(name="orders", type_name="DataFrame", size_bytes=1),))
    written(run_log, replace(a_run("aaa", cell_id="c1"), manifest=manifest), a_run("bbb", cell_id="c2"))
    run_log.forget_variable("orders")
    assert run_log.forgotten == ["aaa"]
    with pytest.raises(UsageError, match="when orders or columns of it were hidden"):
        run_log.followed("aaa")
    run_log.forget_conversation()
    assert run_log.forgotten == ["aaa", "bbb"]
    assert run_log.hidden_since("aaa") == "orders"
    written(run_log, a_run("ccc", cell_id="c1"))
    assert run_log.followed("aaa") == "ccc", "its question ran again"


def test_from_a_run_of_another_kernel_means_what_its_cell_gave_in_this_one(tmp_path: Path) -> None:
    history = HistoryStore(tmp_path / "history.sqlite")
    RunLog(history, session_id="yesterday").write(a_run("aaa", cell_id="c1"))
    today = RunLog(history, session_id="today")
    with pytest.raises(UsageError, match="Run the cell of its question first"):
        today.followed("aaa")
    today.write(a_run("bbb", cell_id="c1"))
    assert today.followed("aaa") == "bbb"


def test_of_one_exploration_from_means_the_same_finding(run_log: RunLog, tmp_path: Path) -> None:
    def finding(run_id: str, prompt: str) -> AgentRun:
        return a_run(run_id, prompt=prompt, exploration="e", cell_id="c1")

    written(run_log, finding("aaa", "delay by carrier"), finding("bbb", "delay by month"))
    written(run_log, finding("ccc", "delay by carrier"), finding("ddd", "delay by month"))
    run_log.set_cell_state("aaa", "discarded", decided_by="rerun")
    assert run_log.followed("aaa") == "ccc"


def test_a_version_of_a_result_of_another_branch_goes_on_from_what_that_result_went_on_from(
    run_log: RunLog,
) -> None:
    written(run_log, a_run("a"), a_run("b"), a_run("c"), a_run("d", follows="a"))
    assert run_log.result_before(run_log.find("c")) == "b"
    assert run_log.result_before(run_log.find("d")) == "", "it is where the next question goes on"
    assert run_log.result_before(run_log.find("a")) == ""


def test_the_next_finding_goes_below_the_last_one_that_is_still_in_the_notebook(run_log: RunLog) -> None:
    assert run_log.last_of_exploration("e") is None
    for run_id in ("a", "b", "c"):
        run_log.write(a_run(run_id, exploration="e"))
    run_log.write(a_run("other", exploration="f"))
    run_log.write(replace(a_run("empty", exploration="e"), code=""))
    run_log.write(replace(a_run("failed", exploration="e"), status="failed"))

    def last() -> str:
        found = run_log.last_of_exploration("e")
        assert found is not None
        return found.id

    assert last() == "c"
    run_log.set_cell_state("c", "discarded", decided_by="panel")
    assert last() == "b"
    run_log.set_cell_state("b", "accepted", decided_by="panel")
    assert last() == "b"
