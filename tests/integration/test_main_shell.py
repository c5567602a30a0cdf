"""A page that was not given a subshell is heard while a cell runs, as one with a subshell is."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from kernel_client import Kernel
from model_server import ModelServer, Reply, code

from jupyter_codeagent.frontend.messages import PROTOCOL, TARGET

COMM_ID = "page-on-the-main-shell"


def say(kernel: Kernel, kind: str, **content: Any) -> None:
    """Of a page, without a subshell."""
    session = kernel.client.session
    kernel.client.shell_channel.send(session.msg(kind, {"comm_id": COMM_ID, **content}))


def hello(kernel: Kernel) -> None:
    data = {"type": "hello", "protocol": PROTOCOL, "session": "page", "notebook": None}
    say(kernel, "comm_open", target_name=TARGET, data=data)


def test_a_page_without_a_subshell_approves_and_inserts_while_the_cell_waits(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run("%config CodeAgent.approval_timeout_s = 20")
    hello(kernel)
    model_server.script(code("print('sum', df['n'].sum())"), "Done.")
    heard: list[str] = []
    text = ""

    def got(message: dict[str, Any]) -> None:
        nonlocal text
        text += message["content"].get("text", "") + message["content"].get("evalue", "")
        data = message["content"].get("data", {})
        heard.append(data.get("type", ""))
        match data:
            case {"type": "ping"}:
                say(kernel, "comm_msg", data={"type": "pong"})
            case {"type": "proposal", "proposal": {"id": proposal_id, "code": source}}:
                yes = {"type": "decision", "proposal_id": proposal_id, "action": "approve", "code": source}
                say(kernel, "comm_msg", data=yes)
            case {"type": "insert", "id": message_id, "run_id": run_id}:
                done = {"type": "inserted", "id": message_id, "run_id": run_id, "ok": True, "cell_ids": []}
                say(kernel, "comm_msg", data={**done, "problem": ""})

    asked = kernel.client.execute("%%agent --approve ask\nsum", allow_stdin=True)
    while True:  # not `execute_interactive`: it shows only what belongs to the cell
        message = kernel.client.get_iopub_msg(timeout=60)
        got(message)
        if message["parent_header"].get("msg_id") == asked and message["content"].get("execution_state") == "idle":
            break
    assert kernel.client.get_shell_msg(timeout=10)["content"]["status"] == "ok", text
    assert heard.count("insert") == 1  # not sent again: the answer came while the cell was running


@pytest.mark.rare("another case of what a test beside it proves")
def test_cells_that_wait_behind_a_question_as_with_run_all_print_nothing_in_it(
    kernel: Kernel, model_server: ModelServer
) -> None:
    answered = threading.Event()
    model_server.script(Reply(text=code("print('sum', df['n'].sum())"), until=answered), "x")
    asked = kernel.client.execute("%%agent\nsum")
    behind = [kernel.client.execute(f"print('behind {number}')") for number in range(3)]
    behind.append(kernel.client.complete("df."))
    model_server.wait_until_asked()
    say(kernel, "comm_msg", data={"type": "pong"})  # of a comm that nobody has opened here
    answered.set()
    in_red, shown = "", ""
    while behind:
        message = kernel.client.get_iopub_msg(timeout=60)
        of, content = message["parent_header"].get("msg_id", ""), message["content"]
        if message["msg_type"] == "stream":
            shown += content["text"]
            in_red += content["text"] if of == asked and content["name"] == "stderr" else ""
        if content.get("execution_state") == "idle" and of in behind:
            behind.remove(of)
    assert "sum 7" in shown
    assert "behind 2" in shown
    assert in_red == ""
