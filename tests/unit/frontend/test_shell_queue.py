"""Taking the agent's messages out of the kernel's main shell: what else is there comes back to the kernel."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
import zmq
from jupyter_client.session import Session

from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.shell_queue import MainShell


class Shell:
    """The socket of a kernel without subshells; notes what was queued again."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]]) -> None:
        self.front_end, self._socket = context.socket(zmq.PAIR), context.socket(zmq.PAIR)
        self._socket.bind("inproc://main-shell")
        self.front_end.connect("inproc://main-shell")
        self.iopub = context.socket(zmq.PUB)
        self.session = Session(key=b"key")
        self.queued: list[list[bytes]] = []
        self.kernel = SimpleNamespace(
            shell_stream=SimpleNamespace(socket=self._socket),
            session=self.session,
            iopub_socket=self.iopub,
            dispatch_shell=None,
            schedule_dispatch=lambda _, frames: self.queued.append([frame.bytes for frame in frames]),
        )
        self.main = MainShell(self.kernel)

    def send(self, kind: str, **content: Any) -> None:
        message = self.session.msg(kind, content)
        self.front_end.send_multipart([b"ident", *self.session.serialize(message)])

    @property
    def queued_codes(self) -> list[str]:
        return [self.session.unpack(frames[6])["code"] for frames in self.queued]

    def close(self) -> None:
        for socket in (self.front_end, self._socket, self.iopub):
            socket.close(linger=0)


@pytest.fixture
def shell() -> Iterator[Shell]:
    with zmq.Context() as context:
        made = Shell(context)
        yield made
        made.close()


def ours(kind: str, _: Mapping[str, Any]) -> bool:
    return kind == "comm_msg"


def test_cells_that_wait_are_queued_again_in_their_order(shell: Shell) -> None:
    heard: list[Any] = []
    shell.send("execute_request", code="1")
    shell.send("comm_msg", data="yes")
    shell.send("execute_request", code="2")
    shell.main.handle_waiting(ours, heard.append)
    assert shell.queued_codes == ["1", "2"]
    assert [message["content"]["data"] for message in heard] == ["yes"]


def test_a_closed_link_reads_no_channel_of_a_kernel_that_has_closed_them(shell: Shell) -> None:
    """Else the end of a kernel fails, and what the session holds is left behind."""
    nothing: Any = None
    link = PanelLink(shell.kernel, nothing, state=nothing, on_event=nothing)
    link.handle_main_shell()
    link.close(tell_pages=False)
    shell.close()
    link.handle_main_shell()


@pytest.fixture
def interrupts() -> Iterator[None]:
    """As in a kernel: the processes of pytest-xdist ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_in_between_loses_no_cell_and_no_answer(shell: Shell, place: str) -> None:
    heard: list[Any] = []
    interrupted: list[bool] = []

    def interrupt_once() -> None:
        if not interrupted:
            interrupted.append(True)
            signal.raise_signal(signal.SIGINT)

    def wanted(kind: str, content: Mapping[str, Any]) -> bool:
        if place == "before":
            interrupt_once()
        return ours(kind, content)

    def handle(message: Any) -> None:
        interrupt_once()
        heard.append(message["content"]["data"])

    if place == "before":
        shell.send("execute_request", code="1")
    shell.send("comm_msg", data="yes")
    shell.send("execute_request", code="2")
    with pytest.raises(KeyboardInterrupt):
        shell.main.handle_waiting(wanted, handle)
    shell.main.handle_waiting(wanted, handle)
    assert shell.queued_codes == (["1", "2"] if place == "before" else ["2"])
    assert heard == ["yes"]


@pytest.mark.parametrize(
    "unreadable",
    [
        pytest.param(lambda frames: [b"stop aborting"], id="the kernel's own"),
        pytest.param(lambda frames: [*frames[:3], b"no JSON", *frames[4:]], id="no JSON"),
        pytest.param(lambda frames: [*frames[:2], b"forged", *frames[3:]], id="signed by somebody else"),
    ],
)
def test_what_cannot_be_read_is_left_to_the_kernel(
    shell: Shell, unreadable: Callable[[list[bytes]], list[bytes]]
) -> None:
    frames = [b"ident", *shell.session.serialize(shell.session.msg("comm_msg", {"data": "yes"}))]
    shell.front_end.send_multipart(unreadable(frames))
    shell.send("execute_request", code="2")
    shell.main.handle_waiting(ours, lambda _: pytest.fail("nothing may be handled"))
    assert shell.queued[0] == unreadable(frames)
    assert len(shell.queued) == 2
