"""The completions of a session: options, subcommands, models, runs, and the user's own names."""

from __future__ import annotations

import argparse
import os
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from jupyter_codeagent.entrypoints.completion.matcher import Index, Offer, Offers, merged
from jupyter_codeagent.entrypoints.completion.position import Grammar
from jupyter_codeagent.entrypoints.options import build_parser
from jupyter_codeagent.frontend.background_loop import BackgroundTask
from jupyter_codeagent.history import RunFilter
from jupyter_codeagent.models.discovery import FoundModel, list_models
from jupyter_codeagent.models.embedded.catalogue import catalogue
from jupyter_codeagent.models.embedded.catalogue_text import downloaded_models
from jupyter_codeagent.session.session import AgentSession
from jupyter_codeagent.types.embedded import EMBEDDED, EMBEDDED_PREFIX
from jupyter_codeagent.types.errors import CodeAgentError

RUNS = 40
"""Number of the newest runs that are offered."""
MODELS_WAIT_S = 0.3
"""Time for the list of models, in seconds; a slower server is offered at the next try."""
MEANINGS = {
    "schema": "names and types only",
    "stats": "statistics of the columns, too",
    "samples": "some values, too",
    "review": "inserted cells wait for your decision",
    "ask": "code waits for your approval before it runs",
    "auto": "nothing waits",
}
"""Values of `--privacy` and `--approve`."""
NO_DATA = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    types.MethodDescriptorType,
)
TAKES_SELECTION = frozenset({"--vars", "share", "hide"})


def session_offers(
    session: AgentSession, subcommands: Mapping[str, str], failed: Callable[[], Iterable[tuple[str, str]]]
) -> Offers:
    """Return the completions of a session.

    `subcommands` are written as in the help: ``"show RUN": "what it does"``; `failed` are failed cells by id, with
    their errors.
    """
    actions = [action for action in build_parser()._actions if action.option_strings]
    commands = {usage.partition(" ")[0]: usage.partition(" ")[2] for usage in subcommands}
    models = _Models(session)

    def runs() -> Iterator[Offer]:
        try:
            _, rows = session.run_log.history.search(RunFilter(), limit=RUNS)
        except CodeAgentError:
            return  # `%agent history` reports the error
        for row in rows:
            yield Offer(text=row.id, meaning=f"{row.status}: {' '.join(row.prompt.split())[:60]}")

    def fixable() -> Iterator[Offer]:
        for cell, error in failed():
            yield Offer(text=cell, meaning=" ".join(error.split())[:60])

    def published() -> Iterator[Offer]:
        for model, weights in catalogue().items():
            yield Offer(text=model, meaning=weights.licence)

    by_command = {"RUN": runs, "RUN text": runs, "NAME": lambda: (), "[CELL]": fixable, "[NAME]": published}
    return Offers(
        grammar=Grammar(
            values={text: action.nargs != 0 for action in actions for text in action.option_strings},
            selections=TAKES_SELECTION,
            subcommands={name: _placeholder(rest) for name, rest in commands.items()},
        ),
        options=Index(_option(action) for action in actions),
        subcommands=Index(Offer(text=usage.partition(" ")[0], meaning=what) for usage, what in subcommands.items()),
        values={
            **{text: _choices(action) for action in actions if action.choices for text in action.option_strings},
            **{name: by_command[rest] for name, rest in commands.items() if rest in by_command},
            "--from": runs,
            "--model": models,
            "use": models,
        },
        variables=lambda: Index(_variables(session)),
        columns=lambda name: Index(_columns(session, [name])),
        names=_Names(session),
    )


def _placeholder(rest: str) -> str:
    return "question" if rest == "[question]" else rest


def _option(action: argparse.Action) -> Offer:
    return Offer(text=action.option_strings[0], meaning=action.help or "")


def _choices(action: argparse.Action) -> Callable[[], Sequence[Offer]]:
    found = [Offer(text=choice, meaning=MEANINGS.get(choice, "")) for choice in map(str, action.choices or ())]
    return lambda: found


def _variables(session: AgentSession) -> list[Offer]:
    return [
        Offer(text=name, meaning=type(value).__name__)
        for name, value in session.live.everything().items()
        if not issubclass(type(value), NO_DATA)  # `isinstance` would ask the value itself, which may run any code
    ]


def _columns(session: AgentSession, names: Iterable[str]) -> list[Offer]:
    """Return the columns, hidden ones as well: only the person who types sees them."""
    listed = session.live.columns(names)
    return merged((column.label, of) for of, columns in listed.items() for column in columns)


class _Names:
    """Variables and columns, looked up again when a cell has run or a name has another value."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._seen: tuple[object, ...] = ()
        self._index = Index(())

    def __call__(self) -> Index:
        live = self._session.live
        seen = (live.cells_run(), *((name, id(value)) for name, value in live.everything().items()))
        if seen != self._seen:
            variables = _variables(self._session)
            columns = _columns(self._session, [offer.text for offer in variables])
            self._index, self._seen = Index([*variables, *columns]), seen
        return self._index


class _Models:
    """The list of models, requested once, in the background."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._task: BackgroundTask[list[FoundModel]] | None = None

    def __call__(self) -> list[Offer]:
        if self._task is None:
            self._task = self._session.background.submit(list_models(self._session.settings().model, os.environ))
        if not self._task.wait(MODELS_WAIT_S):
            return []
        task, self._task = self._task, None
        try:
            found = task.result()
        except CodeAgentError:
            return []  # `%agent models` reports the error; the next key press tries again
        listed = {model.name: model.label for model in found if model.ready}
        others = {f"{EMBEDDED_PREFIX}{model}": EMBEDDED for model in downloaded_models() if model not in listed}
        return [Offer(text=name, meaning=label) for name, label in (listed | others).items()]
