"""Hold what is hidden and shared in one kernel; the user's settings override the lists of the notebook."""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_codeagent.variables.privacy.sharing.rules import Shared, Sharing


class SharingState:
    """The two lists of a session, changed entry by entry from the main thread and the background loop."""

    def __init__(self) -> None:
        self.shared: dict[str, Shared] = {}
        self.hidden_columns: dict[str, frozenset[str]] = {}
        """Variable -> labels, as `str(label)`."""
        self.is_from_page = False
        """A page has sent the lists of its notebook."""
        self._set_by_user: set[str] = set()
        self._columns_set_by_user: set[tuple[str, str]] = set()
        self._of_file = Sharing()

    def set_variable(self, name: str, how: Shared) -> None:
        """Set the sharing of a variable, as the user decided."""
        self._set_by_user.add(name)
        self.shared[name] = how

    def set_columns(self, name: str, labels: frozenset[str], how: Shared) -> None:
        """Set the sharing of columns, as the user decided."""
        self._columns_set_by_user.update((name, label) for label in labels)
        known = self.hidden_columns.get(name, frozenset())
        self._store_columns(name, known | labels if how == "hidden" else known - labels)

    def adopt_file(self, lists: Sharing) -> tuple[str, ...]:
        """Apply the lists of the notebook's file until a page sends its own; return the newly hidden variables."""
        self._of_file = lists
        return tuple(self._added(lists))

    def adopt_page(self, lists: Sharing) -> tuple[str, ...]:
        """Apply the lists of a notebook that a page has open; return the variables of which more is hidden now.

        A second page can hide more, but not unhide: its copy of the notebook may be older than the user's setting.
        """
        if not self.is_from_page:
            self._withdraw_file(lists)
        self.is_from_page = True
        return tuple(dict.fromkeys(self._added(lists)))

    def _withdraw_file(self, lists: Sharing) -> None:
        """Remove the file's lists, but not what `lists` hide, too: a run may be reading at this moment."""
        for name in self._of_file.shared:
            if name not in self._set_by_user and lists.shared.get(name) != "hidden":
                self.shared.pop(name, None)
        for name, labels in self._of_file.hidden_columns.items():
            kept = {label for label in labels if (name, label) in self._columns_set_by_user}
            kept |= labels & lists.hidden_columns.get(name, frozenset())
            self._store_columns(name, self.hidden_columns.get(name, frozenset()) - (labels - kept))
        self._of_file = Sharing()

    def _added(self, lists: Sharing) -> Iterator[str]:
        for name, how in lists.shared.items():
            if name not in self._set_by_user and self.shared.get(name, "auto") in ("auto", "shared"):
                if how == "hidden" and self.shared.get(name) != "hidden":
                    yield name
                self.shared[name] = how
        for name, labels in lists.hidden_columns.items():
            known = self.hidden_columns.get(name, frozenset())
            new = frozenset(label for label in labels - known if (name, label) not in self._columns_set_by_user)
            if new:
                yield name
                self._store_columns(name, known | new)

    def _store_columns(self, name: str, labels: frozenset[str]) -> None:
        if labels:
            self.hidden_columns[name] = labels
        else:
            self.hidden_columns.pop(name, None)
