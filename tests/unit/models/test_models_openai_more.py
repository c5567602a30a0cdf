"""More of `jupyter_codeagent.models.openai_model`: counts, prefills, picky servers, rarer faults, who gets what."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from model_server import ModelServer, Reply, code, serving

from jupyter_codeagent.models.openai_model import OpenAIModel
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import (
    BadReplyError,
    ContextTooLongError,
    ModelError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnreachableError,
)
from jupyter_codeagent.types.messages import Completion, CompletionRequest, Message, Usage

KEY = "sk-the-users-own-secret"
REQUEST = CompletionRequest(messages=(Message(role="user", content="How many?"),), stop=("\nOutput:",), seed=7)
PREFILL = "```python\n# df is already loaded\n"


def ignore(_: str) -> None:
    """An `on_text` for tests that look at the whole reply only."""


def never(_: str) -> bool:
    return False


def ask(
    base_url: str,
    request: CompletionRequest = REQUEST,
    *,
    settings: ModelSettings | None = None,
    prefills: bool = False,
    key: str = KEY,
    on_text: Callable[[str], None] = ignore,
    is_complete: Callable[[str], bool] = never,
) -> Completion:
    """One reply; the end of the loop closes the model."""
    model = OpenAIModel(
        name="scripted",
        base_url=base_url,
        api_key=key,
        settings=settings or ModelSettings(connect_timeout_s=10.0, read_timeout_s=30.0),
        supports_prefill=prefills,
    )
    return asyncio.run(model.complete(request, on_text=on_text, is_complete=is_complete))


def fault(base_url: str, kind: type[ModelError], **options: object) -> str:
    """The line of the error that must come."""
    with pytest.raises(kind) as raised:
        ask(base_url, **options)  # type: ignore[arg-type]
    line = str(raised.value)
    assert "\n" not in line
    assert KEY not in line
    return line


def where(server: ModelServer) -> str:
    """Host and port."""
    return server.url.removeprefix("http://").removesuffix("/v1")


def hung_up(server: ModelServer) -> bool:
    """Whether the server sees, soon, that its client is gone."""
    server.wait_for_hang_up(2.0)
    return server.hung_up == 1


# --- what comes -----------------------------------------------------------------------------------


def test_a_reply_cut_by_its_limit_of_tokens_is_no_error(model_server: ModelServer) -> None:
    model_server.script(Reply(text="half of a sent", finish="length"))

    assert ask(model_server.url).finish_reason == "length"


# --- closing the stream when the code is complete -------------------------------------------------


def test_the_stream_is_closed_when_the_code_is_complete(model_server: ModelServer) -> None:
    model_server.script(Reply(text=code("1 + 1") + "chatter " * 200, piece_s=0.02))

    completion = ask(model_server.url, is_complete=lambda text: text.count("```") == 2)

    assert completion.finish_reason == "closed"
    assert "chatter" not in completion.text
    assert hung_up(model_server), "the server never saw that nobody listens"


def test_a_closed_reply_is_counted_by_llama_cpp_without_a_wait(model_server: ModelServer) -> None:
    model_server.script(Reply(text="a b c d " + "e " * 6000, piece_s=0.01, timings=True))
    started = time.monotonic()

    completion = ask(model_server.url, prefills=True, is_complete=lambda text: "d" in text)

    assert completion.usage == Usage(prompt_tokens=100, completion_tokens=4, cached_tokens=90, calls=1)
    assert completion.finish_reason == "closed"
    assert completion.duration_s < time.monotonic() - started < 20
    assert model_server.requests[0]["timings_per_token"] is True


def test_a_closed_reply_has_no_made_up_counts(model_server: ModelServer) -> None:
    model_server.script(Reply(text="a b c d " + "e " * 300, piece_s=0.01))

    assert ask(model_server.url, is_complete=lambda text: "d" in text).usage == Usage(calls=1)


def test_a_reply_that_ends_with_its_code_is_counted_all_the_same(model_server: ModelServer) -> None:
    model_server.script(code("1 + 1"))

    completion = ask(model_server.url, is_complete=lambda text: text.count("```") == 2)

    assert completion.finish_reason == "stop"
    assert completion.usage.completion_tokens > 0


@pytest.mark.parametrize(
    "reply",
    [Reply(text="all of it and", drop_after=3), Reply(text="all of it ", error={"message": "out of memory"})],
    ids=["cut", "an error"],
)
def test_what_breaks_after_the_code_takes_nothing_away(model_server: ModelServer, reply: Reply) -> None:
    model_server.script(reply)

    completion = ask(model_server.url, is_complete=lambda text: text == "all of it ")

    assert completion.text == "all of it "
    assert completion.finish_reason == "closed"


# --- a reply that we begin ------------------------------------------------------------------------


def begun(**changes: object) -> CompletionRequest:
    return CompletionRequest(messages=REQUEST.messages, prefill=PREFILL, stop=("\n```",), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("sent", ["len(df)\n", PREFILL + "len(df)\n"], ids=["continued", "repeated"])
def test_the_beginning_is_in_the_text_exactly_once(model_server: ModelServer, sent: str) -> None:
    model_server.script(sent)
    seen: list[str] = []

    completion = ask(model_server.url, begun(), prefills=True, on_text=seen.append)

    assert completion.text == PREFILL + "len(df)\n"
    assert all(text.count("```python") == 1 and text.startswith(PREFILL) for text in seen)
    assert model_server.requests[0]["messages"][-1] == {"role": "assistant", "content": PREFILL}


def test_a_continuation_that_looks_like_the_beginning_is_kept(model_server: ModelServer) -> None:
    model_server.script("```")

    assert ask(model_server.url, begun(), prefills=True).text == PREFILL + "```"


def test_a_server_that_cannot_continue_gets_no_beginning(model_server: ModelServer) -> None:
    model_server.script(code("len(df)"))

    completion = ask(model_server.url, begun(), prefills=False)

    assert completion.text == code("len(df)")
    assert [message["role"] for message in model_server.requests[0]["messages"]] == ["user"]
    assert "stop" not in model_server.requests[0], "the fence would end the reply where it begins"


def test_a_model_that_refuses_to_continue_is_asked_again_without(model_server: ModelServer) -> None:
    model_server.refuses = {
        "add_generation_prompt": "Assistant response prefill is incompatible with enable_thinking."
    }
    model_server.script(code("len(df)"))
    models = OpenAIModel(
        name="scripted", base_url=model_server.url, api_key="", settings=ModelSettings(), supports_prefill=True
    )

    async def twice() -> list[str]:
        return [(await models.complete(begun(), on_text=ignore, is_complete=never)).text for _ in range(2)]

    assert asyncio.run(twice()) == [code("len(df)")] * 2
    assert not models.supports_prefill
    assert len(model_server.requests) == 3, "the second reply costs one request"


# --- a grammar ------------------------------------------------------------------------------------

GRAMMAR = 'root ::= "x"'


def with_grammar(server: ModelServer, *, prefills: bool, supports: bool = True) -> OpenAIModel:
    return OpenAIModel(
        name="scripted",
        base_url=server.url,
        api_key="",
        settings=ModelSettings(),
        supports_prefill=prefills,
        supports_grammar=supports,
    )


def ask_all(models: OpenAIModel, *requests: CompletionRequest) -> list[str]:
    async def answers() -> list[str]:
        return [(await models.complete(one, on_text=ignore, is_complete=never)).text for one in requests]

    return asyncio.run(answers())


def test_a_grammar_is_sent_only_where_it_is_known_to_be_taken(model_server: ModelServer) -> None:
    model_server.script("x")
    ask_all(with_grammar(model_server, prefills=True), begun(grammar=GRAMMAR), begun())
    ask_all(with_grammar(model_server, prefills=True, supports=False), begun(grammar=GRAMMAR))
    assert [request.get("grammar") for request in model_server.requests] == [GRAMMAR, None, None]


def test_a_grammar_for_what_follows_a_beginning_is_not_sent_without_the_beginning(
    model_server: ModelServer,
) -> None:
    model_server.script(code("len(df)"))
    assert ask_all(with_grammar(model_server, prefills=False), begun(grammar=GRAMMAR)) == [code("len(df)")]
    assert "grammar" not in model_server.requests[0]


def test_a_server_that_cannot_read_the_grammar_is_asked_without_from_then_on(model_server: ModelServer) -> None:
    model_server.refuses = {"grammar": "Failed to initialize samplers: failed to parse"}
    model_server.script("x")
    models = with_grammar(model_server, prefills=True)
    assert ask_all(models, begun(grammar=GRAMMAR), begun(grammar=GRAMMAR)) == [PREFILL + "x"] * 2
    assert [request.get("grammar") for request in model_server.requests] == [GRAMMAR, None, None]
    assert models.supports_prefill


# --- servers that do not take everything ----------------------------------------------------------


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        ("stream_options", "Unrecognized request argument supplied: stream_options"),
        ("seed", "Extra inputs are not permitted: seed"),
        ("temperature", "Unsupported value: 'temperature' does not support 0.0 with this model."),
        ("stop", "Unsupported parameter: 'stop' is not supported with this model."),
        ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
    ],
)
def test_what_a_server_does_not_take_is_left_out(model_server: ModelServer, refused: str, said: str) -> None:
    model_server.refuses = {refused: said}
    model_server.script("ok")

    assert ask(model_server.url).text == "ok"

    first, second = model_server.requests
    assert refused in first
    assert refused not in second
    assert (second.get("max_completion_tokens") == 1024) == (refused == "max_tokens")


def test_a_400_that_names_nothing_is_told_after_one_request(model_server: ModelServer) -> None:
    model_server.script(Reply(status=400, error={"message": "messages must alternate"}))

    line = fault(model_server.url, BadReplyError)

    assert "messages must alternate" in line
    assert len(model_server.requests) == 1


# --- faults ---------------------------------------------------------------------------------------


def test_a_refused_connection_names_the_server_and_what_to_do() -> None:
    with socket.socket() as bound:  # bound, but nobody listens
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        line = fault(f"http://127.0.0.1:{port}/v1", ModelUnreachableError)

    assert f"127.0.0.1:{port}" in line
    assert "start it" in line


def test_an_unknown_host_is_named() -> None:
    assert "no-such-host.invalid" in fault("http://no-such-host.invalid/v1", ModelUnreachableError)


@contextmanager
def deaf_port() -> Iterator[int]:
    """A port whose queue is full: no connection is accepted, none is refused."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        callers = [socket.socket() for _ in range(4)]
        try:
            for caller in callers:
                caller.setblocking(False)
                caller.connect_ex(listener.getsockname())
            yield listener.getsockname()[1]
        finally:
            for caller in callers:
                caller.close()


