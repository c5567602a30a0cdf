"""The lasting approvals of one kernel, whatever they are for: one list, which the user sees and can shorten."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping

from jupyter_codeagent.notebook.outputs import visible_code
from jupyter_codeagent.types.approvals import Grant, GrantKind

WORDS: Mapping[GrantKind, str] = {
    "run": "further code of this notebook runs in the sandbox without asking",
    "mount": "the sandbox may read {subject}",
    "call": "code may call {subject}() without asking",
    "query": "code may query the database {subject} without asking you",
    "server": "prompts may go to {subject}",
}
"""Texts in English; the panel has its own, in the user's language."""


class Grants:
    """Grants in memory only: they end with the kernel. Changed from the main thread and the background loop."""

    def __init__(self, changed: Callable[[], object] = lambda: None) -> None:
        """Create an empty list; `changed` is called after each change, on the thread that made it."""
        self._changed = changed
        self._granted: dict[tuple[GrantKind, str], Grant] = {}
        self._lock = threading.Lock()

    @property
    def all(self) -> tuple[Grant, ...]:
        """Grants in the order in which they were given."""
        with self._lock:
            return tuple(self._granted.values())

    def cover(self, wanted: Iterable[Grant]) -> bool:
        """Check whether all of it is granted, and not empty; drop a grant whose name now means something else."""
        granted = {(grant.kind, grant.subject): grant for grant in self.all}
        known = [(grant, granted.get((grant.kind, grant.subject))) for grant in wanted]
        for grant, given in known:
            if given is not None and given != grant:
                self.take_back(grant.kind, grant.subject)
        return bool(known) and all(given == grant for grant, given in known)

    def add(self, grants: Iterable[Grant]) -> None:
        with self._lock:
            self._granted.update({(grant.kind, grant.subject): grant for grant in grants})
        self._changed()

    def take_back(self, kind: str, subject: str = "") -> None:
        """Revoke a grant: the user is asked again."""
        self._keep(lambda grant: (grant.kind, grant.subject) != (kind, subject))

    def clear(self, kind: GrantKind | None = None) -> None:
        """Revoke all grants of a kind, or all there are."""
        self._keep(lambda grant: kind not in (None, grant.kind))

    def _keep(self, wanted: Callable[[Grant], bool]) -> None:
        with self._lock:
            before = self._granted
            self._granted = {key: grant for key, grant in before.items() if wanted(grant)}
        if len(self._granted) < len(before):
            self._changed()


def grant_text(grant: Grant) -> str:
    """Return a text on what the grant allows."""
    return WORDS[grant.kind].format(subject=visible_code(grant.subject))
