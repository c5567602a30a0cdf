"""MCP servers that mean harm: real programs and HTTP servers, through the SDK, each with one attack."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
import zlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hostile_mcp_server import answer as answered

from jupyter_codeagent.tools import mcp, mcp_transport, mcp_values
from jupyter_codeagent.tools.mcp import McpServer
from jupyter_codeagent.tools.prompt_lines import functions_text
from jupyter_codeagent.tools.servers import McpServers, merged
from jupyter_codeagent.tools.tool import Tool, stub_line
from jupyter_codeagent.types.errors import CodeAgentError

SERVER = Path(__file__).parents[2] / "hostile_mcp_server.py"
FOREVER = "a" * 60 + "!"
"""With ``^(a+)+$`` a backtracking engine takes longer than the universe."""
QUICKLY_S = 20
"""Far from what a busy machine needs, and from what exponential work takes."""


def target(attack: str) -> list[str]:
    return [sys.executable, str(SERVER), attack]


def meet(attack: str, act: Callable[[McpServer], Awaitable[Any]], to: list[str] | None = None) -> Any:
    """Connect, do it, leave; the server is ended whatever happens."""

    async def main() -> Any:
        server = McpServer("weather", to or target(attack), "auto", lambda _: None)
        try:
            async with asyncio.timeout(3 * QUICKLY_S):
                await server.start()
                return await act(server)
        finally:
            await server.stop()
            assert not server.is_there

    return asyncio.run(main())


def only(server: McpServer) -> Tool:
    (tool,) = server.tools.values()
    return tool


def called(attack: str, to: list[str] | None = None, **arguments: Any) -> Any:
    """What the only function of the server returns."""

    async def act(server: McpServer) -> Any:
        coroutine = only(server).coroutine
        assert coroutine is not None
        return await coroutine(**arguments)

    return meet(attack, act, to)


def offered(attack: str) -> dict[str, Tool]:
    async def act(server: McpServer) -> dict[str, Tool]:
        return dict(server.tools)

    found: dict[str, Tool] = meet(attack, act)
    return found


def policies_of(server: McpServer) -> dict[str, str]:
    return {name: tool.stub.policy for name, tool in server.tools.items()}


def test_the_same_server_without_an_attack_answers() -> None:
    assert called("honest") == "seen"


@pytest.mark.parametrize(
    ("attack", "arguments"),
    [
        ("slow-pattern-of-results", {}),
        ("slow-pattern-of-arguments", {"x": FOREVER}),
        ("slow-pattern-of-names", {"x": {FOREVER: 1}}),
        ("slow-pattern-properties", {"x": {FOREVER: 1}}),
        ("doubling-arguments", {"x": "a"}),
        ("doubling-choices", {"x": 1}),
        ("doubling-results", {}),
        ("looping-arguments", {"x": "a"}),
        ("looping-results", {}),
        ("reference-to-itself", {"x": "a"}),
        ("root-is-itself", {"x": "a"}),
        ("unique-items", {"x": [{"n": n} for n in range(20_000)]}),
    ],
)
def test_a_schema_that_takes_for_ever_holds_up_no_call(attack: str, arguments: dict[str, Any]) -> None:
    started = time.monotonic()
    assert called(attack, **arguments)
    assert time.monotonic() - started < QUICKLY_S


def test_what_a_server_says_of_itself_reaches_terminals_and_prompts_without_controls() -> None:
    tools = offered("escapes")
    told = functions_text([tool.stub for tool in tools.values()])
    shown = "\n".join([told, *(stub_line(tool.stub) for tool in tools.values()), *tools])
    shown += "".join(str(tool.function.__doc__) for tool in tools.values())
    odd = {character for character in shown if not character.isprintable()} - {"\n"}
    assert odd == set()
    assert "evil" in shown, "what can be read is left"


def test_a_description_cannot_end_its_line_or_speak_for_another_role() -> None:
    (tool,) = offered("instructions").values()
    told = functions_text([tool.stub])
    assert told.count("\n") == 1
    assert not any(word in told for word in ("```", "<|", "|>"))


@pytest.mark.parametrize(
    ("attack", "why"),
    [
        ("many-parameters", "its schemas have"),
        ("many-required", "its schemas have"),
        ("same-parameters", "its schemas have"),
        ("some-parameters", "it has 150 parameters; the limit is 100"),
        ("many-tools", "more than 200"),
    ],
)
def test_what_is_too_much_is_left_out_quickly_and_said(attack: str, why: str) -> None:
    async def act(server: McpServer) -> tuple[int, tuple[str, ...]]:
        return len(server.tools), server.left_out

    started = time.monotonic()
    count, left_out = meet(attack, act)
    assert time.monotonic() - started < QUICKLY_S
    assert count == (200 if attack == "many-tools" else 0)
    assert len(left_out) == 1
    assert why in left_out[0]


def test_long_names_and_descriptions_are_cut() -> None:
    (name,) = offered("long-name")
    assert len(name) <= 64
    (tool,) = offered("long-description").values()
    assert len(tool.stub.doc) <= 1000


def test_no_function_of_a_server_has_a_name_that_stands_for_something_else() -> None:
    async def act(server: McpServer) -> list[str]:
        servers: Any = {"weather": server}
        return list(merged({}, servers, taken={"df", "pd", "np", "send"}))

    names = meet("names-of-others", act)
    assert not {"print", "get_ipython", "df", "pd", "np", "tools", "send", "open", "exit", "class", "None"} & {
        *names
    }
    assert {"weather_df", "weather_pd", "weather_send", "weather_print"} <= {*names}
    assert all(name.isidentifier() for name in names)


@pytest.mark.parametrize("attack", ["odd-schema", "schema-is-true"])
def test_a_listing_that_is_none_is_one_line(attack: str) -> None:
    with pytest.raises(CodeAgentError, match=r"^The MCP server weather cannot be used: it does not list") as caught:
        offered(attack)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("attack", ["large-text", "large-structure"])
def test_a_message_without_measure_ends_the_connection_and_fills_no_memory(attack: str) -> None:
    before = peak_bytes(reset=True)
    with pytest.raises(ConnectionError, match="weather is gone: it sent a message of more than 16 MiB"):
        called(attack)
    assert peak_bytes() - before < 200 << 20


def test_a_line_without_end_is_not_read_to_its_end() -> None:
    async def act(server: McpServer) -> None:
        await only(server).coroutine()  # type: ignore[misc]
        while server.is_there:  # noqa: ASYNC110  (it is ended by itself)
            await asyncio.sleep(0.02)

    before = peak_bytes(reset=True)
    meet("line-without-end", act)
    assert peak_bytes() - before < 200 << 20


def test_deep_and_odd_results_are_text() -> None:
    assert called("deep-text").startswith("[[[[")
    assert "NaN" in called("odd-numbers")


@pytest.mark.parametrize("attack", ["link", "embedded"])
def test_what_a_result_refers_to_is_not_fetched(attack: str) -> None:
    with pytest.raises(TypeError, match="which code cannot use"):
        called(attack)


@pytest.mark.parametrize("attack", ["no-content", "content-of-numbers", "dies"])
def test_a_result_that_is_none_is_an_error_of_the_call(attack: str) -> None:
    with pytest.raises(Exception, match=r"validation error|Connection closed"):
        called(attack)


@pytest.mark.parametrize("attack", ["asks-sampling", "asks-elicitation", "asks-roots"])
def test_a_server_that_asks_for_the_model_for_input_or_for_files_gets_nothing(attack: str) -> None:
    said = called(attack)
    assert "not supported" in said["error"]["message"]
    assert "result" not in said


def test_a_program_gets_none_of_the_keys_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEAGENT_API_KEY", "secret-key-of-the-user")
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/me/eda.ipynb")
    environment = called("environment")
    assert set(environment) <= {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LC_CTYPE"}


def test_what_a_program_prints_beside_its_messages_is_no_message_and_is_shown_to_nobody(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert called("noise") == "seen"
    assert capfd.readouterr() == ("", "")


def test_a_server_that_never_answers_a_call_is_waited_for_no_longer_than_its_limit() -> None:
    tool = offered("never")["look"]
    assert tool.timeout_s == mcp.CALL_TIMEOUT_S


@pytest.mark.parametrize(
    ("attack", "policies", "changed"),
    [
        ("changes-its-description", {"look": "ask"}, "look"),
        ("grows", {"look": "auto", "send_all": "ask"}, "send_all"),
        ("is-as-it-was", {"look": "auto"}, ""),
    ],
)
def test_what_came_or_changed_since_the_user_said_auto_is_asked_for_and_told(
    attack: str, policies: dict[str, str], changed: str
) -> None:
    async def both() -> tuple[list[dict[str, str]], list[tuple[str, ...]]]:
        servers = McpServers(lambda _: None)
        try:
            server = await servers.add("weather", target(attack), "auto")
            found = [policies_of(server)]
            notes = []
            for _ in range(2):
                notes.append(await servers.refresh())
                found.append(policies_of(server))
            return found, notes
        finally:
            await servers.close()

    (first, *later), notes = asyncio.run(both())
    assert first == {"look": "auto"}
    assert later == [policies] * 2
    assert [len(told) for told in notes] == [1 if changed else 0, 0], "said once"
    assert all(f"now describes {changed} differently than" in note for told in notes for note in told)


# --- over HTTP: whoever the server is, its answers have a limit -------------------------------------------


def packed_blanks(count: int) -> bytes:
    """Without all of them in memory: the test measures this process."""
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)  # gzip
    return b"".join([packer.compress(b" " * (1 << 20)) for _ in range(count >> 20)]) + packer.flush()


class Hostile(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    attack = ""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        reply = answered(self.attack, request)
        body = json.dumps(reply).encode() if reply is not None else b""
        packed = self.attack == "packed" and request.get("method") == "tools/call"
        try:
            self.send_response(200 if reply is not None else 202)
            self.send_header("content-type", "application/json")
            if packed:
                body = packed_blanks(300 << 20)
                self.send_header("content-encoding", "gzip")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass  # it has heard enough

    def do_GET(self) -> None:
        self.send_error(405)

    do_DELETE = do_GET

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def hostile_http(attack: str) -> Iterator[str]:
    handler = type("Handler", (Hostile,), {"attack": attack})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_over_http_an_honest_answer_arrives() -> None:
    with hostile_http("honest") as url:
        assert called("honest", [url]) == "seen"


@pytest.mark.parametrize("attack", ["large-text", "large-structure", "packed"])
def test_over_http_a_message_without_measure_ends_the_connection_and_fills_no_memory(attack: str) -> None:
    with hostile_http(attack) as url:
        before = peak_bytes(reset=True)
        with pytest.raises(Exception, match="is gone: it sent a message of more than"):
            called(attack, [url])
        assert peak_bytes() - before < 400 << 20  # the server's own text is in this process, too


def peak_bytes(*, reset: bool = False) -> int:
    """The highest resident memory of this process since the last reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))


def test_the_limits_are_those_that_the_documents_name() -> None:
    assert mcp_transport.MAX_MESSAGE_BYTES == 16 << 20
    assert (mcp.MAX_TOOLS, mcp_values.MAX_PARAMETERS, mcp_values.MAX_SCHEMA_CHARS) == (200, 100, 64_000)