def test_a_connection_that_is_not_made_is_given_up_after_its_own_limit() -> None:
    with deaf_port() as port:
        started = time.monotonic()
        line = fault(
            f"http://127.0.0.1:{port}/v1",
            ModelUnreachableError,
            settings=ModelSettings(connect_timeout_s=0.3, read_timeout_s=30.0),
        )

    assert "0.3 s" in line
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("key", [f"{KEY}\n{KEY}", f"{KEY} {KEY}", f"{KEY}\u2026"])
def test_a_key_that_no_header_can_hold_is_refused_before_anything_is_sent(
    model_server: ModelServer, key: str
) -> None:
    assert "CODEAGENT_API_KEY" in fault(model_server.url, ModelRefusedError, key=key)
    assert model_server.headers == []


def test_a_key_copied_with_its_line_end_works(model_server: ModelServer) -> None:
    model_server.script("ok")

    assert ask(model_server.url, key=f"{KEY}\n").text == "ok"
    assert model_server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_an_unknown_model_is_told_with_those_that_there_are(model_server: ModelServer) -> None:
    model_server.models = [{"id": "qwen-coder"}, {"id": "llama"}]
    model_server.script(Reply(status=404, error={"message": "model not found"}))

    line = fault(model_server.url, ModelNotFoundError)

    assert "'scripted'" in line
    assert "qwen-coder, llama" in line


