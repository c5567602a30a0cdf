"""`jupyter codeagent mcp` without a kernel: which one is meant, who is let in, and that nothing waits for ever."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeagent.entrypoints.kernel_clients import kernel_link
from jupyter_codeagent.entrypoints.kernel_clients.channels import Heard
from jupyter_codeagent.entrypoints.kernel_clients.kernel_link import GONE, NOT_LOADED, RESTARTED, KernelLink
from jupyter_codeagent.entrypoints.kernel_clients.running_kernels import (
    JupyterServer,
    KernelAddress,
    WantedKernel,
    choose,
    find_kernel,
    kernels_of,
    local_servers,
)
from jupyter_codeagent.entrypoints.mcp_server.command import MCP_TOKEN, BearerToken, token_for_clients
from jupyter_codeagent.entrypoints.mcp_server.server import TOOLS, KernelClients, cleaned
from jupyter_codeagent.types.errors import CodeAgentError, UsageError

HERE = JupyterServer(url="http://127.0.0.1:8888", token="x", root=Path("/home/ada"))
SESSIONS: list[dict[str, Any]] = [
    {"path": "work/eda.ipynb", "kernel": {"id": "aa11"}},
    {"path": "other.ipynb", "kernel": {"id": "bb22"}},
    {"path": "dead.ipynb", "kernel": None},
    {"path": "../..", "kernel": {"id": "../../etc"}},
]


@pytest.mark.parametrize(
    ("wanted", "kernel_id"),
    [
        (WantedKernel(notebook="/home/ada/work/eda.ipynb"), "aa11"),
        (WantedKernel(notebook="work/eda.ipynb"), "aa11"),
        (WantedKernel(kernel="bb"), "bb22"),
    ],
)
def test_a_kernel_is_meant_by_the_path_of_its_notebook_or_the_beginning_of_its_id(
    wanted: WantedKernel, kernel_id: str
) -> None:
    kernels = kernels_of(SESSIONS, HERE)
    assert [kernel.kernel_id for kernel in kernels] == ["aa11", "bb22"], "ids that are none are no kernels"
    assert choose(kernels, wanted).kernel_id == kernel_id


def test_no_kernel_is_chosen_where_several_or_none_could_be_meant() -> None:
    kernels = kernels_of(SESSIONS, HERE)
    with pytest.raises(
        UsageError, match=r"Several kernels are running: work/eda.ipynb \(kernel aa11\), other.ipynb"
    ):
        choose(kernels, WantedKernel())
    with pytest.raises(UsageError, match=r"No running kernel has the notebook 'new.ipynb': .* Running: work/eda"):
        choose(kernels, WantedKernel(notebook="new.ipynb"))
    with pytest.raises(UsageError, match=r"No kernel is running: open the notebook .* Running: none"):
        choose([], WantedKernel())
    assert choose(kernels[:1], WantedKernel()).kernel_id == "aa11"


def test_only_servers_whose_process_lives_are_asked_and_a_token_is_in_no_text(tmp_path: Path) -> None:
    facts = {"url": "http://127.0.0.1:8888/", "token": "secret-token", "root_dir": "/home/ada"}
    (tmp_path / "jpserver-1.json").write_text(json.dumps({**facts, "pid": os.getpid()}))
    (tmp_path / "jpserver-2.json").write_text(json.dumps({**facts, "pid": 2**22 + 1}))
    (tmp_path / "jpserver-3.json").write_text("[]")
    (found,) = local_servers(tmp_path)
    assert (found.token, found.root) == ("secret-token", Path("/home/ada"))
    assert "secret-token" not in repr(found)


def test_a_kernel_without_a_server_is_found_by_its_id_or_connection_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    file = tmp_path / "kernel-aa11.json"
    file.write_text("{}")
    expected = KernelAddress(kernel_id="aa11", connection_file=file)
    assert asyncio.run(find_kernel(WantedKernel(kernel="aa"))) == expected
    assert asyncio.run(find_kernel(WantedKernel(kernel=str(file)))) == expected
    for named in ("zz", "*", "../x"):
        with pytest.raises(UsageError, match="there is no such kernel in"):
            asyncio.run(find_kernel(WantedKernel(kernel=named)))
    with pytest.raises(CodeAgentError, match="Nothing listens at"):
        asyncio.run(find_kernel(WantedKernel(server="http://127.0.0.1:9")))


def statuses(*headers: bytes) -> list[int]:
    """What a request with these Authorization headers is answered, 200 if it passes."""

    async def passed(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})

    seen: list[int] = []

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            seen.append(message["status"])

    scope = {"type": "http", "headers": [(b"authorization", value) for value in headers]}
    asyncio.run(BearerToken(passed, "0123456789abcdef")(scope, None, send))  # type: ignore[arg-type]
    return seen


def test_only_the_whole_token_in_one_header_opens_the_server_over_http() -> None:
    right = b"Bearer 0123456789abcdef"
    assert statuses(right) == [200]
    for wrong in ((), (b"Bearer 0123456789abcde",), (right, right), (b"0123456789abcdef",), (right.upper(),)):
        assert statuses(*wrong) == [401], wrong


def test_a_token_that_can_be_guessed_is_refused_and_a_new_one_is_made_where_none_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(MCP_TOKEN, raising=False)
    assert len(token_for_clients()) >= 40
    assert token_for_clients() != token_for_clients()
    for token in ("short", "with blanks in it, many", "mit-Umläuten-und-mehr"):
        monkeypatch.setenv(MCP_TOKEN, token)
        with pytest.raises(UsageError, match="give 16 or more") as refused:
            token_for_clients()
        assert token not in str(refused.value)


class Kernel:
    """Channels to a kernel of which each test says how it answers."""

    def __init__(self, answer: Callable[[Mapping[str, Any]], list[dict[str, Any]]] = lambda data: []) -> None:
        self.answer = answer
        self.said: list[Mapping[str, Any]] = []
        self.messages: asyncio.Queue[Heard | None] = asyncio.Queue()
        self.is_deaf = False

    async def send(self, channel: str, msg_type: str, content: dict[str, Any], subshell: str | None = None) -> str:
        msg_id = f"{msg_type}-{self.messages.qsize()}"
        if self.is_deaf:
            return msg_id
        if channel == "control":
            self.put("iopub", "status", {"execution_state": "busy"})
            reply = (
                {"subshell_id": "sub"} if "subshell" in msg_type else {"supported_features": ["kernel subshells"]}
            )
            self.messages.put_nowait(Heard("control", "reply", msg_id, reply))
        else:
            assert subshell == "sub", "a message on the main shell would wait until the cell ends"
            self.said.append(content.get("data", {}))
            self.messages.put_nowait(Heard("iopub", "status", msg_id, {"execution_state": "busy"}))
            for data in self.answer(content.get("data", {})):
                self.put("iopub", "comm_msg", {"comm_id": content["comm_id"], "data": data})
        return msg_id

    def put(self, channel: str, msg_type: str, content: dict[str, Any]) -> None:
        self.messages.put_nowait(Heard(channel, msg_type, "", content))

    async def heard(self) -> AsyncGenerator[Heard]:
        while (message := await self.messages.get()) is not None:
            yield message

    async def close(self) -> None:
        pass


def friendly(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    if data.get("type") == "hello":
        return [{"type": "welcome"}]
    if data.get("type") == "call" and data["tool"] == "history":
        return [{"type": "answer", "id": data["id"], "ok": True, "text": "told"}]
    return [{"type": "under_way", "id": data["id"]}] if data.get("type") == "call" else []


def linked(act: Callable[[KernelLink, Kernel], Coroutine[Any, Any, Any]], kernel: Kernel) -> Any:
    async def run() -> Any:
        link = KernelLink(kernel)
        try:
            async with asyncio.timeout(5):
                return await act(link, kernel)
        finally:
            await link.close()

    return asyncio.run(run())


def test_a_call_is_sent_again_until_it_is_answered_and_cancelled_in_the_kernel_if_nobody_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel_link, "SEND_AGAIN_S", 0.02)

    async def act(link: KernelLink, kernel: Kernel) -> None:
        await link.open("editor")
        assert kernel.said == [{"type": "hello", "protocol": 1, "kind": "mcp", "client": "editor"}]
        assert await link.call("history", {}) == (True, "told")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await link.call("run_on_copies", {"code": "1"})
        await asyncio.sleep(0.01)
        sent = [data["type"] for data in kernel.said[2:]]
        assert sent.count("call") > 2
        assert sent[-1] == "cancel"
        assert len({data["id"] for data in kernel.said[2:]}) == 1, "the same call: it is made once"

    linked(act, Kernel(friendly))


def test_a_chat_says_what_it_is_and_hears_what_is_going_on() -> None:
    told: list[str] = []

    def answer(data: Mapping[str, Any]) -> list[dict[str, Any]]:
        if data.get("type") == "call":
            one = {"type": "told", "id": data["id"], "text": "the model is writing"}
            return [{**one, "id": "another"}, one, {"type": "answer", "id": data["id"], "ok": True, "text": "{}"}]
        return friendly(data)

    async def act() -> None:
        kernel = Kernel(answer)
        link = KernelLink(kernel, told.append)
        await link.open("talk.chat (chat)", "chat")
        assert kernel.said[0]["kind"] == "chat"
        assert await link.call("ask", {}) == (True, "{}")
        await link.close()

    asyncio.run(act())
    assert told == ["the model is writing"]


def test_a_kernel_that_says_nothing_more_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_link, "SEND_AGAIN_S", 0.02)
    monkeypatch.setattr(kernel_link, "SILENCE_S", 0.1)
    monkeypatch.setattr(kernel_link, "GREET_S", 0.1)

    async def silent(link: KernelLink, kernel: Kernel) -> None:
        await link.open("editor")
        kernel.is_deaf = True
        with pytest.raises(CodeAgentError, match=GONE):
            await link.call("history", {})
        assert not link.is_open

    async def never_there(link: KernelLink, kernel: Kernel) -> None:
        kernel.is_deaf = True
        with pytest.raises(CodeAgentError, match=GONE):
            await link.open("editor")

    linked(silent, Kernel(friendly))
    linked(never_there, Kernel(friendly))


@pytest.mark.parametrize(
    ("msg_type", "content", "line"),
    [
        ("comm_close", {}, NOT_LOADED),
        ("status", {"execution_state": "restarting"}, RESTARTED),
        ("shutdown_reply", {"restart": True}, RESTARTED),
    ],
)
def test_a_kernel_that_ends_meanwhile_ends_its_calls_at_once(
    msg_type: str, content: dict[str, Any], line: str
) -> None:
    async def act(link: KernelLink, kernel: Kernel) -> None:
        await link.open("editor")
        call = asyncio.create_task(link.call("run_on_copies", {"code": "1"}))
        await asyncio.sleep(0.01)
        kernel.put("iopub", msg_type, {"comm_id": "of another comm", **content})
        await asyncio.sleep(0.01)
        assert call.done() is (msg_type != "comm_close")
        kernel.put("iopub", msg_type, {"comm_id": link._comm_id, **content})
        with pytest.raises(CodeAgentError) as told:
            await call
        assert str(told.value) == line

    linked(act, Kernel(friendly))


def test_the_wrong_kernel_is_one_line_for_the_client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))

    async def called() -> tuple[bool, str]:
        clients = KernelClients(WantedKernel(notebook="eda.ipynb"))
        try:
            return await clients.call("editor", "list_variables", {})
        finally:
            await clients.close()

    ok, text = asyncio.run(called())
    assert not ok
    assert (
        text
        == "No running kernel has the notebook 'eda.ipynb': open the notebook in JupyterLab first. Running: none."
    )


def test_what_a_kernel_says_cannot_play_with_the_clients_terminal() -> None:
    assert cleaned("a\x1b]0;title\x07\x1b[31mred\u202e\nb\tc\r") == "a]0;title[31mred\nb c "


def test_the_tools_say_what_they_need_and_none_claims_to_only_read_what_it_proposes() -> None:
    assert [tool.name for tool in TOOLS] == [
        "list_variables",
        "describe",
        "run_on_copies",
        "insert_cells",
        "history",
    ]
    for tool in TOOLS:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (tool.name != "insert_cells")
