"""Messages to a page are sent whatever text is in them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from jupyter_client.session import Session

from jupyter_codeagent.frontend.comm import AgentComm
from jupyter_codeagent.sandbox.guest_reports import read_after_cell_report


class Socket:
    def __init__(self) -> None:
        self.sent: list[list[bytes]] = []

    def send_multipart(self, frames: list[bytes], **_: Any) -> None:
        self.sent.append(frames)


def test_half_a_surrogate_pair_in_a_columns_name_does_not_cut_the_page_off() -> None:
    socket, session = Socket(), Session()
    page = AgentComm.__new__(AgentComm)
    page.kernel = SimpleNamespace(session=session, iopub_socket=socket)
    page.comm_id, page.topic = "c1", b""
    report = read_after_cell_report(r'{"variables": [{"name": "df", "columns": ["a\ud800", "größe"]}]}')

    page.publish_msg("comm_msg", data={"columns": list(report.entries[0].columns)})
    page._closed = True  # else it would notify a page that there is not when it is collected

    [frames] = socket.sent
    message = session.deserialize(session.feed_identities(frames)[1])
    assert message["content"]["data"] == {"columns": ["a?", "größe"]}
