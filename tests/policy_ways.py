"""Every way to ask for something, each as a person, a notebook or a program would go it at a `policy_desk.Desk`.

A way gets the settings that it is to ask for, and calls `begin` when the policy comes into force: before that the
user may have asked, said a lasting yes or kept a result under no policy at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import nbformat
from policy_desk import FRAME, OTHER, PROGRAM, QUESTION, Desk

from jupyter_codeagent import agent_tool
from jupyter_codeagent.entrypoints import cli, pending_guard
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.frontend.messages import AskMessage
from jupyter_codeagent.notebook.cells import cell_id
from jupyter_codeagent.session.chat_questions import ChatQuestions
from jupyter_codeagent.session.client_calls import ClientCalls
from jupyter_codeagent.session.given_code import GivenProgram
from jupyter_codeagent.session.run_request import SETTINGS_BY_OPTION
from jupyter_codeagent.settings.config import ENVIRONMENT, PREFERENCES
from jupyter_codeagent.settings.rules import RULES
from jupyter_codeagent.types.approvals import Grant

Asks = Mapping[str, Any]
"""Setting -> value."""
Begin = Callable[[], None]
ALL = frozenset(RULES) - {"candidates"}
"""What `%config` and configuration files can ask for: `candidates` is an option only."""
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way to ask, and the rules whose settings it can name."""

    go: Callable[[Desk, Asks, Begin], object]
    can: frozenset[str] = ALL
    tells: bool = True
    """Whether the user reads what became of a setting that they chose: not where nothing is asked or run."""


def configured(desk: Desk, asks: Asks) -> None:
    """`%config CodeAgent.…` in a cell."""
    for name, value in asks.items():
        desk.run(f"%config CodeAgent.{name} = {value!r}")


def ask(desk: Desk, options: str = "", question: str = QUESTION) -> None:
    desk.run(f"%%agent {options}\n{question}")


# --- questions ------------------------------------------------------------------------------------------