def test_a_base_url_without_its_path_is_told_as_such(model_server: ModelServer) -> None:
    line = fault(model_server.url.removesuffix("/v1"), ModelNotFoundError)

    assert where(model_server) in line
    assert "/v1" in line


@pytest.mark.parametrize("reply", [Reply(silent=True), Reply(hang=True)], ids=["silent", "comments only"])
def test_a_server_that_hangs_is_given_up_after_the_limit(model_server: ModelServer, reply: Reply) -> None:
    model_server.script(reply)
    started = time.monotonic()

    settings = ModelSettings(connect_timeout_s=0.2, read_timeout_s=0.3)
    line = fault(model_server.url, ModelTimeoutError, settings=settings)

    assert "0.3 s" in line
    assert where(model_server) in line
    assert time.monotonic() - started < 5


def test_a_pause_between_two_pieces_has_the_same_limit(model_server: ModelServer) -> None:
    model_server.script(Reply(text="one two", piece_s=1.0))

    fault(model_server.url, ModelTimeoutError, settings=ModelSettings(read_timeout_s=0.3))


def test_a_slow_reply_within_the_limit_is_awaited(model_server: ModelServer) -> None:
    words = "one two three four five six seven eight nine ten"
    model_server.script(Reply(text=words, piece_s=0.3))

    assert ask(model_server.url, settings=ModelSettings(read_timeout_s=2.0)).text == words


def test_a_body_that_is_shorter_than_announced_is_cut_off(model_server: ModelServer) -> None:
    with short_body() as url:
        assert "cut off" in fault(url, ModelUnreachableError)


