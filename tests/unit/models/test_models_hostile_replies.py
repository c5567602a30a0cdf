"""What a model server can send: without an end, of any shape, with anything in it. A reply or one `ModelError`."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_server import MODEL, ModelServer, Reply
from openai import AsyncOpenAI

from jupyter_codeagent.models import openai_model, reply_timeout, simple_http
from jupyter_codeagent.models.embedded.speed import read_metrics
from jupyter_codeagent.models.embedded.state import ServerState
from jupyter_codeagent.models.events import read_events
from jupyter_codeagent.models.listing import fetch_model_list
from jupyter_codeagent.models.openai_model import OpenAIModel
from jupyter_codeagent.models.parsing import (
    MAX_COUNT,
    Chunk,
    count,
    is_displayable_name,
    parse_chunk,
    parse_error_body,
    parse_models,
    parse_token_count,
    printable_line,
)
from jupyter_codeagent.models.reply import Replies, TooMuchTextError
from jupyter_codeagent.models.tokens import TokenCounter, Tokenizer, estimate_tokens
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import BadReplyError, ModelError, ModelTimeoutError, ModelUnreachableError
from jupyter_codeagent.types.messages import Completion, CompletionRequest, Message, Usage

KEY = "sk-the-users-own-secret"
REQUEST = CompletionRequest(messages=(Message(role="user", content="How many?"),), max_tokens=64)
MIB = 1 << 20
SOON_S = 20
"""Far less than a server can take that sends on for ever, far more than a busy machine takes."""


def ask(server: ModelServer, request: CompletionRequest = REQUEST, *, read_timeout_s: float = 30.0) -> Completion:
    model = OpenAIModel(
        name=MODEL,
        base_url=server.url,
        api_key=KEY,
        settings=ModelSettings(connect_timeout_s=10.0, read_timeout_s=read_timeout_s),
        supports_prefill=False,
    )
    return asyncio.run(model.complete(request, on_text=lambda _: None, is_complete=lambda _: False))


def refused(server: ModelServer, kind: type[ModelError] = ModelError, **options: Any) -> str:
    """The one line of the error that must come soon."""
    started = time.monotonic()
    with pytest.raises(kind) as raised:
        ask(server, **options)
    assert time.monotonic() - started < SOON_S
    line = str(raised.value)
    assert "\n" not in line
    assert line.isprintable()
    assert len(line) < 600
    assert KEY not in line
    return line


def event(chunk: Any) -> str:
    return f"data: {json.dumps(chunk)}\n\n"


def chunk(delta: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}], **more}


ENDS = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
DONE = "data: [DONE]\n\n"


@contextmanager
def little_memory(limit_bytes: int) -> Iterator[None]:
    """At no moment more than this is held beyond what there was, by Python objects."""
    assert AsyncOpenAI(api_key="-").chat.completions  # loaded at its first use, 20 MB
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit_bytes
    finally:
        tracemalloc.stop()


# --- without an end -------------------------------------------------------------------------------


def test_more_text_than_the_tokens_can_be_is_not_taken(model_server: ModelServer) -> None:
    model_server.script(Reply(raw=event(chunk({"content": "x" * 700_000})) + event(ENDS) + DONE))
    assert "overlooks max_tokens" in refused(model_server, BadReplyError)


def test_text_without_an_end_is_closed_soon_and_costs_little(model_server: ModelServer) -> None:
    model_server.script(Reply(endless=event(chunk({"content": "word " * 20})).encode()))
    with little_memory(8 * MIB):
        assert "overlooks max_tokens" in refused(model_server)
    model_server.wait_for_hang_up(SOON_S)
    assert model_server.hung_up == 1


def test_long_tokens_within_the_limit_are_taken(model_server: ModelServer) -> None:
    text = "x" * 16 * REQUEST.max_tokens
    model_server.script(Reply(raw=event(chunk({"content": text})) + event(ENDS) + DONE))
    assert ask(model_server).text == text


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_thoughts_without_an_end_are_too_much_text(model_server: ModelServer, key: str) -> None:
    model_server.script(Reply(endless=event(chunk({key: "hm " * 20})).encode()))
    assert "overlooks max_tokens" in refused(model_server)


@pytest.mark.parametrize(
    "chunk",
    [chunk({"content": ""}), chunk({}), {"choices": []}, {"choices": [], "usage": {"completion_tokens": 1}}, {}],
    ids=["empty text", "no text", "no choice", "counts", "nothing"],
)
def test_only_text_keeps_a_reply_open(model_server: ModelServer, chunk: Any) -> None:
    model_server.script(Reply(endless=event(chunk).encode(), endless_s=0.02))
    assert "sent no text for 0.5 s" in refused(model_server, ModelTimeoutError, read_timeout_s=0.5)


def test_empty_parts_without_a_pause_are_given_up_by_their_number(model_server: ModelServer) -> None:
    model_server.script(Reply(endless=event(chunk({"content": ""})).encode() * 50))
    assert "far more parts" in refused(model_server, BadReplyError)


@pytest.mark.parametrize("key", ["content", "reasoning_content"])
def test_slow_text_and_slow_thoughts_are_progress(model_server: ModelServer, key: str) -> None:
    slow = "".join(event(chunk({key: "more "})) for _ in range(2))
    model_server.choose = lambda _: Reply(text="fine", piece_s=0.3)
    assert ask(model_server, read_timeout_s=5.0).text == "fine"
    model_server.choose = lambda _: Reply(raw=slow + event(chunk({"content": "done"})) + event(ENDS) + DONE)
    assert ask(model_server).text.endswith("done")


def test_a_reply_that_always_says_a_little_more_has_a_limit_for_the_whole(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_timeout, "READ_TIMEOUTS", 2)
    model_server.script(Reply(endless=event(chunk({"content": "a"})).encode(), endless_s=0.1))
    line = refused(model_server, ModelTimeoutError, read_timeout_s=0.6)
    assert "still writing after 1.2 s, the limit for a whole reply" in line


def test_a_reply_that_has_ended_is_taken_although_its_server_keeps_the_stream_open(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_model, "USAGE_WAIT_AFTER_END_S", 0.3)
    whole = event(chunk({"content": "all of it"})) + event(ENDS)
    model_server.script(Reply(endless=whole.encode(), endless_s=0.05))
    completion = ask(model_server)
    assert (completion.text, completion.finish_reason) == ("all of it", "stop")


def test_an_error_with_an_endless_body_is_told_by_its_beginning(model_server: ModelServer) -> None:
    model_server.script(Reply(status=400, endless=b"no such thing " * 5000, content_type="text/plain"))
    with little_memory(8 * MIB):
        line = refused(model_server, BadReplyError)
    assert "(400): no such thing" in line


def test_an_error_whose_body_drips_is_given_up(model_server: ModelServer) -> None:
    model_server.script(Reply(status=500, endless=b"x", endless_s=0.02))
    model = OpenAIModel(
        name=MODEL,
        base_url=model_server.url,
        api_key="",
        settings=ModelSettings(connect_timeout_s=0.2, read_timeout_s=0.5),
        supports_prefill=False,
    )
    started = time.monotonic()
    with pytest.raises(ModelTimeoutError):
        asyncio.run(model.complete(REQUEST, on_text=lambda _: None, is_complete=lambda _: False))
    assert time.monotonic() - started < SOON_S


@pytest.mark.parametrize(
    "line", [b"data: " + b"x" * 65536, b": " + b"x" * 65536, b"x" * 65536], ids=["data", "a comment", "neither"]
)
def test_a_line_without_an_end_is_given_up_after_a_mebibyte(model_server: ModelServer, line: bytes) -> None:
    model_server.script(Reply(endless=line))
    with little_memory(16 * MIB):
        assert "a piece of more than 1,048,576 bytes" in refused(model_server, BadReplyError)


def test_an_event_of_many_lines_is_given_up_as_well(model_server: ModelServer) -> None:
    model_server.script(Reply(endless=b"data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n" * 5000))
    assert "a piece of more than 1,048,576 bytes" in refused(model_server, BadReplyError)


def test_comments_without_a_pause_are_given_up_by_their_bytes(model_server: ModelServer) -> None:
    model_server.script(Reply(endless=b": still here\n\n" * 5000))
    assert "bytes in one reply, the limit" in refused(model_server, BadReplyError)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate, gzip", "x\x9b31mgzip"])
@pytest.mark.parametrize("status", [200, 400])
def test_a_compressed_reply_is_refused_unread(model_server: ModelServer, encoding: str, status: int) -> None:
    bomb = gzip.compress(b"data: " + bytes(50 * MIB))
    model_server.script(Reply(status=status, endless=bomb, endless_s=0.01, encoding=encoding))
    with little_memory(8 * MIB):
        assert "compressed" in refused(model_server, BadReplyError)
    assert model_server.headers[-1]["accept-encoding"] == "identity"


# --- small requests -------------------------------------------------------------------------------


@contextmanager
def dripping(head: bytes) -> Iterator[str]:
    """A server that sends these bytes one by one, slowly, and then the last again and again."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            with suppress(OSError):
                caller, _ = listener.accept()
                with caller:
                    for at in range(1 << 20):
                        caller.sendall(head[at : at + 1] or b"x")
                        time.sleep(0.02)

        thread = threading.Thread(target=drip)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    thread.join(SOON_S)
    assert not thread.is_alive(), "it is still listened to"


