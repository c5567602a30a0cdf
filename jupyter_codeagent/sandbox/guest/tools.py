"""Stubs of the user's functions for code in the sandbox: a stub asks the host, which decides, calls and answers.

A call is sent as a `codeagent_call` message on the kernel's iopub socket, like any output. Answers come on its
stdin socket, which nothing else uses: it can be read in the middle of a cell.
"""

from __future__ import annotations

import builtins
import inspect
import itertools
import re
import sys
import threading
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

from .databases import create_database
from .load import load_value
from .send import pack

CALL_TYPE = "codeagent_call"
MAX_ARGUMENT_BYTES = 32 << 20
"""Limit for the arguments of one call."""
MAX_AT_ONCE = 8
"""Limit for calls of one `tools.map` that wait for their answers."""
POLL_MS = 200

Answer = dict[str, Any]


class Channel:
    """Connection to the host for calls and their answers."""

    def __init__(self, kernel: Any, raise_memory_limit: Callable[[list[dict[str, Any]]], None]) -> None:
        self._kernel = kernel
        self._raise_memory_limit = raise_memory_limit
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        """One thread at a time sends and reads: any thread may use the sockets, but only one at a time."""

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Call a function of the user's; return its result, or raise its error."""
        with self._lock:
            [answer] = self._answers([self._ask(name, arguments)])
        return self._result(answer)

    def map(self, name: str, all_arguments: Iterable[dict[str, Any]]) -> list[Any]:
        """Call the function for each set of arguments; return the results in order.

        An error is raised once the calls that were sent together with it have ended.
        """
        answers: list[Answer] = []
        left = list(all_arguments)
        with self._lock:
            while left:
                numbers = [
                    self._ask(name, arguments, together=len(left) - at)
                    for at, arguments in enumerate(left[:MAX_AT_ONCE])
                ]
                del left[:MAX_AT_ONCE]
                answers += self._answers(numbers)
                if any(answer["status"] != "ok" for answer in answers):
                    break
        return [self._result(answer) for answer in answers]

    def _ask(self, name: str, arguments: dict[str, Any], together: int = 1) -> int:
        """Send a call, the first of `together` such calls made in one go: a person may approve them all."""
        kind, meta, data = pack(arguments, MAX_ARGUMENT_BYTES)
        if kind == "error":
            raise TypeError(f"{name}() cannot be called with these arguments: {meta}")
        number, kernel = next(self._numbers), self._kernel
        content = {"number": number, "name": name, "line": self._line(), "kind": kind, "meta": meta}
        content["together"] = together
        kernel.session.send(
            kernel.iopub_socket, CALL_TYPE, content, parent=kernel.get_parent(), buffers=[memoryview(data)]
        )
        return number

    def _line(self) -> int | None:
        """Return the current line of the cell that is running."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_globals is self._kernel.shell.user_global_ns:
                return frame.f_lineno
            frame = frame.f_back
        return None

    def _answers(self, numbers: list[int]) -> list[Answer]:
        """Wait for answers. An interrupt gets through; the next call discards an answer that comes after it."""
        found: dict[int, Answer] = {}
        while len(found) < len(numbers):
            if not self._kernel.stdin_socket.poll(POLL_MS):
                continue
            _, message = self._kernel.session.recv(self._kernel.stdin_socket)
            content = message["content"] if message is not None else {}
            if content.get("number") in numbers:
                found[content["number"]] = content
        return [found[number] for number in numbers]

    def _result(self, answer: Answer) -> Any:
        if answer["status"] != "ok":
            kind = getattr(builtins, answer["ename"], None)
            raise _exception(kind, answer)
        copy = answer.get("copy")
        if copy is None:
            return answer["value"]
        self._raise_memory_limit([{"name": f"answer {answer['number']}", **copy}])
        return load_value(answer["directory"], copy["files"], copy["buffers"], copy["head"])


class Tools:
    """``tools.map(function, items)`` and ``tools.search(words)``."""

    def __init__(self, channel: Channel, stubs: Iterable[Stub]) -> None:
        self._channel = channel
        self._stubs = tuple(stubs)

    def search(self, words: str = "", limit: int = 10) -> str:
        """Return the functions whose name or description has most of these words, one per line; see also `help`."""
        wanted = re.findall(r"\w+", words.lower())
        counts = {
            stub: sum(word in f"{stub.__name__} {stub.__doc__}".lower() for word in wanted) for stub in self._stubs
        }
        found = sorted((stub for stub in self._stubs if counts[stub] or not wanted), key=lambda stub: -counts[stub])
        return "\n".join(map(str, found[:limit])) or f"no function has any of these words: {words}"

    def map(self, function: Callable[..., Any], items: Iterable[Any]) -> list[Any]:
        """Call `function` for each item; return the results in order.

        `function` is one of those that the user lets code call. An item is the first argument, or a dict of the
        arguments by name.
        """
        if not isinstance(function, Stub):
            raise TypeError("tools.map(function, items): the function is not one that the user lets you call")
        return self._channel.map(
            function.__name__,
            (function.bound(**item) if isinstance(item, dict) else function.bound(item) for item in items),
        )


class Stub:
    """One function of the user's. Annotations are text: their types need not exist here."""

    def __init__(self, channel: Channel, name: str, signature: str, doc: str) -> None:
        made: dict[str, Any] = {}
        exec(f"from __future__ import annotations\ndef {name}{signature}: ...", made)  # noqa: S102  (the user's text)
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        self.__signature__ = inspect.signature(made[name])
        self._declaration = f"{name}{signature}"
        self._channel = channel

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._channel.call(self.__name__, self.bound(*args, **kwargs))

    def bound(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Bind arguments to names; those not given get their defaults in the user's kernel.

        Raises
        ------
        TypeError
            If the arguments do not fit; the text has the signature.
        """
        try:
            return dict(self.__signature__.bind(*args, **kwargs).arguments)
        except TypeError as problem:
            given = _given(list(self.__signature__.parameters), args, kwargs)
            raise TypeError(f"{self._declaration}: {problem}; this call gives {given}") from None

    def __repr__(self) -> str:
        first = (self.__doc__ or "").split("\n")[0]
        return f"def {self._declaration}" + (f"  # {first}" if first else "")


def _given(parameters: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return which argument is taken for which parameter: ``month=2013, day=7, too many: 4``."""
    named = {**dict(zip(parameters, args, strict=False)), **kwargs}
    parts = [f"{name}={value!r:.40}" for name, value in named.items()]
    if extra := args[len(parameters) :]:
        parts.append(f"too many: {', '.join(f'{value!r:.40}' for value in extra)}")
    return ", ".join(parts) or "nothing"


def create_offers(shell: Any) -> dict[str, Any]:
    """Return an empty dict for `offer`: its stubs are bound again before each cell, in case code rebound a name."""
    offered: dict[str, Any] = {}
    shell.events.register("pre_execute", lambda: shell.user_ns.update(offered))
    return offered


def offer(channel: Channel, described: list[dict[str, Any]], shell: Any, offered: dict[str, Any]) -> None:
    """Bind a stub for each of `described` (name, signature, doc, kind, columns) in the shell's namespace.

    `offered` comes from `create_offers`; stubs that are no longer described are removed. Stubs do not count as
    variables of the code.
    """
    for name in offered:
        shell.user_ns.pop(name, None)
        shell.user_ns_hidden.pop(name, None)
    offered.clear()
    for one in described:
        if one["kind"] == "function":
            offered[one["name"]] = Stub(channel, one["name"], one["signature"], one["doc"])
    if offered:
        offered["tools"] = Tools(channel, offered.values())
    for one in described:
        if one["kind"] != "function":
            offered[one["name"]] = create_database(
                channel.call, one["name"], one["doc"], one["kind"], one["columns"]
            )
    shell.user_ns.update(offered)
    shell.user_ns_hidden.update(offered)


def _exception(kind: Any, answer: Answer) -> Exception:
    """Return an exception of the built-in class that the host names, if it takes just a message."""
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(answer["evalue"])
        except TypeError:
            pass  # UnicodeDecodeError and its like need more arguments
    return RuntimeError(f"{answer['ename']}: {answer['evalue']}")