def options(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    begin()
    names = {"timeout_s": "timeout"}
    given = (f"--{names.get(name, name).replace('_', '-')} {value}" for name, value in asks.items())
    ask(desk, " ".join(given))


def line(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    begin()
    configured(desk, asks)
    desk.run(f"%agent {QUESTION}")


def configuration_file(desk: Desk, asks: Asks, begin: Begin) -> None:
    begin()
    desk.start(asks)
    ask(desk)


def environment(desk: Desk, asks: Asks, begin: Begin) -> None:
    """Of the start and of a cell, with a server that needs no yes."""
    begin()
    named = {variable: str(asks[name]) for name in asks for variable in ENVIRONMENT[name]}
    desk.environment = {**named, "CODEAGENT_ALLOW_SERVERS": OTHER}
    desk.start()
    desk.run(f"import os\nos.environ.update({named!r})")
    ask(desk)
    desk.run("%agent models")
    desk.session.state.settings_handler.handle_message({"type": "find_models"})


def jupyterlab_settings(desk: Desk, asks: Asks, begin: Begin) -> None:
    if asks.keys() & ENVIRONMENT.keys():
        desk.forget_environment()  # which is stronger
    desk.start()
    begin()
    desk.session.state.settings_handler.handle_message({"type": "hello", "preferences": dict(asks)})
    ask(desk)


def panel(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    begin()
    handler = desk.session.state.settings_handler
    for name, value in asks.items():
        if name in ENVIRONMENT:
            use = {"model": "small", "base_url": "", name: value}
            handler.handle_message({"type": "use_model", "confirmed": "other.example", **use})
        else:
            handler.handle_message({"type": "choose", "name": name, "value": value})
    handler.handle_message({"type": "find_models"})
    ask(desk)


def use(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    begin()
    desk.run(f"%agent use {asks.get('model', 'scripted')}")


def fix(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    begin()
    configured(desk, asks)
    desk.run("1 / 0")
    desk.run("%agent fix")


def again(desk: Desk, asks: Asks, begin: Begin) -> None:
    """*Run All*: the recorded program, if nothing has changed."""
    desk.start()
    configured(desk, asks)
    desk.asked()
    begin()
    ask(desk)


def refine(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    configured(desk, asks)
    run = desk.asked()
    begin()
    desk.run(f"%agent refine {run.id} as a chart")


def from_earlier(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    configured(desk, asks)
    first = desk.asked()
    ask(desk, question="And the mean?")
    begin()
    ask(desk, f"--from {first.id}", "And the median?")


def next_question(desk: Desk, asks: Asks, begin: Begin) -> None:
    """One that was offered before."""
    desk.start()
    configured(desk, asks)
    desk.session.next_questions._programs["How is n spread?"] = GivenProgram(code=PROGRAM, tables=("df",))
    begin()
    ask(desk, question="How is n spread?")


def several(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    begin()
    configured(desk, {name: value for name, value in asks.items() if name != "candidates"})
    ask(desk, f"--candidates {asks.get('candidates', 1)}")


def dry_run(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    begin()
    configured(desk, asks)
    ask(desk, "--dry-run")


def as_json(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    begin()
    configured(desk, asks)
    shown = desk.run(f"%%agent --json\n{QUESTION}")
    if shown.startswith("{"):
        desk.evidence.told = "\n".join(json.loads(shown)["notes"])


def lasting_yes(desk: Desk, asks: Asks, begin: Begin) -> None:
    """Given before there was a policy: to all code, a server, all calls of a function."""
    desk.start()
    configured(desk, asks)
    ask(desk, "--approve ask")
    desk.session.grants.add([Grant(kind="run"), Grant(kind="server", subject=OTHER)])
    begin()
    ask(desk, "--rerun")


# --- beside questions -----------------------------------------------------------------------------------


def explore(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    begin()
    configured(desk, asks)
    desk.run("%agent explore df --minutes 600")


def report(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    path = desk.saved(desk.asked())
    begin()
    configured(desk, asks)
    desk.run(f"%agent report --notebook {path} -o page.html --overwrite")


def context(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    begin()
    configured(desk, asks)
    desk.run(f"%agent context {QUESTION}")


def looks(desk: Desk, asks: Asks, begin: Begin) -> None:
    """What shows a state and asks for nothing."""
    desk.start()
    begin()
    configured(desk, asks)
    for command in ("status", "models", "doctor", "history", "stop", "reset", "help"):
        desk.run(f"%agent {command}")
    desk.call(desk.session.state)


def pull(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    desk.asked()
    begin()
    configured(desk, asks)
    desk.run("%agent pull made")


def apply(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    run = desk.asked()
    begin()
    configured(desk, asks)
    desk.run(f"%agent apply {run.id}")


def accepted_cell(desk: Desk, asks: Asks, begin: Begin) -> None:
    """Run in place: the page runs it as any other cell."""
    desk.start()
    run = desk.asked()
    desk.saved(run)
    begin()
    configured(desk, asks)
    origin = CellOrigin(cell_id=cell_id(run.id, "code"))
    with desk.monkeypatch.context() as patch:
        patch.setattr(pending_guard, "find_cell_origin", lambda _: origin)
        patch.setattr(pending_guard, "ACCEPT_S", 0)
        desk.run(PROGRAM)


def apply_button(desk: Desk, asks: Asks, begin: Begin) -> None:
    """What the page says before it runs the cell."""
    desk.start()
    run = desk.asked()
    begin()
    configured(desk, asks)
    desk.call(lambda: desk.session.decisions.note_applied(run.id, PROGRAM, decided_by="panel"))


def declared_tools(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()

    def look(n: int) -> int:
        """Look n up."""
        return n

    agent_tool(policy="auto")(look)
    begin()
    configured(desk, asks)
    ask(desk, question="Use look on n")


def added_tools(desk: Desk, asks: Asks, begin: Begin) -> None:
    """One before there was a policy, one after."""
    desk.start()
    desk.run("%agent tool add ask_model auto")
    begin()
    configured(desk, asks)
    desk.run("def look(n: int) -> int:\n    'Look n up.'\n    return n\n%agent tool add look auto")
    ask(desk, question="Use look and ask_model on n")
    desk.run("ask_model('Which city?', 'Rome')")


def database(desk: Desk, asks: Asks, begin: Begin) -> None:
    """Named in one question; the next one asks it again, unless it names something else."""
    desk.start()
    begin()
    configured(desk, asks)
    desk.run("import duckdb\ndb = duckdb.connect()\n_ = db.execute('CREATE TABLE trips AS SELECT 1 AS fare')")
    ask(desk, "--vars db", question="What is the mean fare?")
    ask(desk, question="And the highest?")


def mcp_servers(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    begin()
    configured(desk, asks)
    desk.run("%agent mcp add theirs auto python server.py")


def mcp_client(desk: Desk, asks: Asks, begin: Begin) -> None:
    """All that a client can call."""
    desk.start()
    configured(desk, {"clients": True})
    begin()
    configured(desk, asks)
    session = desk.session
    session.background.serve_when_idle(lambda call: call())
    calls = ClientCalls(
        settings=session.settings,
        live_context=session.live_context,
        runs=session.client_runs,
        run_log=session.run_log,
        link=None,
    )

    def call(tool: str, arguments: Mapping[str, Any]) -> str:
        answer = session.background.run(calls.answer("me", tool, arguments))
        desk.evidence.answers.append(answer)
        return answer

    for tool, arguments in CLIENT_TOOLS.items():
        desk.call(partial(call, tool, arguments))


def chat(desk: Desk, asks: Asks, begin: Begin) -> None:
    """A page inserts the question as a cell and runs it."""
    desk.start()
    configured(desk, {"clients": True})
    begin()
    configured(desk, asks)
    session = desk.session
    inserted: list[str] = []

    async def insert(order: AskMessage, *, web_client: str) -> None:
        inserted.append(order["source"])

    questions = ChatQuestions(
        settings=session.settings,
        runs=session.client_runs,
        run_log=session.run_log,
        current_run=session.current_run,
        masking=session.masking,
        link=cast("Any", SimpleNamespace(is_open=True, ask_in_cell=insert)),
    )
    asked = {"prompt": QUESTION, "notebook": "eda.ipynb", "private": False, "web_client": "page"}

    def call() -> None:
        desk.evidence.answers.append(
            session.background.run(questions.answer("Jupyter AI", "ask", asked, lambda _: None))
        )

    desk.call(call)
    for source in inserted:
        desk.run(source)


CLIENT_TOOLS: Mapping[str, Mapping[str, Any]] = {
    "list_variables": {},
    "describe": {"name": "df"},
    "run_on_copies": {"code": PROGRAM},
    "history": {},
    "insert_cells": {"run_id": "none"},
}


# --- the command line -----------------------------------------------------------------------------------


def command(desk: Desk, *words: str) -> None:
    desk.call(lambda: cli.main(words))


def headless_run(desk: Desk, asks: Asks, begin: Begin) -> None:
    """A notebook with its own `%config`, and with metadata that looks like settings."""
    begin()
    cells = ["%load_ext jupyter_codeagent", *(f"%config CodeAgent.{name} = {asks[name]!r}" for name in asks)]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in (*cells, f"%%agent\n{QUESTION}")],
        metadata={"codeagent": {"settings": dict(asks), **asks}, "jupyter-codeagent": dict(asks)},
    )
    nbformat.write(notebook, desk.directory / "in.ipynb")
    desk.start()
    command(desk, "run", "in.ipynb", "-o", "out.ipynb", "--allow-server", OTHER)


def headless_ask(desk: Desk, asks: Asks, begin: Begin) -> None:
    begin()
    desk.start(asks)
    FRAME.to_csv(desk.directory / "df.csv", index=False)
    command(desk, "ask", QUESTION, "df.csv", "-o", "out.ipynb", "--allow-server", OTHER)


def headless_explore(desk: Desk, asks: Asks, begin: Begin) -> None:
    begin()
    desk.start(asks)
    FRAME.to_csv(desk.directory / "df.csv", index=False)
    command(desk, "explore", "df.csv", "-o", "out.ipynb", "--minutes", "600")


def headless_report(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    path = desk.saved(desk.asked())
    begin()
    write_ipython_config(desk, asks)
    command(desk, "report", str(path), "-o", "page.html", "--overwrite")


def command_line_looks(desk: Desk, asks: Asks, begin: Begin) -> None:
    desk.start()
    begin()
    write_ipython_config(desk, asks)
    command(desk, "doctor")
    command(desk, "models")
    command(desk, "history")


def write_ipython_config(desk: Desk, asks: Asks) -> None:
    """The file that commands read, as kernels do."""
    profile = desk.directory / "ipythondir" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    lines = (f"c.CodeAgent.{name} = {value!r}" for name, value in asks.items())
    (profile / "ipython_config.py").write_text("\n".join(lines), encoding="utf-8")


OPTIONS = frozenset(SETTINGS_BY_OPTION)
WAYS: Mapping[str, Way] = {
    "options of a cell": Way(go=options, can=OPTIONS),
    "%config and a line": Way(go=line),
    "a configuration file": Way(go=configuration_file),
    "the environment": Way(go=environment, can=frozenset(ENVIRONMENT)),
    "JupyterLab's settings": Way(go=jupyterlab_settings, can=frozenset(PREFERENCES)),
    "the panel": Way(go=panel, can=frozenset(PREFERENCES)),
    "%agent use": Way(go=use, can=frozenset({"model"})),
    "%agent fix": Way(go=fix),
    "Run All": Way(go=again),
    "%agent refine": Way(go=refine),
    "--from": Way(go=from_earlier),
    "a next question": Way(go=next_question),
    "--candidates": Way(go=several, can=frozenset(RULES)),
    "--dry-run": Way(go=dry_run),
    "--json": Way(go=as_json),
    "a lasting yes": Way(go=lasting_yes),
    "%agent explore": Way(go=explore),
    "%agent report": Way(go=report, tells=False),
    "%agent context": Way(go=context),
    "what shows a state": Way(go=looks, tells=False),
    "%agent pull": Way(go=pull, tells=False),
    "%agent apply": Way(go=apply, tells=False),
    "an accepted cell": Way(go=accepted_cell, tells=False),
    "Run in my kernel": Way(go=apply_button, tells=False),
    "@agent_tool": Way(go=declared_tools),
    "%agent tool add": Way(go=added_tools),
    "a database": Way(go=database),
    "%agent mcp add": Way(go=mcp_servers, tells=False),
    "an MCP client": Way(go=mcp_client, tells=False),
    "a chat of Jupyter AI": Way(go=chat, tells=False),
    "jupyter codeagent run": Way(go=headless_run),
    "jupyter codeagent ask": Way(go=headless_ask),
    "jupyter codeagent explore": Way(go=headless_explore),
    "jupyter codeagent report": Way(go=headless_report, tells=False),
    "jupyter codeagent doctor": Way(go=command_line_looks, tells=False),
}
"""One row each; a new way to ask is a new row."""
