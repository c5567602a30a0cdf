"""The user's functions as the code in here may call them: a stub asks the host, which decides, calls and answers.

A call goes out as a `codeagent_call` message on the kernel's iopub socket, like any output. Answers come in on its
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

from .load import load_value
from .send import pack

CALL_TYPE = "codeagent_call"
MAX_ARGUMENT_BYTES = 32 << 20
"""Of the arguments of one call."""
MAX_AT_ONCE = 8
"""Calls of one `tools.map` that wait for their answers."""
POLL_MS = 200

Answer = dict[str, Any]


class Channel:
    """Asks the host, and waits for its answers."""

    def __init__(self, kernel: Any, make_room: Callable[[list[dict[str, Any]]], None]) -> None:
        self._kernel = kernel
        self._make_room = make_room
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        """One thread at a time asks and reads: sockets belong to no thread, but bear only one."""

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        with self._lock:
            [answer] = self._answers([self._ask(name, arguments)])
        return self._result(answer)

    def map(self, name: str, all_arguments: Iterable[dict[str, Any]]) -> list[Any]:
        """In their order. An error is raised when those that had been asked with it have ended."""
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
        """`together` such calls are made in one go, this one included: a person may say yes to all."""
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
        """Of the cell that is running."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_globals is self._kernel.shell.user_global_ns:
                return frame.f_lineno
            frame = frame.f_back
        return None

    def _answers(self, numbers: list[int]) -> list[Answer]:
        """Blocks. An interrupt gets through; the answer that comes after it is thrown away by the next call."""
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
        self._make_room([{"name": f"answer {answer['number']}", **copy}])
        return load_value(answer["directory"], copy["files"], copy["buffers"], copy["head"])


class Tools:
    """``tools.map(function, items)`` and ``tools.search(words)``."""

    def __init__(self, channel: Channel, stubs: Iterable[Stub]) -> None:
        self._channel = channel
        self._stubs = tuple(stubs)

    def search(self, words: str = "", limit: int = 10) -> str:
        """The functions whose name or description has most of these words, a line each; `help` tells more."""
        wanted = re.findall(r"\w+", words.lower())
        counts = {
            stub: sum(word in f"{stub.__name__} {stub.__doc__}".lower() for word in wanted) for stub in self._stubs
        }
        found = sorted((stub for stub in self._stubs if counts[stub] or not wanted), key=lambda stub: -counts[stub])
        return "\n".join(map(str, found[:limit])) or f"no function has any of these words: {words}"

    def map(self, function: Callable[..., Any], items: Iterable[Any]) -> list[Any]:
        """The results in the order of `items`; each is the first argument, or a dict of the arguments by name.

        `function` is one of those that the user lets code call.
        """
        if not isinstance(function, Stub):
            raise TypeError("tools.map(function, items): the function is none of those that the user lets you call")
        return self._channel.map(
            function.__name__,
            (function.bound(**item) if isinstance(item, dict) else function.bound(item) for item in items),
        )


class Stub:
    """One function of the user's. Annotations are text: their types need not be here."""

    def __init__(self, channel: Channel, name: str, signature: str, doc: str) -> None:
        made: dict[str, Any] = {}
        exec(f"from __future__ import annotations\ndef {name}{signature}: ...", made)  # noqa: S102  (the user's text)
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        self.__signature__ = inspect.signature(made[name])
        self._written = f"{name}{signature}"
        self._channel = channel

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._channel.call(self.__name__, self.bound(*args, **kwargs))

    def bound(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Arguments by name; what is not given has its default in the user's kernel.

        Raises
        ------
        TypeError
            It is no call of this function; with the signature.
        """
        try:
            return dict(self.__signature__.bind(*args, **kwargs).arguments)
        except TypeError as problem:
            given = _given(list(self.__signature__.parameters), args, kwargs)
            raise TypeError(f"{self._written}: {problem}; this call gives {given}") from None

    def __repr__(self) -> str:
        first = (self.__doc__ or "").split("\n")[0]
        return f"def {self._written}" + (f"  # {first}" if first else "")


def _given(parameters: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """``month=2013, day=7, too many: 4``: which argument is taken for which."""
    named = {**dict(zip(parameters, args, strict=False)), **kwargs}
    parts = [f"{name}={value!r:.40}" for name, value in named.items()]
    if extra := args[len(parameters) :]:
        parts.append(f"too many: {', '.join(f'{value!r:.40}' for value in extra)}")
    return ", ".join(parts) or "nothing"


def kept_offers(shell: Any) -> dict[str, Any]:
    """An empty dict for `offer`: a name that code gives to something else is the stub's again in the next cell."""
    offered: dict[str, Any] = {}
    shell.events.register("pre_execute", lambda: shell.user_ns.update(offered))
    return offered


def offer(channel: Channel, described: list[dict[str, str]], shell: Any, offered: dict[str, Any]) -> None:
    """Bind a stub for each of `described` (name, signature, doc) in the shell's namespace.

    `offered` is of `kept_offers`; what is no longer described goes. Stubs are not among the
    variables that code has made.
    """
    for name in offered:
        shell.user_ns.pop(name, None)
        shell.user_ns_hidden.pop(name, None)
    offered.clear()
    for one in described:
        offered[one["name"]] = Stub(channel, one["name"], one["signature"], one["doc"])
    if described:
        offered["tools"] = Tools(channel, offered.values())
    shell.user_ns.update(offered)
    shell.user_ns_hidden.update(offered)


def _exception(kind: Any, answer: Answer) -> Exception:
    """Of the built-in class that the host names, if it takes a message alone."""
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(answer["evalue"])
        except TypeError:
            pass  # UnicodeDecodeError and its like want what a message has not
    return RuntimeError(f"{answer['ename']}: {answer['evalue']}")