@contextmanager
def short_body() -> Iterator[str]:
    """A server that announces a chunk and closes within it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            caller, _ = listener.accept()
            with caller:
                caller.recv(1 << 16)
                caller.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                    b"Transfer-Encoding: chunked\r\n\r\n400\r\ndata"
                )

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        thread.join()


def test_a_web_page_that_is_called_a_stream_is_no_reply(model_server: ModelServer) -> None:
    model_server.script(Reply(page_as_stream=True))

    assert where(model_server) in fault(model_server.url, ModelUnreachableError)


def test_an_error_in_the_stream_is_told_in_the_servers_words(model_server: ModelServer) -> None:
    model_server.script(Reply(text="one two", error={"message": f"slot unavailable for {KEY}", "code": 500}))

    assert "slot unavailable for ***" in fault(model_server.url, ModelOverloadedError)


def test_a_stream_that_is_no_json_is_told(model_server: ModelServer) -> None:
    model_server.script(Reply(raw="data: {half\n\n"))

    assert "not JSON" in fault(model_server.url, BadReplyError)


def test_a_model_that_thinks_up_its_tokens_is_told_with_the_setting(model_server: ModelServer) -> None:
    model_server.script(Reply(text="", finish="length"))

    line = fault(model_server.url, BadReplyError)

    assert "1024 tokens" in line
    assert "max_tokens" in line


@pytest.mark.parametrize(
    "error",
    [
        {
            "code": 400,
            "type": "exceed_context_size_error",
            "message": "the request exceeds the available context size, try increasing it",
        },
        {"code": "context_length_exceeded", "message": "This model's maximum context length is 8192 tokens."},
        {"code": "context_length_exceeded", "message": "Please shorten the messages."},
    ],
    ids=["llama.cpp", "OpenAI", "by its code only"],
)
def test_a_question_that_does_not_fit_says_how_to_shorten_it(
    model_server: ModelServer, error: dict[str, object]
) -> None:
    model_server.script(Reply(status=400, error=error))

    assert "--vars" in fault(model_server.url, ContextTooLongError)


def test_a_failure_of_whoever_watches_is_not_told_as_one_of_the_server(model_server: ModelServer) -> None:
    model_server.script(Reply(text="one two three", piece_s=0.1))

    def fail(_: str) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask(model_server.url, on_text=fail)
    assert hung_up(model_server)


# --- to whom what is sent -------------------------------------------------------------------------


def test_no_header_is_sent_but_the_key(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-another")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-for-another")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-for-another")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Token: token-for-another")
    model_server.script("ok")

    ask(model_server.url)
    ask(model_server.url, key="")

    with_key, without = model_server.headers
    assert with_key["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in without
    assert not any("for-another" in value for headers in model_server.headers for value in headers.values())


def test_a_redirect_does_not_carry_the_prompt_elsewhere(model_server: ModelServer) -> None:
    with serving() as elsewhere:
        elsewhere.script("stolen")
        model_server.script(Reply(status=307, location=f"{elsewhere.url}/chat/completions"))

        assert "307" in fault(model_server.url, BadReplyError)
        assert elsewhere.headers == []


def test_loopback_is_not_asked_through_the_proxy(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        model_server.script("ok")

        assert ask(model_server.url).text == "ok"
        assert proxy.headers == []
        fault("http://model.invalid/v1", ModelError)
        assert proxy.headers != [], "the proxy was never in force"


# --- Stop, and the end of the loop ----------------------------------------------------------------


def wait_for_a_request(server: ModelServer) -> None:
    deadline = time.monotonic() + 10
    while not server.requests and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.1)  # into the reply


@pytest.mark.parametrize(
    "reply",
    [Reply(text="word " * 5000, piece_s=0.02), Reply(silent=True), Reply(hang=True)],
    ids=["in the stream", "before the headers", "between two pieces"],
)
def test_cancelling_closes_the_stream_at_once(model_server: ModelServer, reply: Reply) -> None:
    model_server.script(reply)
    model = OpenAIModel(
        name="scripted", base_url=model_server.url, api_key="", settings=ModelSettings(), supports_prefill=False
    )

    async def stop() -> float:
        task = asyncio.ensure_future(model.complete(REQUEST, on_text=ignore, is_complete=never))
        await asyncio.to_thread(wait_for_a_request, model_server)
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(hung_up, model_server)
        return time.monotonic() - started

    assert asyncio.run(stop()) < 30


def test_a_model_serves_one_event_loop_after_another(model_server: ModelServer) -> None:
    model_server.script("ok")
    model = OpenAIModel(
        name="scripted", base_url=model_server.url, api_key="", settings=ModelSettings(), supports_prefill=False
    )

    texts = [asyncio.run(model.complete(REQUEST, on_text=ignore, is_complete=never)).text for _ in range(2)]

    assert texts == ["ok", "ok"]


def test_the_end_of_the_loop_closes_the_client(model_server: ModelServer) -> None:
    model_server.script("ok")
    model = OpenAIModel(
        name="scripted", base_url=model_server.url, api_key="", settings=ModelSettings(), supports_prefill=False
    )

    async def client_after_a_reply() -> object:
        await model.complete(REQUEST, on_text=ignore, is_complete=never)
        client = await model._client_of_loop()
        assert not client.is_closed()
        return client

    assert asyncio.run(client_after_a_reply()).is_closed()  # type: ignore[attr-defined]
