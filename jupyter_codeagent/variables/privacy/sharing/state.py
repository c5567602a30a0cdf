"""What is hidden and shared in one kernel: the user's choices go before the lists that a notebook brings."""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_codeagent.variables.privacy.sharing.rules import Shared, Sharing


class SharingState:
    """The two lists of a session. Changed from the main thread and from the background loop, entry by entry."""

    def __init__(self) -> None:
        self.shared: dict[str, Shared] = {}
        self.hidden_columns: dict[str, frozenset[str]] = {}
        """Variable -> labels, as `str(label)`."""
        self.is_from_page = False
        """A page has sent the lists of its notebook."""
        self._chosen: set[str] = set()
        self._chosen_columns: set[tuple[str, str]] = set()
        self._of_file = Sharing()

    def choose(self, name: str, how: Shared) -> None:
        """The user's switch for a variable."""
        self._chosen.add(name)
        self.shared[name] = how

    def choose_columns(self, name: str, labels: frozenset[str], how: Shared) -> None:
        """The user's switches for columns."""
        self._chosen_columns.update((name, label) for label in labels)
        known = self.hidden_columns.get(name, frozenset())
        self._set_columns(name, known | labels if how == "hidden" else known - labels)

    def adopt_file(self, lists: Sharing) -> tuple[str, ...]:
        """Lists of the notebook's file, which hold until a page sends its own. Returns what is newly hidden."""
        self._of_file = lists
        return tuple(self._added(lists))

    def adopt_page(self, lists: Sharing) -> tuple[str, ...]:
        """Lists of a notebook as a page shows it; returns the variables of which something is newly hidden.

        A second page can hide more but show nothing again: its notebook may be older than the user's choice.
        """
        if not self.is_from_page:
            self._withdraw_file(lists)
        self.is_from_page = True
        return tuple(dict.fromkeys(self._added(lists)))

    def _withdraw_file(self, lists: Sharing) -> None:
        """But not what `lists` hide as well: it is hidden at every moment, a run may be looking right now."""
        for name in self._of_file.shared:
            if name not in self._chosen and lists.shared.get(name) != "hidden":
                self.shared.pop(name, None)
        for name, labels in self._of_file.hidden_columns.items():
            kept = {label for label in labels if (name, label) in self._chosen_columns}
            kept |= labels & lists.hidden_columns.get(name, frozenset())
            self._set_columns(name, self.hidden_columns.get(name, frozenset()) - (labels - kept))
        self._of_file = Sharing()

    def _added(self, lists: Sharing) -> Iterator[str]:
        for name, how in lists.shared.items():
            if name not in self._chosen and self.shared.get(name, "auto") in ("auto", "shared"):
                if how == "hidden" and self.shared.get(name) != "hidden":
                    yield name
                self.shared[name] = how
        for name, labels in lists.hidden_columns.items():
            known = self.hidden_columns.get(name, frozenset())
            new = frozenset(label for label in labels - known if (name, label) not in self._chosen_columns)
            if new:
                yield name
                self._set_columns(name, known | new)

    def _set_columns(self, name: str, labels: frozenset[str]) -> None:
        if labels:
            self.hidden_columns[name] = labels
        else:
            self.hidden_columns.pop(name, None)
