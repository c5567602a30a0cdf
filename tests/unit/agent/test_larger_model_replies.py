"""Replies in the manner of larger open models (own text), and the share of them whose program comes out."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from jupyter_codeagent.agent.model_step import is_enough
from jupyter_codeagent.agent.reply.extract import extract_code
from jupyter_codeagent.models.parsing import parse_chunk
from jupyter_codeagent.models.reply import Reply

REPLIES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("larger_model_replies.json").read_text(encoding="utf-8")
)
"""The `manner`, the text (`reply`) or the fields of the stream (`deltas`), and the `program`."""
WANTED = 0.99
PIECE = 7
"""Characters of text in one part of a stream."""


def parts(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts in which a server sends the reply."""
    if "deltas" in row:
        return list(row["deltas"])
    text = row["reply"]
    return [{"content": text[at : at + PIECE]} for at in range(0, len(text), PIECE)]


def received(row: dict[str, Any], *, closed_early: bool) -> str:
    """Return the text that is read from the stream, which may be closed when the program is complete."""
    reply = Reply(prefill="", max_tokens=4000)
    for delta in parts(row):
        event = json.dumps({"choices": [{"index": 0, "delta": delta}]})
        for choice in parse_chunk(event, "the server", "").choices:
            reply.add(choice)
        if closed_early and is_enough(reply.text):
            break
    return reply.text


def same_program(code: str, program: str) -> bool:
    return ast.dump(ast.parse(code)) == ast.dump(ast.parse(program))


def misses(*, closed_early: bool) -> list[str]:
    found = [(row, extract_code(received(row, closed_early=closed_early))) for row in REPLIES]
    return [
        f"{row['manner']}: {one.problem or one.code}"
        for row, one in found
        if not same_program(one.code, row["program"])
    ]


def test_there_are_many_replies_of_different_manners() -> None:
    assert len({row["manner"] for row in REPLIES}) == len(REPLIES) >= 120


def test_the_programs_of_at_least_99_percent_come_out() -> None:
    missed = misses(closed_early=False)
    assert len(missed) <= (1 - WANTED) * len(REPLIES), "\n".join(missed)


def test_so_they_do_where_the_stream_is_closed_when_the_program_is_complete() -> None:
    missed = misses(closed_early=True)
    assert len(missed) <= (1 - WANTED) * len(REPLIES), "\n".join(missed)
