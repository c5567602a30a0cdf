"""What is offered in an `%%agent` cell and behind `%agent`, as IPython asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.completer import IPCompleter, provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from jupyter_codeagent.entrypoints.completion.matcher import (
    AgentCompleter,
    Index,
    Offer,
    Offers,
    install,
    merged,
    uninstall,
)
from jupyter_codeagent.entrypoints.completion.position import Grammar

COLUMNS = {"flights": ("dep delay", "Origin", "a,b", "it's", "日付"), "planes": ("Origin", "seats")}
VARIABLES = [Offer(text=name, meaning="DataFrame") for name in COLUMNS]


def columns(*names: str) -> list[Offer]:
    return merged((label, name) for name in names for label in COLUMNS.get(name, ()))


OFFERS = Offers(
    grammar=Grammar(
        values={"--vars": True, "--privacy": True, "--where": True, "--new": False},
        selections=frozenset({"--vars", "hide"}),
        subcommands={"hide": "a,b", "help": "", "show": "RUN", "context": "question"},
    ),
    options=Index(
        Offer(text=text, meaning=f"about {text}") for text in ("--vars", "--privacy", "--where", "--new")
    ),
    subcommands=Index(Offer(text=text, meaning="") for text in ("hide", "help", "show", "context")),
    values={
        "--privacy": lambda: [Offer(text=text, meaning="") for text in ("schema", "stats")],
        "show": lambda: [Offer(text="abc123", meaning="ok: why?")],
    },
    variables=lambda: Index(VARIABLES),
    columns=lambda name: Index(columns(name)),
    names=lambda: Index([*VARIABLES, *columns(*COLUMNS)]),
)


@pytest.fixture
def ipython() -> Iterator[IPCompleter]:
    shell = InteractiveShell()
    shell.Completer.use_jedi = False  # it gives up after 0.4 s, which a busy machine may need
    completer = AgentCompleter(OFFERS)
    install(shell, completer)
    yield shell.Completer
    uninstall(shell, completer)
    assert shell.Completer.custom_matchers == []
    if shell.history_manager is not None:
        shell.history_manager.end_session()


def completed(ipython: IPCompleter, text: str) -> list[str]:
    """The whole text with each offer taken; ``|`` is the cursor, at the end where it is not written."""
    before, _, after = text.partition("|")
    with provisionalcompleter():
        found = list(ipython.completions(before + after, len(before)))
    return [before[: offer.start] + offer.text + (before + after)[offer.end :] for offer in found]


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("%%agent --pr", ["%%agent --privacy"]),
        ("%%agent --new --v|\nWhy?", ["%%agent --new --vars\nWhy?"]),
        ("%%agent --privacy ", ["%%agent --privacy schema", "%%agent --privacy stats"]),
        ("%%agent --privacy=sc", ["%%agent --privacy=schema"]),
        ("%%agent --vars fl", ["%%agent --vars flights"]),
        ("%%agent --vars flights,p", ["%%agent --vars flights,planes"]),
        ("%%agent --vars planes[s", ["%%agent --vars planes[seats"]),
        ("%%agent --vars planes[seats,o", ["%%agent --vars planes[seats,Origin"]),
        ("%%agent --vars flights[DEP", ["%%agent --vars flights['dep delay'"]),
        ("%%agent --vars flights['dep d", ["%%agent --vars flights['dep delay'"]),
        ('%%agent --where "ori', ['%%agent --where "Origin']),
    ],
)
def test_the_option_line_completes_options_their_values_variables_and_columns(
    text: str, offered: list[str], ipython: IPCompleter
) -> None:
    assert completed(ipython, text) == offered


def test_a_label_that_the_option_line_cannot_hold_is_not_offered_there(ipython: IPCompleter) -> None:
    offered = [
        text.removeprefix("%%agent --vars flights[") for text in completed(ipython, "%%agent --vars flights[")
    ]
    assert offered == ["'dep delay'", "Origin", "'a,b'", "日付"]


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("%%agent\nmean of fli", ["%%agent\nmean of flights"]),
        ("%%agent\nby ori|?", ["%%agent\nby Origin?"]),
        ("%%agent\nwhy is the dep d", ["%%agent\nwhy is the dep delay"]),
        ("%%agent\nwhy is the dep ", ["%%agent\nwhy is the dep delay"]),
        ("%%agent\nflights.se", ["%%agent\nflights.seats"]),
        ("\n%%agent --new\n\nfirst line\nnach 日", ["\n%%agent --new\n\nfirst line\nnach 日付"]),
        ("%agent which se", ["%agent which seats"]),
        ("x = 1\n%agent context se", ["x = 1\n%agent context seats"]),
    ],
)
def test_prose_completes_variable_names_and_column_names_of_several_words(
    text: str, offered: list[str], ipython: IPCompleter
) -> None:
    assert completed(ipython, text) == offered


def test_a_column_of_several_frames_is_offered_once_and_says_where_it_is() -> None:
    assert columns("flights", "planes")[1] == Offer(text="Origin", meaning="column of flights, planes")


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("%agent he", ["%agent help"]),
        ("%agent show ", ["%agent show abc123"]),
        ("%agent hide flights[o", ["%agent hide flights[Origin"]),
    ],
)
def test_subcommands_and_what_they_take_are_completed(text: str, offered: list[str], ipython: IPCompleter) -> None:
    assert completed(ipython, text) == offered


@pytest.mark.parametrize("text", ["%%agent\nplease pri", "%%agent --x", "%agent help i", "%%agent\nfor imp"])
def test_prose_is_never_completed_as_python(text: str, ipython: IPCompleter) -> None:
    assert completed(ipython, text) == [text]


@pytest.mark.parametrize(
    ("text", "python"),
    [("pri", "print"), ("%%time\npri", "print"), ("%%agents\npri", "print"), ("%%agent\n{{pri", "print")],
)
def test_python_stays_for_ipython_also_in_an_expression_of_the_prompt(
    text: str, python: str, ipython: IPCompleter
) -> None:
    assert any(offer.endswith(python) for offer in completed(ipython, text))


def test_the_meaning_of_an_option_stands_beside_it(ipython: IPCompleter) -> None:
    with provisionalcompleter():
        offers = list(ipython.completions("%%agent --", 10))
    assert [(offer.text, offer.type) for offer in offers][:1] == [("--vars", "about --vars")]