@pytest.mark.parametrize(
    "head",
    [b"H", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 500 No\r\n\r\n"],
    ids=["status", "headers", "body", "error"],
)
def test_a_list_of_models_that_drips_ends_with_the_limit(head: bytes) -> None:
    started = time.monotonic()
    with dripping(head) as url, suppress(ModelError):
        assert fetch_model_list(url, "", timeout_s=0.5) is None
    assert time.monotonic() - started < SOON_S


def test_a_list_of_models_without_an_end_is_given_up(model_server: ModelServer) -> None:
    model_server.get = Reply(endless=b" " * 65536)
    with little_memory(24 * MIB):
        assert fetch_model_list(model_server.url, "", timeout_s=60) is None


def test_a_compressed_list_of_models_is_none(model_server: ModelServer) -> None:
    model_server.get = Reply(raw=json.dumps({"data": [{"id": "m"}]}), encoding="gzip")
    assert fetch_model_list(model_server.url, "", timeout_s=10) is None
    model_server.get = Reply(raw=json.dumps({"data": [{"id": "m"}]}), encoding="identity")
    listed = fetch_model_list(model_server.url, "", timeout_s=10)
    assert listed is not None
    assert [model.name for model in listed] == ["m"]


@pytest.mark.parametrize("tokens", [10**30, -1, float("nan"), float("inf"), True, "7", None, [7], 10**6])
def test_a_tokenizer_that_says_what_cannot_be_is_not_believed(model_server: ModelServer, tokens: Any) -> None:
    model_server.tokenizer = lambda _: {"count": tokens}
    tokenizer = Tokenizer(url=model_server.url.removesuffix("/v1"), model="m")
    counted = TokenCounter().count("How many?", tokenizer)
    assert (counted.tokens, counted.counted) == (estimate_tokens("How many?"), False)


def test_figures_of_a_servers_own_are_read_as_far_as_they_are_figures(model_server: ModelServer) -> None:
    lines = (
        "# HELP llamacpp:x y\nllamacpp:tokens_predicted_total 120\n"
        "llamacpp:tokens_predicted_seconds_total 1.5e+01\n"
        "llamacpp:a nan\nllamacpp:b 1 2\nllamacpp:c\nllamacpp:d 0x10\nother:e 1\nllamacpp:f -1\n"
    )
    model_server.get = Reply(raw=lines)
    state = ServerState(pid=1, started="", url=model_server.url.removesuffix("/v1"))
    assert read_metrics(state, timeout_s=10) == {
        "tokens_predicted_total": 120,
        "tokens_predicted_seconds_total": 15,
    }


def test_the_limits_of_small_requests_are_those_that_are_promised() -> None:
    assert simple_http.MAX_BYTES == 4 * MIB


# --- of any shape ---------------------------------------------------------------------------------

SHAPES: dict[str, Any] = {
    "delta null": chunk(None),
    "delta a list": chunk([]),
    "delta text": chunk("x"),
    "choices null": {"choices": None},
    "choices an object": {"choices": {"0": {"delta": {"content": "x"}}}},
    "choices of null": {"choices": [None]},
    "choices of lists": {"choices": [[]]},
    "content a list": chunk({"content": [{"type": "text", "text": "x"}]}),
    "content a number": chunk({"content": 7}),
    "content an object": chunk({"content": {}}),
    "content false": chunk({"content": False}),
    "a list": [],
    "null": None,
    "a number": 7,
    "text": "x",
    "timings text": chunk({"content": "x"}, timings="fast"),
    "timings of text": chunk({"content": "x"}, timings={"prompt_n": "many", "predicted_n": None}),
    "usage text": chunk({"content": "x"}, usage="some"),
    "usage a list": chunk({"content": "x"}, usage=[1]),
    "usage of text": chunk({"content": "x"}, usage={"prompt_tokens": "7", "prompt_tokens_details": "x"}),
    "usage of lists": chunk({"content": "x"}, usage={"prompt_tokens": [7], "prompt_tokens_details": [1]}),
    "NaN": chunk({"content": "x"}, usage={"prompt_tokens": float("nan"), "completion_tokens": float("inf")}),
    "negative": chunk({"content": "x"}, usage={"prompt_tokens": -5, "completion_tokens": -1e300}),
    "huge": chunk({"content": "x"}, usage={"prompt_tokens": 10**30, "completion_tokens": 1e300}),
    "true": chunk({"content": "x"}, usage={"prompt_tokens": True, "completion_tokens": False}),
    "index text": {"choices": [{"index": "0", "delta": {"content": "x"}}]},
    "index huge": {"choices": [{"index": 10**30, "delta": {"content": "x"}}]},
    "finish a number": {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": 7}]},
    "finish an object": {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": {}}]},
    "error text": {"error": "out of memory"},
    "error a list": {"error": [1, {"a": None}]},
    "error a number": {"error": 500},
    "error of objects": {"error": {"message": {"a": 1}, "code": {"b": 2}, "type": [3]}},
    "a lone surrogate": chunk({"content": "a\ud800b"}),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("several", [1, 3])
def test_a_part_of_an_odd_shape_gives_a_reply_with_sane_counts_or_one_error(
    model_server: ModelServer, shape: str, several: int
) -> None:
    text = event(chunk({"content": "before "})) + event(SHAPES[shape]) + event(ENDS) + DONE
    model_server.script(Reply(raw=text))
    model = OpenAIModel(
        name=MODEL, base_url=model_server.url, api_key=KEY, settings=ModelSettings(), supports_prefill=False
    )
    with suppress(ModelError):
        came = asyncio.run(model.sample(REQUEST, several, on_text=lambda _: None, is_complete=lambda _: False))
        assert_whole(came, several)


def assert_whole(came: Sequence[Completion], several: int) -> None:
    assert len(came) == several
    assert came[0].text.startswith("before ")
    came[0].text.encode()
    for reply in came:
        assert_sane(reply.usage)


def assert_sane(usage: Usage) -> None:
    counts = (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.calls)
    assert all(type(number) is int and 0 <= number <= MAX_COUNT for number in counts)


@pytest.mark.parametrize(
    ("value", "sane"),
    [
        (7, 7),
        (7.9, 7),
        (0, 0),
        (-1, 0),
        (10**30, MAX_COUNT),
        (1e300, MAX_COUNT),
        (-1e300, 0),
        (float("nan"), 0),
        (float("inf"), 0),
        (True, 0),
        ("7", 0),
        (None, 0),
        ([7], 0),
        ({}, 0),
    ],
)
def test_a_count_is_a_whole_number_within_what_can_be(value: Any, sane: int) -> None:
    assert count(value) == sane


NUMBERS = st.one_of(st.integers(), st.floats(), st.sampled_from([10**30, -(10**30), 1e308]))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=12,
)
"""Anything; beside it, what looks nearly right."""


def nearly(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object with these fields, each of which may be missing or anything."""
    return st.fixed_dictionaries({}, optional={name: st.one_of(made, JSON) for name, made in fields.items()})


USAGE = nearly(
    prompt_tokens=NUMBERS, completion_tokens=NUMBERS, prompt_tokens_details=nearly(cached_tokens=NUMBERS)
)
CALL = nearly(name=st.text(max_size=5), arguments=st.text(max_size=30))
CHOICE = nearly(
    index=st.integers(-1, 3),
    delta=nearly(
        content=st.text(max_size=30),
        reasoning_content=st.text(max_size=30),
        tool_calls=st.lists(nearly(function=CALL), max_size=2),
        function_call=CALL,
    ),
    finish_reason=st.sampled_from([None, "stop", "length", "tool_calls"]),
)
CHUNKS = nearly(
    choices=st.lists(CHOICE, max_size=3),
    usage=USAGE,
    timings=nearly(cache_n=NUMBERS, prompt_n=NUMBERS, predicted_n=NUMBERS),
    error=nearly(message=st.text(), code=NUMBERS, type=st.text()),
)


@given(chunks=st.lists(st.one_of(CHUNKS, JSON), max_size=6), several=st.integers(1, 3))
@settings(max_examples=settings().max_examples * 3)
def test_any_json_as_a_stream_gives_replies_with_sane_counts_or_one_error(chunks: list[Any], several: int) -> None:
    replies = Replies(several, "", 10)
    try:
        for chunk in chunks:
            parsed = parse_chunk(json.dumps(chunk), "here", KEY)
            assert isinstance(parsed, Chunk)
            replies.add(parsed)
    except (BadReplyError, TooMuchTextError):
        return
    for usage in replies.usages():
        assert_sane(usage)
    for reply in replies.arrived:
        reply.text.encode()


@given(body=st.one_of(st.binary(max_size=200), JSON.map(lambda value: json.dumps(value).encode())))
@settings(max_examples=settings().max_examples * 3)
def test_any_body_as_list_error_or_count_is_read_or_is_none(body: bytes) -> None:
    said = parse_error_body(body, KEY)
    assert said.summary.isprintable()
    for model in parse_models(body) or ():
        assert is_displayable_name(model.name)
    assert parse_token_count(body, "text") in (None, *range(1, 30))


@given(
    entries=st.lists(
        nearly(
            id=st.text(max_size=300),
            owned_by=st.sampled_from(["vllm", "llamacpp"]),
            max_model_len=NUMBERS,
            meta=nearly(n_ctx=NUMBERS),
        ),
        max_size=4,
    )
)
def test_any_list_of_models_has_names_that_can_be_shown_and_contexts_that_can_be(entries: list[Any]) -> None:
    for model in parse_models(json.dumps({"data": entries}).encode()) or ():
        assert is_displayable_name(model.name)
        assert type(model.context_tokens) is int
        assert 0 <= model.context_tokens <= MAX_COUNT


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"choices":['])
def test_json_nested_beyond_reading_is_no_json(model_server: ModelServer, opening: str) -> None:
    deep = opening * 80_000
    model_server.script(Reply(raw=f"data: {deep}\n\n"))
    assert "not JSON" in refused(model_server, BadReplyError)
    assert parse_models(deep.encode()) is None
    assert parse_error_body(deep.encode(), "").summary
    assert parse_token_count(deep.encode(), "x") is None


@given(
    text=st.lists(st.sampled_from(["data: a", "data:b", "", ":c", "x", "data", "\r"]), max_size=12), cut=st.data()
)
def test_a_stream_is_cut_into_the_same_events_wherever_its_bytes_are_cut(text: list[str], cut: Any) -> None:
    whole = "\n".join(text).encode()
    cuts = sorted(cut.draw(st.lists(st.integers(0, len(whole)), max_size=4)))

    async def events(pieces: list[bytes]) -> list[str]:
        async def come() -> Any:
            for piece in pieces:
                yield piece

        return [event async for event in read_events(come(), where="here", max_bytes=1000)]

    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert asyncio.run(events(pieces)) == asyncio.run(events([whole]))


# --- with anything in it --------------------------------------------------------------------------

TRICKS = {
    "clipboard": "\x1b]52;c;cm0gLXJmIH4=\x07",
    "title": "\x1b]0;owned\x07",
    "screen": "\x1b[2J\x1b[H",
    "C1": "\x9b31m",
    "bidi": "\u202egnp.exe\u2066",
    "tags": "\U000e0041",
    "lines": "a\u2028b\nc\rd",
    "NUL": "\x00",
}


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_a_servers_words_are_one_line_without_what_deceives(
    model_server: ModelServer, trick: str, status: int
) -> None:
    model_server.script(Reply(status=status, message=f"bad {TRICKS[trick]}{KEY} thing"))
    line = refused(model_server)
    assert status == 404 or all(word in line for word in ("bad", "thing"))  # of a 404 the models are told


@pytest.mark.parametrize("trick", TRICKS)
def test_an_error_in_the_stream_and_a_content_type_are_cleaned_as_well(
    model_server: ModelServer, trick: str
) -> None:
    model_server.script(Reply(error={"message": f"bad {TRICKS[trick]} thing", "code": TRICKS[trick]}))
    assert "aborted" in refused(model_server)
    model_server.script(Reply(content_type="text/x\x9b31m\u00a0y", raw="x"))
    assert "in place of a stream" in refused(model_server, BadReplyError)


def test_a_key_that_controls_have_torn_apart_is_taken_out_all_the_same() -> None:
    torn = f"{KEY[:5]}\x1b[0m{KEY[5:9]}\x00{KEY[9:]}"
    assert KEY not in printable_line(f"bad {torn} thing", KEY)
    assert printable_line(f"bad {torn}", KEY) == "bad ***"
    assert KEY[:10] not in printable_line("x" * 1990 + KEY, KEY)


@pytest.mark.parametrize("trick", [*TRICKS, "long", "empty"])
def test_a_model_by_a_name_that_cannot_be_shown_does_not_count(trick: str) -> None:
    name = {"long": "m" * 201, "empty": ""}.get(trick, f"qwen{TRICKS.get(trick, '')}3")
    listed = parse_models(json.dumps({"data": [{"id": name}, {"id": "qwen-3:30b (äö)"}]}).encode())
    assert listed is not None
    assert [model.name for model in listed] == ["qwen-3:30b (äö)"]


def test_a_server_that_closes_in_the_midst_is_cut_off(model_server: ModelServer) -> None:
    model_server.script(Reply(raw="data: {}\n\ndata: {"))
    assert "cut off" in refused(model_server, ModelUnreachableError)
