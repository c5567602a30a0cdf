"""The guard: messages in, outputs out, nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jupyter_client.session import Session

from jupyter_codeagent.sandbox.failures import find_line
from jupyter_codeagent.sandbox.guard import OutputGuard, ValueGuard, one_line
from jupyter_codeagent.sandbox.guest_reports import LoadReport, read_after_cell_report, read_load_report
from jupyter_codeagent.sandbox.local.channels.wire import MalformedMessageError, Received, read_message
from jupyter_codeagent.types.sandbox import Output, SandboxPolicy


def clean(msg_type: str, content: dict[str, Any]) -> tuple[Output | None, tuple[str, ...]]:
    """Lets all through but javascript."""
    if "application/javascript" in content.get("data", {}):
        return None, ("1 output of type application/javascript",)
    return {"output_type": msg_type, **content}, ()  # type: ignore[return-value]


def received(msg_type: str, content: Any, *buffers: bytes) -> Received:
    parts = tuple(memoryview(buffer) for buffer in buffers)
    return Received(msg_type=msg_type, parent_id="1", content=json.dumps(content).encode(), buffers=parts)


def guarded(*messages: Received, **policy: Any) -> OutputGuard:
    guard = OutputGuard(SandboxPolicy(**policy), clean)
    for message in messages:
        guard.handle_iopub(message)
    return guard


def stream(text: str, name: str = "stdout") -> Received:
    return received("stream", {"name": name, "text": text})


def chunk(index: int, count: int, data: bytes, kind: str = "npy", meta: str = "{}") -> Received:
    return received("codeagent_value", {"index": index, "count": count, "kind": kind, "meta": meta}, data)


def test_streams_of_one_name_are_merged_and_others_keep_their_order() -> None:
    outputs = guarded(stream("a"), stream("b"), stream("e", "stderr"), stream("c")).finish()
    assert [(output["name"], output["text"]) for output in outputs if output["output_type"] == "stream"] == [
        ("stdout", "ab"),
        ("stderr", "e"),
        ("stdout", "c"),
    ]


def test_a_cleared_output_is_gone_and_waiting_keeps_it_until_the_next() -> None:
    assert len(guarded(stream("a"), received("clear_output", {"wait": False})).finish()) == 0
    assert len(guarded(stream("a"), received("clear_output", {"wait": True})).finish()) == 1
    outputs = guarded(stream("a"), received("clear_output", {"wait": True}), stream("b")).finish()
    assert [output["text"] for output in outputs if output["output_type"] == "stream"] == ["b"]


@pytest.mark.parametrize("msg_type", ["comm_open", "update_display_data", "input_request", "codeagent_value", "x"])
def test_other_messages_are_dropped_and_noted(msg_type: str) -> None:
    guard = guarded(received(msg_type, {}))
    assert guard.finish() == ()
    assert guard.notes == (f"1 message of type {msg_type} dropped",)


@pytest.mark.parametrize("content", [5, [], {"name": 5, "text": "x"}, {"name": "stdout", "text": {}}, {}])
def test_a_stream_of_wrong_types_is_dropped(content: Any) -> None:
    guard = guarded(received("stream", content), stream("ok"))
    assert len(guard.finish()) == 1
    assert guard.notes == ("1 message malformed dropped",)


def test_deep_json_is_dropped() -> None:
    deep = Received(msg_type="stream", parent_id="1", content=b"[" * 200_000 + b"]" * 200_000)
    assert guarded(deep).notes == ("1 message malformed dropped",)


def test_what_the_cleaner_refuses_is_noted() -> None:
    guard = guarded(received("display_data", {"data": {"application/javascript": "1"}}))
    assert guard.finish() == ()
    assert guard.notes == ("1 output of type application/javascript",)


def test_the_byte_budget_ends_the_outputs_and_says_so() -> None:
    guard = guarded(stream("x" * 600), stream("y" * 600), output_bytes=1000)
    assert "1,000 bytes" in guard.overflow
    assert sum(len(output["text"]) for output in guard.finish() if output["output_type"] == "stream") == 600


def test_the_message_budget_ends_the_outputs_and_says_so() -> None:
    guard = guarded(*[received("display_data", {"data": {}})] * 5, output_messages=3)
    assert "3 outputs" in guard.overflow
    assert len(guard.finish()) == 3


def test_the_error_of_an_interrupt_is_kept_over_the_budget() -> None:
    error = received("error", {"ename": "KeyboardInterrupt", "evalue": "", "traceback": []})
    assert len(guarded(stream("x" * 2000), error, output_bytes=1000).finish()) == 1


def test_reply_and_idle_are_told_apart_and_payloads_dropped() -> None:
    guard = guarded(received("status", {"execution_state": "idle"}))
    assert (guard.idle, guard.reply) == (True, None)
    guard.handle_shell(received("execute_reply", {"status": "ok", "payload": [{"source": "set_next_input"}]}))
    assert guard.reply == "ok"
    assert guard.notes == ("1 message of type payload dropped",)


def test_a_reply_of_unknown_status_is_an_error() -> None:
    guard = guarded()
    guard.handle_shell(received("execute_reply", {"status": ["ok"], "ename": 5, "evalue": "a\x1b[31mb"}))
    assert (guard.reply, guard.error_name, guard.error_value) == ("error", "", "a\N{REPLACEMENT CHARACTER}[31mb")


def test_chunks_in_order_are_put_together() -> None:
    guard = ValueGuard(100)
    for message in (chunk(0, 2, b"ab", meta='{"a": 1}'), chunk(1, 2, b"cd", meta="")):
        guard.handle_iopub(message)
    assert guard.problem == ""
    assert (guard.value().kind, guard.value().meta_json, guard.value().data) == ("npy", '{"a": 1}', b"abcd")


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([], "an incomplete answer"),
        ([chunk(0, 2, b"")], "an incomplete answer"),
        ([chunk(1, 2, b"")], "chunk 1 came instead of chunk 0"),
        ([chunk(0, 2, b""), chunk(0, 2, b"")], "chunk 0 came instead of chunk 1"),
        ([chunk(0, 2, b""), chunk(1, 3, b"")], "chunk 1 came"),
        ([chunk(0, 1, b"", kind="pickle")], "an incomplete answer"),
        ([chunk(0, 1, b"x" * 200_000)], "larger than the limit of 100 bytes"),
        (
            [chunk(0, 1, b"", kind="error", meta="ValueError: \x1bno\nway")],
            "ValueError: \N{REPLACEMENT CHARACTER}no way",
        ),
    ],
)
def test_anything_else_is_no_value(messages: list[Received], problem: str) -> None:
    guard = ValueGuard(100)
    for message in messages:
        guard.handle_iopub(message)
    assert problem in guard.problem


SESSION = Session(key=b"k")


@pytest.mark.parametrize(
    "frames",
    [[b"x"], [b"<IDS|MSG>"], [b"<IDS|MSG>", b"bad", b"{", b"{}", b"{}", b"{}"], [b"<IDS|MSG>"] + [b"\xff"] * 5, []],
)
def test_garbage_frames_are_malformed_and_nothing_else(frames: list[bytes]) -> None:
    with pytest.raises(MalformedMessageError):
        read_message(SESSION, frames)


def test_a_real_message_is_read_with_its_content_unparsed() -> None:
    frames = SESSION.serialize(SESSION.msg("stream", {"name": "stdout"}, parent={"msg_id": "7"}))
    message = read_message(SESSION, frames)
    assert (message.msg_type, message.parent_id, message.parsed()) == ("stream", "7", {"name": "stdout"})


def test_the_sandboxes_variables_are_checked_and_capped() -> None:
    report = {
        "variables": [{"name": "a\x00b", "type_name": "T" * 500, "shape": [1, "x", True], "columns": ["c", 5]}, 7]
        * 60,
        "line": True,
    }
    after = read_after_cell_report(json.dumps(report))
    assert len(after.entries) == 25
    assert after.entries[0].name == "a\N{REPLACEMENT CHARACTER}b"
    assert len(after.entries[0].type_name) == 101
    assert after.entries[0].shape == (1,)
    assert after.entries[0].columns == ("c",)
    assert after.line is None


@pytest.mark.parametrize(
    ("line", "read"), [(3, 3), (0, 1), (-3, 1), ("3", 1), pytest.param(10**4300 - 1, 1, id="huge")]
)
def test_the_line_of_a_step_is_a_number_that_can_be_written(line: object, read: int) -> None:
    report = {"operations": [{"kind": "filter", "name": "query", "line": line}], "line": line}
    after = read_after_cell_report(json.dumps(report))
    assert f"{after.operations[0].line + 1}" == f"{read + 1}"
    assert after.line in (None, 3)


@pytest.mark.parametrize("text", ["", "[]", "5", "[" * 100_000])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_after_cell_report(text)


def test_the_line_counts_the_blank_lines_that_ipython_removes() -> None:
    assert find_line("\n  \nx = 1\n1/0\n", 2) == (4, "1/0")
    assert find_line("1/0", 1) == (1, "1/0")
    assert find_line("1/0", 9) == (None, "")
    assert find_line("1/0", None) == (None, "")


def test_text_for_one_line_holds_no_control_characters() -> None:
    assert (
        one_line("a\x1b]52;c;x\x07\nb\u202e", 100)
        == "a\N{REPLACEMENT CHARACTER}]52;c;x\N{REPLACEMENT CHARACTER} b\N{REPLACEMENT CHARACTER}"
    )


def test_what_was_loaded_is_told_by_name() -> None:
    report = {"errors": {"df": "TypeError: x"}, "missing": {"import x": "ModuleNotFoundError"}}
    assert read_load_report(json.dumps(report)) == LoadReport(**report)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        "1" * 10_000,
        '{"errors": [], "missing": {}}',
        '{"errors": {}, "missing": {"a": 1}}',
        '{"errors": {"a": {}}, "missing": {}}',
    ],
)
def test_an_answer_that_does_not_say_what_was_loaded_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (of whichever kind: the caller makes one line of it)
        read_load_report(text)


def test_operations_of_a_hostile_sandbox_are_cleaned_capped_and_left_out_where_they_make_no_sense() -> None:
    good = {
        "kind": "filter",
        "name": "query\x1b[31m",
        "detail": "a" * 500,
        "line": 3,
        "rows": [10, 4],
        "columns": [2, "x"],
        "facts": [{"kind": "skipped", "count": 2, "label": "a\nb"}, {"kind": "unheard of"}, 5],
        "examples": {"title": "rows left out", "columns": ["a", 3], "rows": [["<b>", None], "x", ["1"] * 99] * 9},
        "times": -1,
    }
    report = {"operations": [good, {"kind": "nonsense"}, 7, *[good] * 500], "not_observed": "x" * 5000}
    after = read_after_cell_report(json.dumps(report))
    assert len(after.operations) <= 60
    assert len(after.not_observed) <= 101
    first = after.operations[0]
    assert "\x1b" not in first.name
    assert (len(first.detail), first.rows, first.columns, first.times) == (121, (10, 4), None, 1)
    assert [(one.kind, one.count, one.label) for one in first.facts] == [("skipped", 2, "a b")]
    assert first.examples is not None
    assert first.examples.columns == ("a", "")
    assert len(first.examples.rows) == 5
    assert all(len(row) <= 6 for row in first.examples.rows)
