"""`jupyter_codeagent.display`: one honest line, folded details, nothing unescaped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jupyter_codeagent.display import (
    NotebookDisplay,
    TerminalDisplay,
    progress_text,
    receipt_html,
    receipt_line,
    size_text,
    status_text,
)
from jupyter_codeagent.values import (
    AgentRequest,
    AgentRun,
    CopiedVariable,
    ExecutionError,
    ExecutionResult,
    Manifest,
    Message,
    SandboxStatus,
    SkippedVariable,
    Step,
    Usage,
)

RUN = AgentRun(
    id="abc123",
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
    usage=Usage(prompt_tokens=210, completion_tokens=31, cached_tokens=180, calls=1),
)


def test_the_receipt_says_what_was_copied_and_what_was_sent_and_to_whom() -> None:
    assert receipt_line(RUN) == (
        "✓ ok · qwen · 1 step · 210 in, 180 cached, 31 out · 3.2 s · bubblewrap, no network · "
        "copied df (3.0 MiB) · sent names, types and statistics to 127.0.0.1:8080 on this machine"
    )


def test_a_remote_server_is_called_remote() -> None:
    remote = replace(RUN, request=replace(RUN.request, server="models.example.org", remote=True))
    assert "to REMOTE models.example.org" in receipt_line(remote)


def test_a_failed_run_says_why_below_the_line() -> None:
    failed = replace(RUN, status="failed", error="No working code within 4 steps.")
    assert receipt_line(failed).endswith("\nNo working code within 4 steps.")
    assert receipt_line(failed).startswith("✗ failed")


def test_nothing_was_sent_if_the_model_was_not_asked() -> None:
    assert "nothing sent" in receipt_line(replace(RUN, usage=Usage()))


def test_a_receipt_does_not_say_that_nothing_was_sent_when_the_model_was_asked_and_did_not_answer() -> None:
    asked = Step(index=1, messages=(Message(role="user", content="the columns of df"),))
    line = receipt_line(replace(RUN, status="stopped", usage=Usage(), steps=(asked,)))
    assert "may have sent names, types and statistics to" in line
    assert "nothing sent" not in line


def test_the_details_tell_what_was_sent_what_was_copied_and_each_attempt() -> None:
    error = ExecutionError(ename="KeyError", evalue="'Revenu'")
    attempt = Step(index=1, messages=(), code="df['Revenu']", result=ExecutionResult(status="error", error=error))
    html = receipt_html(replace(RUN, steps=(attempt, *RUN.steps)))
    for told in (
        "df: DataFrame 3x1",
        "con: not copied",
        "df[&#x27;Revenu&#x27;]",
        "KeyError",
        "<details>",
        "abc123",
    ):
        assert told in html


def test_text_of_the_model_and_of_the_sandbox_is_escaped() -> None:
    evil = "<script>alert(1)</script>"
    step = Step(index=1, messages=(), code=evil, note=evil)
    html = receipt_html(replace(RUN, steps=(step,), context=evil, error=evil, notes=(evil,), sandbox=evil))
    assert "<script" not in html


def test_code_that_ran_without_isolation_says_so_in_bold() -> None:
    assert "NOT ISOLATED: the code ran without a sandbox" in receipt_html(replace(RUN, sandbox="NOT ISOLATED"))
    assert "NOT ISOLATED" not in receipt_html(RUN)


@pytest.mark.parametrize(("size", "text"), [(1, "1 KiB"), (3 << 20, "3.0 MiB"), (5 << 30, "5.0 GiB")])
def test_sizes_are_short(size: int, text: str) -> None:
    assert size_text(size) == text


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
        "  closed (probed from inside): tcp",
        "  not hidden: host name",
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
    assert out.startswith("[the model is writing]\nab\n[running in the sandbox]\n✓ ok")


def test_a_weaker_level_is_told_by_the_receipt() -> None:
    assert "landlock, no network" in receipt_line(replace(RUN, sandbox="landlock, no network"))


def test_the_receipt_says_when_results_were_sent_too() -> None:
    twice = replace(RUN, usage=replace(RUN.usage, calls=2))
    assert "statistics, and what the code showed to 127.0.0.1:8080" in receipt_line(twice)


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

    monkeypatch.setattr("jupyter_codeagent.display.display", show)
    monkeypatch.setattr("jupyter_codeagent.display.update_display", show)
    notebook = NotebookDisplay(lambda: panel, clock=lambda: now)
    for tick in range(20):  # two seconds of the main thread's ticks
        now = tick / 10
        notebook.progress(RUN, "model", streamed(100 + tick))
    assert 6 <= len(shown) <= 8
    assert shown[-1].count("\nline ") == kept
    notebook.progress(RUN, "sandbox", "x = 1")
    assert shown[-1].endswith("x = 1")
