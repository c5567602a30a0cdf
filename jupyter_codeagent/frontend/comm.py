"""A comm of our own class, which publishes from any thread and keeps the page's choice of subshell.

Two facts of ipykernel determine it:

* While a cell runs on the main shell, a comm message is handled at once only if it was sent to a subshell
  (ipykernel >= 7).
* ipykernel 7.4's own `Comm.publish_msg` records the subshell of the publisher and sends the page's next
  messages there. A magic that publishes from the main thread would thereby make the page's decisions wait for
  the cell that waits for them. `BaseComm` records nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import comm
from comm.base_comm import BaseComm
from ipykernel.jsonutil import json_clean

from jupyter_codeagent.frontend.client_messages import CLIENT_TARGET
from jupyter_codeagent.frontend.messages import PROTOCOL, TARGET

KernelMessage = dict[str, Any]


class AgentComm(BaseComm):
    """The kernel's side of the link to one page, or to one MCP server of ours."""

    kernel: Any
    parent_message: KernelMessage | None = None

    def publish_msg(
        self,
        msg_type: str,
        data: Any = None,
        metadata: Any = None,
        buffers: Any = None,
        **keys: Any,
    ) -> None:
        """Send a message for `BaseComm`; the iopub socket of ipykernel is safe to use from any thread."""
        send = partial(
            self.kernel.session.send,
            self.kernel.iopub_socket,
            msg_type,
            metadata=json_clean(metadata or {}),
            parent=self.parent_message or {},
            ident=self.topic,
            buffers=buffers,
        )
        content = json_clean({"data": data or {}, "comm_id": self.comm_id, **keys})
        try:
            send(content)
        except UnicodeEncodeError:  # half a surrogate pair, of a column's name for instance
            send(json.loads(json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")))

    def handle_msg(self, msg: KernelMessage) -> None:
        """Handle a message without IPython's pre/post_execute events, which would run on the subshell's thread."""
        if self._msg_callback is not None:
            self._msg_callback(msg)


def data_of(message: KernelMessage) -> Mapping[str, Any]:
    """Return the data of a message; empty if it is not one of ours."""
    data = message["content"].get("data")
    return data if isinstance(data, dict) else {}


def take_over(kernel: Any, opened: Any, parent: KernelMessage, target: str = TARGET) -> AgentComm:
    """Replace the comm that ipykernel made for a `comm_open` by one of our class."""
    client = AgentComm.__new__(AgentComm)
    client.kernel = kernel
    client.parent_message = parent
    BaseComm.__init__(client, target_name=target, comm_id=opened.comm_id, primary=False)
    opened._closed = True  # its __del__ must not close the comm that we have taken over
    comm.get_comm_manager().register_comm(client)
    return client


def open_beacon(kernel: Any) -> AgentComm:
    """Open a comm only to announce the agent to all pages; they answer with comms of their own.

    A page that does not know the target (VS Code, no extension) closes it for everybody, and a page that loads
    later must still find it: so it registers itself again when it is closed.
    """
    beacon = AgentComm.__new__(AgentComm)
    beacon.kernel = kernel
    BaseComm.__init__(beacon, target_name=TARGET, data={"protocol": PROTOCOL})

    def register_again(_: KernelMessage) -> None:
        comm.get_comm_manager().register_comm(beacon)

    beacon.on_close(register_again)
    return beacon


def register(on_open: Callable[[Any, KernelMessage], None], target: str = TARGET) -> None:
    """Have `on_open` called, on the subshell's thread, for each page that says hello."""
    comm.get_comm_manager().register_target(target, on_open)


def unregister(on_open: Callable[[Any, KernelMessage], None], target: str = TARGET) -> None:
    comm.get_comm_manager().unregister_target(target, on_open)


def is_ours(msg_type: str, content: Mapping[str, Any]) -> bool:
    """Check whether a message of a page is for a comm of the agent; it may be of any other kind as well."""
    if msg_type == "comm_open":
        return content.get("target_name") in (TARGET, CLIENT_TARGET)
    return msg_type in ("comm_msg", "comm_close") and _ours(content) is not None


def handle(message: KernelMessage) -> None:
    """Handle a message that `is_ours` accepted as ipykernel would."""
    kind, content = message["header"]["msg_type"], message["content"]
    if kind == "comm_open":
        manager: Any = comm.get_comm_manager()
        manager.comm_open(None, None, message)
    elif (known := _ours(content)) is not None:
        (known.handle_close if kind == "comm_close" else known.handle_msg)(message)


def _ours(content: Mapping[str, Any]) -> AgentComm | None:
    # Not `get_comm`: for an unknown id it prints a warning, into the output of the running cell.
    known = comm.get_comm_manager().comms.get(str(content.get("comm_id")))
    return known if isinstance(known, AgentComm) else None


def forget(known: AgentComm) -> None:
    """Drop a comm without a message to its page."""
    known._closed = True  # else its __del__ would notify all pages, and those without it complain
    comm.get_comm_manager().comms.pop(known.comm_id, None)
