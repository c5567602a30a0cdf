"""What the agent sees of the live variables: the user's switches and the notebook's lists, applied in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jupyter_codeagent.types.errors import VariableError
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.variables.privacy.sharing.notebook_metadata import notebook_lists
from jupyter_codeagent.variables.privacy.sharing.rules import Shared, read_sharing
from jupyter_codeagent.variables.privacy.sharing.state import SharingState
from jupyter_codeagent.variables.user_namespace import LiveVariables, UserNamespace


class NotebookSharing:
    """Removes what is hidden from the conversation at once, and from the sandbox before anything else runs."""

    def __init__(self, live: UserNamespace, forget: Callable[[str], None]) -> None:
        """`forget` removes the runs that had a copy of a variable from the conversation."""
        self._live = live
        self._forgetting = [forget]
        self.state = SharingState()
        self.must_reset = False
        """Something was hidden: the sandbox that has its copy is left behind before anything else runs."""

    def also_forget(self, forget: Callable[[str], None]) -> None:
        """Have `forget` called with each name of a variable of which something was hidden. Any thread."""
        self._forgetting.append(forget)

    @property
    def shared(self) -> Mapping[str, Shared]:
        return self.state.shared

    @property
    def hidden_columns(self) -> Mapping[str, frozenset[str]]:
        """Variable -> labels, as `str(label)`."""
        return self.state.hidden_columns

    def visible(self) -> LiveVariables:
        """Return the live variables without what is hidden of them. Main thread."""
        return self._live.variables(self.shared, self.hidden_columns)

    def share(self, name: str, how: Shared) -> None:
        """Have a variable copied always, never, or as the prompt needs it."""
        self.state.set_variable(name, how)
        if how == "hidden":
            self._forget(name)

    def share_columns(self, name: str, labels: frozenset[str], how: Shared) -> None:
        """Hide columns of a variable, or show them again."""
        self.state.set_columns(name, labels, how)
        if how == "hidden":
            self._forget(name)

    def hidden_of(self, name: str) -> frozenset[str]:
        """Return the labels of the columns of a variable that are hidden."""
        return self.hidden_columns.get(name, frozenset())

    def adopt_file(self, notebook: str | None) -> None:
        """Take over the lists in the metadata of a notebook's file, unless a page has sent those that it displays.

        Raises
        ------
        UsageError
            The file cannot be read.
        """
        if not self.state.is_from_page:
            for name in self.state.adopt_file(notebook_lists(notebook)):
                self._forget(name)

    def adopt_page(self, lists: object) -> None:
        """Take over the lists of a notebook as a page displays it; they are checked here."""
        for name in self.state.adopt_page(read_sharing(lists, only_hidden=False)):
            self._forget(name)

    def check(self, options: RunOptions, withheld: Mapping[str, str]) -> None:
        """Raise VariableError for a variable or column that is asked for and hidden.

        `withheld` as in `LiveVariables`.
        """
        for name in options.variables or ():
            if self.shared.get(name) == "hidden":
                raise VariableError(f"{name!r} is hidden from the agent; run `%agent share {name}` first.")
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
                    f"{name}[{hidden}] is hidden from the agent; run `%agent share {name}[{hidden}]` first."
                )

    def _forget(self, name: str) -> None:
        """Forget a variable under each of its names: the sandbox may have a copy, earlier runs may mention it."""
        self.must_reset = True
        for same in self._live.aliases(name):
            for forget in self._forgetting:
                forget(same)
