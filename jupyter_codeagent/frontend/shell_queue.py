"""Messages of the kernel's main shell while a cell is running: a person's decision may be among them.

Messages of a page without a subshell (an older ipykernel, a front end that knows none, a page that was not given
one) go to the main shell, where they would wait for the end of the very cell that waits for them. Here the main
thread takes out what belongs to the agent. All else is queued again in its order, as the kernel would have queued
it, and is handled after the cell.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import zmq

Message = dict[str, Any]
Wanted = Callable[[str, Mapping[str, Any]], bool]
"""Filter by type and content of a message whose signature has not been checked yet."""


class MainShell:
    """The queue of the main shell; for the main thread only, and only while it is executing a cell."""

    def __init__(self, kernel: Any) -> None:
        """Find the shell channel; raise AttributeError if the kernel is not built as in ipykernel 6 and 7."""
        self._kernel = kernel
        thread = getattr(kernel, "shell_channel_thread", None)
        if thread is not None:  # ipykernel 7: this thread reads the channel and forwards to the main thread
            self._socket = thread.manager.get_shell_channel_to_subshell_pair(None).to_socket
        else:
            self._socket = kernel.shell_stream.socket

    def handle_waiting(self, wanted: Wanted, handle: Callable[[Message], None]) -> None:
        """Have the wanted messages handled, signatures checked; an interrupt waits until nothing can be lost."""
        while self._socket.getsockopt(zmq.EVENTS) & zmq.POLLIN:
            with _interrupts_held_back():
                frames = self._socket.recv_multipart(zmq.NOBLOCK, copy=False)
                message = self._message_if(frames, wanted)
                if message is None:
                    self._queue_again(frames)
                else:
                    handle(message)
                    self._done(message)

    def _done(self, message: Message) -> None:
        """Report the message as handled: until then a page holds back later changes."""
        session, iopub = self._kernel.session, self._kernel.iopub_socket
        for state in ("busy", "idle"):
            session.send(iopub, "status", {"execution_state": state}, parent=message, ident=b"status")

    def _message_if(self, frames: list[zmq.Frame], wanted: Wanted) -> Message | None:
        """Return the message if it is wanted; None also if it cannot be read: the kernel reports or handles it."""
        session = self._kernel.session
        try:
            _, parts = session.feed_identities(frames, copy=False)
            if len(parts) < 5:
                return None
            header, content = session.unpack(parts[1].bytes), session.unpack(parts[4].bytes)
            if not wanted(header.get("msg_type", ""), content):
                return None
            message: Message = session.deserialize(parts, content=True, copy=False)
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
            return None
        return message

    def _queue_again(self, frames: list[zmq.Frame]) -> None:
        kernel = self._kernel
        if hasattr(kernel, "schedule_dispatch"):  # ipykernel 6
            kernel.schedule_dispatch(kernel.dispatch_shell, frames)
        else:
            kernel.io_loop.add_callback(kernel.shell_main, None, frames)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Delay a KeyboardInterrupt to the end of the block; for short blocks only."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield  # no handler of Python to delay, or raised in another thread
        return
    arrived: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: arrived.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if arrived:
            signal.raise_signal(signal.SIGINT)
