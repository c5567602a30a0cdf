"""What is new of a growing text, and that nothing is lost by a page that can ask for all of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from jupyter_codeagent.frontend.progress import Part, TextStream
from jupyter_codeagent.session.recorder import RunRecorder
from jupyter_codeagent.types.run import AgentRequest, AgentRun
from jupyter_codeagent.types.sandbox import ToolCall

RUN = AgentRun(id="r", request=AgentRequest(prompt="", model="m", server="s"), status="running", started_at=0.0)


def put_together(known: str, part: Part) -> str:
    """As the page does, which counts in UTF-16 units."""
    kept = known.encode("utf-16-le")[: 2 * part.offset].decode("utf-16-le")
    return kept + part.text


@pytest.mark.parametrize("texts", [["a", "ab", "abc"], ["", "```", "```python\nx"], ["🙂", "🙂é", "🙂é🙂b"]])
def test_only_what_is_new_is_sent_and_makes_the_whole_with_what_came_before(texts: list[str]) -> None:
    stream, known = TextStream(), ""
    for before, text in zip(["", *texts], texts, strict=False):
        part = stream.next_part("model", text)
        known = put_together(known, part)
        assert (known, part.text) == (text, text.removeprefix(before))


def test_a_text_that_does_not_go_on_begins_another_stream_with_all_of_it() -> None:
    stream = TextStream()
    first = stream.next_part(("model", 1), "abc")
    again = stream.next_part(("model", 1), "xbc")
    later = stream.next_part(("model", 2), "xbc and more")
    assert len({first.stream, again.stream, later.stream}) == 3
    assert [part.offset for part in (first, again, later)] == [0, 0, 0]
    assert later.text == "xbc and more"


def test_the_whole_text_for_one_page_leaves_the_others_where_they_are() -> None:
    stream = TextStream()
    others = put_together("", stream.next_part("model", "abc"))
    whole = stream.whole("abcde")
    assert whole == Part(stream=1, offset=0, text="abcde")
    part = stream.next_part("model", "abcdef")
    assert part.stream == whole.stream
    assert put_together(others, part) == put_together(whole.text, part) == "abcdef"


def test_what_the_model_wrote_before_a_pause_is_told_within_the_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_codeagent.session.recorder.PROGRESS_INTERVAL_S", 0.01)
    link = Mock()

    async def stream() -> None:
        recorder = RunRecorder(RUN, Mock(), link)
        for length in range(1, 31):
            recorder.progress(RUN, "model", "x" * length)
        all_told = asyncio.Event()

        def told(message: dict[str, Any]) -> None:
            if message["offset"] + len(message["text"]) == 30:
                all_told.set()

        link.send.side_effect = told
        await asyncio.wait_for(all_told.wait(), 10)
        assert recorder.whole_progress()["text"] == "x" * 30

    asyncio.run(stream())
    assert len(sent(link)) < 30


def test_a_run_that_has_ended_tells_no_more_of_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_codeagent.session.recorder.PROGRESS_INTERVAL_S", 0.01)
    # Its clock stands still: on a busy machine the interval would be over before the second text comes.
    monkeypatch.setattr("jupyter_codeagent.session.recorder.time", Mock(monotonic=lambda: 5.0))
    link = Mock()

    async def stream() -> None:
        recorder = RunRecorder(RUN, Mock(), link)
        recorder.progress(RUN, "model", "a")
        recorder.progress(RUN, "model", "ab")
        recorder.changed(replace(RUN, status="stopped", ended_at=1.0))
        await asyncio.sleep(0.05)

    asyncio.run(stream())
    assert [message["text"] for message in sent(link)] == ["a"]


def sent(link: Mock) -> list[dict[str, Any]]:
    """The progress among what was sent."""
    messages = [cast("dict[str, Any]", call.args[0]) for call in link.send.call_args_list]
    return [message for message in messages if message["type"] == "progress"]


def test_calls_are_shown_while_their_program_runs_and_not_while_the_model_writes_the_next_one() -> None:
    recorder = RunRecorder(RUN, Mock(), None)
    recorder.progress(RUN, "sandbox")
    recorder.called(tuple(ToolCall(tool="f", call=f"f({n})", status="ok") for n in range(30)))
    shown = recorder.whole_progress()
    assert ([call["call"] for call in shown["calls"]][-1], len(shown["calls"]), shown["call_count"]) == (
        "f(29)",
        20,
        30,
    )
    recorder.progress(RUN, "model")
    assert (recorder.whole_progress()["calls"], recorder.whole_progress()["call_count"]) == ([], 0)
