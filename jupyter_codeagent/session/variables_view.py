"""Variables and house rules as the panel displays them: read on the main thread, sent when something changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import ColumnsMessage, ContextView
from jupyter_codeagent.frontend.state import MAX_VARIABLES, LookAtVariables, columns_message, context_view
from jupyter_codeagent.session.prompt_context import PromptContext
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.house_rules import HouseRules
from jupyter_codeagent.types.variables import VariableSummary
from jupyter_codeagent.variables.privacy.sharing.state import SharingState
from jupyter_codeagent.variables.user_namespace import UserNamespace

SLOW_LOOK_S = 0.05
LOOK_WAIT_FACTOR = 10
MAX_LOOK_WAIT_S = 3.0
"""If reading the variables is slow, it waits, so many seconds at most, until no further cell comes."""

Describe = Callable[[Settings], tuple[PromptContext, tuple[VariableSummary, ...]]]


class VariablesView:
    """Keeps the latest state of the live variables; views of it may be made on any thread."""

    def __init__(
        self,
        *,
        live: UserNamespace,
        sharing: SharingState,
        settings: Callable[[], Settings],
        describe: Describe,
        house_rules: Callable[[Settings], HouseRules],
        forgotten: Callable[[], list[str]],
        link: Callable[[], PanelLink | None],
    ) -> None:
        self._live = live
        self._sharing = sharing
        self._settings = settings
        self._describe = describe
        self._house_rules = house_rules
        self._forgotten = forgotten
        self._link = link
        self._look = LookAtVariables()
        self._look_s = 0.0
        self._sent: ContextView | None = None
        self._waiting: asyncio.TimerHandle | None = None
        try:
            self._main_loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:  # a terminal: there are no pages
            self._main_loop = None

    @property
    def view(self) -> ContextView:
        shared, hidden_columns = self._sharing.shared.copy(), self._sharing.hidden_columns.copy()
        return context_view(self._look, shared, hidden_columns, self._forgotten())

    def found(self, name: str, search: str) -> ColumnsMessage:
        """Return the columns that a page searches for."""
        return columns_message(self._look, self._sharing.hidden_columns.copy(), name, search)

    def cell_ran(self) -> None:
        """Have the pages display what the kernel has now. Called after each cell, on the main thread."""
        if not self._is_anyone_there():
            return
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        if self._look_s < SLOW_LOOK_S or self._main_loop is None:
            self.look()
        else:
            wait_s = min(LOOK_WAIT_FACTOR * self._look_s, MAX_LOOK_WAIT_S)
            self._waiting = self._main_loop.call_later(wait_s, self.look)

    def switched(self, request_id: str = "") -> None:
        """Send what was hidden or shared at once, and read again when the main thread is free. Any thread.

        `request_id` is the id of the page's message that requested it.
        """
        if self._is_anyone_there():
            self._send(self.view, request_id)
        self.look_soon()

    def look_soon(self) -> None:
        """Read the variables when the main thread is free. Any thread."""
        if self._main_loop is not None and not self._main_loop.is_closed():
            self._main_loop.call_soon_threadsafe(self.look)

    def look(self) -> None:
        """Read the variables now, and send what has changed. Main thread."""
        try:
            settings = self._settings()
        except UsageError:
            return  # a configuration that cannot be used stops every run, with the reason
        started = time.monotonic()
        self._look = self._taken(settings)
        self._look_s = time.monotonic() - started
        if self._is_anyone_there() and (view := self.view) != self._sent:
            self._send(view)

    def _taken(self, settings: Settings) -> LookAtVariables:
        shared, hidden_columns = self._sharing.shared.copy(), self._sharing.hidden_columns.copy()
        prompt_context, summaries = self._describe(settings)
        context = prompt_context.context
        withheld = self._live.variables(shared, hidden_columns).withheld
        everything = self._live.everything()
        described = {summary.name for summary in summaries}
        hidden = dict.fromkeys(name for name, how in shared.items() if how == "hidden")
        # A hidden frame under another name, or of a kind without columns: what is not described is hidden.
        hidden |= dict.fromkeys(name for name in hidden_columns if name not in described)
        hidden |= dict.fromkeys(withheld)
        types = {name: type(everything[name]).__name__ if name in everything else "" for name in hidden}
        listed = (*(one.name for one in context.variables), *context.dropped[:MAX_VARIABLES], *hidden)
        return LookAtVariables(
            context=context,
            tokens=prompt_context.count.tokens,
            summaries=summaries,
            hidden=types,
            withheld=withheld,
            columns=self._live.columns(listed),
            privacy=settings.privacy,
            budget_tokens=prompt_context.budget_tokens,
            house_rules=self._house_rules(settings),
        )

    def _is_anyone_there(self) -> bool:
        link = self._link()
        return link is not None and link.is_open

    def _send(self, view: ContextView, request_id: str = "") -> None:
        link = self._link()
        assert link is not None
        self._sent = view
        link.send({"type": "context", "context": view, "heard": request_id})
