"""What the request handlers share: errors as JSON, conditions from the query, paths as the page has them."""

from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, get_args

from jupyter_server.base.handlers import APIHandler

from jupyter_codeagent.frontend.server.notebook_paths import NotebookPaths
from jupyter_codeagent.history import OUTCOMES, HistoryStore, RunFilter
from jupyter_codeagent.types.errors import CodeAgentError, UnknownRunError, UsageError
from jupyter_codeagent.types.run import RunStatus

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[None]])


def reported(method: Handler) -> Handler:
    """Answer our own errors as JSON; any other is left to Jupyter Server, which logs it and answers 500."""

    @functools.wraps(method)
    async def inner(self: HistoryHandler, *args: str) -> None:
        try:
            await method(self, *args)
        except CodeAgentError as error:
            self.set_status(_http_status(error))
            self.finish(json.dumps({"message": str(error)}))

    return inner  # type: ignore[return-value]


def _http_status(error: CodeAgentError) -> int:
    if isinstance(error, UnknownRunError):
        return 404
    return 400 if isinstance(error, UsageError) else 500


class HistoryHandler(APIHandler):
    """Base of all handlers."""

    auth_resource = "jupyter-codeagent"
    """For an authorizer that tells users apart; Jupyter Server's own allows every authenticated user."""

    def initialize(self, history: HistoryStore) -> None:
        self.history = history

    def answer(self, value: dict[str, Any]) -> None:
        try:
            self.finish(json.dumps(value, allow_nan=False))
        except ValueError:  # for NaN in an output's JSON a browser refuses the whole answer
            self.finish(json.dumps(_without_nan(value)))

    @property
    def paths(self) -> NotebookPaths:
        return NotebookPaths(root=os.path.abspath(os.path.expanduser(root)) if (root := self._root()) else "")

    def _root(self) -> str:
        return str(getattr(self.contents_manager, "root_dir", "") or "")

    def wanted(self) -> RunFilter:
        """Return the conditions in the query.

        Raises
        ------
        UsageError
            A value that no run can have.
        """
        status, outcome = self.get_query_argument("status", ""), self.get_query_argument("outcome", "")
        notebook = self.get_query_argument("notebook", "")
        return RunFilter(
            text=self.get_query_argument("search", ""),
            notebooks=self.paths.recorded(notebook) if notebook else (),
            model=self.get_query_argument("model", "") or None,
            status=self.choice("status", status, get_args(RunStatus)) if status else None,
            outcome=self.choice("outcome", outcome, OUTCOMES) if outcome else None,
            since=self.number("since", 0, digits=12) or None,
        )

    def number(self, name: str, default: int, *, digits: int = 9) -> int:
        text = self.get_query_argument(name, str(default))
        if not (text.isascii() and text.isdigit() and len(text) <= digits):
            raise UsageError(f"{name}={text[:20]!r} is not a number from 0 to {'9' * digits}.")
        return int(text)

    def choice(self, name: str, value: Any, choices: tuple[str, ...]) -> Any:
        if value not in choices:
            raise UsageError(f"{name}={str(value)[:40]!r} is not one of {', '.join(choices)}.")
        return value


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
