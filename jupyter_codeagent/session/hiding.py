"""What of the live variables the agent sees: the user's switches and the notebook's lists, applied in one place."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.types.errors import VariableError
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.variables.privacy.sharing.notebook_metadata import notebook_lists
from jupyter_codeagent.variables.privacy.sharing.rules import Shared, read_sharing
from jupyter_codeagent.variables.privacy.sharing.state import SharingState
from jupyter_codeagent.variables.user_namespace import LiveVariables, UserNamespace


class Hiding:
    """What is hidden leaves the conversation at once, and the sandbox before anything else runs."""

    def __init__(self, live: UserNamespace, book: RunLog) -> None:
        self._live = live
        self._book = book
        self.choices = SharingState()
        self.must_reset = False
        """Something was hidden: the sandbox that has its copy is left behind before anything else runs."""

    @property
    def shared(self) -> Mapping[str, Shared]:
        return self.choices.shared

    @property
    def hidden_columns(self) -> Mapping[str, frozenset[str]]:
        """Variable -> labels, as `str(label)`."""
        return self.choices.hidden_columns

    def visible(self) -> LiveVariables:
        """The live variables without what is hidden of them. Main thread."""
        return self._live.variables(self.shared, self.hidden_columns)

    def share(self, name: str, how: Shared) -> None:
        """Always copy a variable, never, or by the prompt."""
        self.choices.set_variable(name, how)
        if how == "hidden":
            self._forget(name)

    def share_columns(self, name: str, labels: frozenset[str], how: Shared) -> None:
        """Hide columns of a variable, or show them again."""
        self.choices.set_columns(name, labels, how)
        if how == "hidden":
            self._forget(name)

    def hidden_of(self, name: str) -> frozenset[str]:
        """Labels of the columns of a variable that are hidden."""
        return self.hidden_columns.get(name, frozenset())

    def adopt_file(self, notebook: str | None) -> None:
        """The lists in the metadata of a notebook's file, as long as no page has sent those that it shows.

        Raises
        ------
        UsageError
            The file cannot be read.
        """
        if not self.choices.is_from_page:
            for name in self.choices.adopt_file(notebook_lists(notebook)):
                self._forget(name)

    def adopt_page(self, lists: object) -> None:
        """The lists of a notebook as a page shows it, not checked as yet."""
        for name in self.choices.adopt_page(read_sharing(lists, only_hidden=False)):
            self._forget(name)

    def check(self, options: RunOptions, withheld: Mapping[str, str]) -> None:
        """Raises VariableError for a variable or column that is asked for and hidden.

        `withheld` as in `LiveVariables`.
        """
        for name in options.variables or ():
            if self.shared.get(name) == "hidden":
                raise VariableError(f"{name!r} is hidden from the agent; `%agent share {name}` first.")
            hidden = ",".join(map(repr, sorted(self.hidden_of(name))))
            if name in withheld and not hidden:
                raise VariableError(f"{name!r} is not shared with the agent: {withheld[name]}.")
            if name in withheld:
                raise VariableError(
                    f"{name!r} is hidden as a whole: {withheld[name]}, and {hidden} of it are hidden. "
                    f"`%agent share {name}[{hidden}]` first."
                )
        for name, asked in options.columns:
            if hidden := ",".join(repr(label) for label in asked if label in self.hidden_of(name)):
                raise VariableError(
                    f"{name}[{hidden}] is hidden from the agent; `%agent share {name}[{hidden}]` first."
                )

    def _forget(self, name: str) -> None:
        """The sandbox may have a copy of it, and earlier runs may tell of it, under each name that it has."""
        for same in self._live.aliases(name):
            self._book.forget_variable(same)
        self.must_reset = True
