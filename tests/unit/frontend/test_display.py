"""`jupyter_codeagent.frontend.display`: one line, what needs attention, folded details, nothing unescaped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html import escape

import pytest

from jupyter_codeagent.frontend.display import (
    NotebookDisplay,
    TerminalDisplay,
    exploration_text,
    progress_text,
    receipt_html,
    receipt_text,
    show_text,
    status_text,
    whole_receipt_text,
)
from jupyter_codeagent.frontend.receipt import receipt_of
from jupyter_codeagent.notebook.outputs import deceiving_characters
from jupyter_codeagent.notebook.outputs.html import NO_FORMULAS
from jupyter_codeagent.types.approvals import Decision
from jupyter_codeagent.types.exploration import ExplorationResult
from jupyter_codeagent.types.messages import ModelCall, Usage
from jupyter_codeagent.types.run import AgentRequest, AgentRun, Step
from jupyter_codeagent.types.sandbox import ExecutionResult, SandboxStatus
from jupyter_codeagent.types.variables import CopiedVariable, Manifest, SkippedVariable

RUN = AgentRun(
    id="abc123def456",
    request=AgentRequest(prompt="how many?", model="qwen", server="127.0.0.1:8080"),
    status="ok",
    started_at=100.0,
    ended_at=103.25,
    steps=(Step(index=1, messages=(), code="len(df)", result=ExecutionResult(status="ok"), duration_s=3.0),),
    manifest=Manifest(
        copied=(CopiedVariable(name="df", type_name="DataFrame", size_bytes=3 << 20),),
        skipped=(SkippedVariable(name="con", reason="a database connection cannot be copied"),),
    ),
    context="df: DataFrame 3x1",
    sandbox="bubblewrap, no network",
    model_calls=(ModelCall(purpose="program", kinds=("names", "statistics"), sent=True),),
    usage=Usage(prompt_tokens=210, completion_tokens=31, cached_tokens=180, calls=1),
)
NO = Decision(action="reject", code="", decided_by="panel", reason="<script>no</script>")
EVIL = "<script>alert(1)</script>"


def test_a_cell_shows_one_line_and_what_needs_attention_and_folds_the_rest() -> None:
    html = receipt_html(replace(RUN, notes=("column 'a' is 'b'", "the last value is shown")))
    folded, shown = html.split("</details>")
    line = escape(receipt_of(RUN).line)
    receipt = f'<div class="jp-CodeAgent-receipt {NO_FORMULAS}">'
    assert folded.startswith(f"{receipt}<details><summary><small>{line}</small></summary>")
    assert "column &#x27;a&#x27; is &#x27;b&#x27;" in shown
    for told in ("the last value is shown", "210 tokens in", "qwen", "con: not copied", "len(df)", "abc123"):
        assert told in folded
        assert told not in shown


def test_a_terminal_shows_one_line_and_where_the_rest_is() -> None:
    assert receipt_text(RUN) == "✓ 3.2 s · copied df · statistics → this machine · %agent show abc123"
    assert receipt_text(replace(RUN, notes=("column 'a' is 'b'",))).endswith("abc123\ncolumn 'a' is 'b'")


def test_all_that_is_folded_in_a_cell_is_text_for_a_terminal_too() -> None:
    text = whole_receipt_text(replace(RUN, status="failed", error="It broke."))
    for told in (
        "It broke.",
        "210 tokens in (180 cached), 31 out",
        "con: not copied",
        "df: DataFrame 3x1",
        "len(df)",
    ):
        assert told in text


def test_text_of_the_model_and_of_the_sandbox_is_escaped() -> None:
    step = Step(index=1, messages=(), code=EVIL, note=EVIL, decision=NO)
    run = replace(RUN, steps=(step,), context=EVIL, error=EVIL, notes=(EVIL,), sandbox=EVIL, status="rejected")
    assert "alert" in receipt_html(run)
    assert "<script" not in receipt_html(run)


def test_code_that_ran_without_isolation_says_so_in_bold() -> None:
    assert "<b>NOT ISOLATED: the code ran without a sandbox.</b>" in receipt_html(
        replace(RUN, sandbox="NOT ISOLATED")
    )
    assert "NOT ISOLATED" not in receipt_html(RUN)


def test_the_status_tells_what_is_closed_open_and_limited() -> None:
    status = SandboxStatus(
        level="landlock",
        layers=("Landlock ABI 7",),
        closed=("tcp",),
        open=("host name",),
        limits=("memory 2 GiB",),
        hint="install it",
    )
    assert list(status_text(status)) == [
        "sandbox: landlock, no network",
        "  layer: Landlock ABI 7",
        "  blocked (tested at startup): tcp",
        "  not blocked: host name",
        "  limit: memory 2 GiB",
        "  better: install it",
    ]


def test_a_terminal_prints_only_what_is_new(capsys: pytest.CaptureFixture[str]) -> None:
    display = TerminalDisplay()
    display.progress(RUN, "model", "a")
    display.progress(RUN, "model", "ab")
    display.progress(RUN, "sandbox", "ab")
    display.finish(RUN)
    out = capsys.readouterr().out
    assert out.startswith("[the model is writing]\nab\n[running in the sandbox]\n✓ 3.2 s")


def test_no_text_of_others_acts_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    acts = "\x1bc\x1b]0;title\x07\x1b[37;47m\x9b2J\r\u202e"
    step = Step(index=1, messages=(), code=acts, note=acts, decision=NO)
    run = replace(RUN, steps=(step,), context=acts, error=acts, notes=(acts,), sandbox=acts, answer=acts)
    found = ExplorationResult(runs=(run,), failed=(run,), notes=(acts,))
    display = TerminalDisplay()
    display.progress(run, "model", f"x = 1 {acts}")
    display.finish(run)
    display.end(exploration_text(found, 1.0))
    show_text(whole_receipt_text(run))

    assert deceiving_characters(capsys.readouterr().out) == ()
    assert deceiving_characters(receipt_html(run)) == ()


def test_a_note_is_one_line_and_cannot_pass_for_another() -> None:
    forged = "column 'a\n✓ 0.1 s · nothing sent\r\u2028NOT ISOLATED' is 'b'"
    step = Step(index=1, messages=(), code="", note=forged)
    receipt = receipt_of(replace(RUN, notes=(forged,), steps=(step,)))

    assert [text.startswith("column 'a ✓") for text in receipt.attention] == [True]
    assert all(len(text.splitlines()) == 1 for text in (receipt.line, *receipt.attention))
    assert all(len(title.splitlines()) == 1 for title, _ in receipt.details)


def streamed(code_lines: int) -> str:
    return "".join(f"line {n}\n" for n in range(code_lines))


def test_a_cell_beside_the_panel_shows_the_last_lines_only() -> None:
    shown = progress_text(RUN, "model", streamed(300), 7, lines=12).splitlines()
    assert shown[0].endswith("the model is writing · 7 s")
    assert shown[2] == "… 288 lines above"
    assert shown[3:] == [f"line {n}" for n in range(288, 300)]


def test_a_short_text_is_shown_whole() -> None:
    assert progress_text(RUN, "model", streamed(13), 7, lines=12).splitlines()[2:] == streamed(13).splitlines()


def test_a_line_as_long_as_a_data_set_is_cut_too() -> None:
    assert len(progress_text(RUN, "model", "x" * 1_000_000, 7)) < 10_000


@pytest.mark.parametrize(("panel", "kept"), [(True, 12), (False, 40)])
def test_a_cell_is_updated_four_times_a_second_and_at_once_in_another_phase(
    monkeypatch: pytest.MonkeyPatch, panel: bool, kept: int
) -> None:
    shown: list[str] = []
    now = 0.0

    def show(bundle: dict[str, str], **_: object) -> None:
        shown.append(bundle["text/plain"])

    monkeypatch.setattr("jupyter_codeagent.frontend.display.display", show)
    monkeypatch.setattr("jupyter_codeagent.frontend.display.update_display", show)
    notebook = NotebookDisplay(lambda: panel, clock=lambda: now)
    for tick in range(20):  # two seconds of the main thread's ticks
        now = tick / 10
        notebook.progress(RUN, "model", streamed(100 + tick))
    assert 6 <= len(shown) <= 8
    assert shown[-1].count("\nline ") == kept
    notebook.progress(RUN, "sandbox", "x = 1")
    assert shown[-1].endswith("x = 1")


def shown_metadata(monkeypatch: pytest.MonkeyPatch, show: Callable[[NotebookDisplay], None]) -> list[object]:
    shown: list[object] = []

    def keep(bundle: dict[str, str], *, metadata: object, **_: object) -> None:
        shown.append(metadata)

    monkeypatch.setattr("jupyter_codeagent.frontend.display.display", keep)
    monkeypatch.setattr("jupyter_codeagent.frontend.display.update_display", keep)
    show(NotebookDisplay())
    return shown


def test_progress_and_a_note_on_missing_cells_say_until_when_they_hold_and_a_receipt_holds_for_good(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def until(event: str) -> object:
        return {"codeagent": {"run_id": RUN.id, "until": event}}

    def show(notebook: NotebookDisplay) -> None:
        notebook.progress(RUN, "model", "x")
        notebook.finish(replace(RUN, placed="undelivered", notes=("were not inserted",)))
        notebook.finish(replace(RUN, placed="cells"))

    assert shown_metadata(monkeypatch, show) == [until("ended"), until("inserted"), {}]


def test_progress_of_a_program_that_runs_again_names_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def show(notebook: NotebookDisplay) -> None:
        notebook.progress(RUN, "sandbox", "x", recorded=False)

    assert shown_metadata(monkeypatch, show) == [{}]


def test_progress_of_an_exploration_outlives_each_of_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    one = replace(RUN, request=replace(RUN.request, exploration="all"))
    assert shown_metadata(monkeypatch, lambda notebook: notebook.progress(one, "sandbox", "x")) == [{}]
