"""The persona, without Jupyter AI: which kernel is meant, whose chat it is, and what the chat displays."""

from __future__ import annotations

import asyncio
import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jupyter_codeagent.entrypoints.chat_persona import places
from jupyter_codeagent.entrypoints.chat_persona.places import attached_notebook, is_private, kernel_of
from jupyter_codeagent.entrypoints.chat_persona.reply import answer_markdown, fenced, plain
from jupyter_codeagent.entrypoints.kernel_clients.kernel_link import NOT_LOADED
from jupyter_codeagent.frontend.client_messages import ChatAnswer
from jupyter_codeagent.notebook.outputs.markdown import WIDE_DOLLAR
from jupyter_codeagent.types.errors import CodeAgentError, UsageError

MARKDOWN = MarkdownIt("gfm-like", {"html": True, "linkify": False})
HOSTILE = (
    "![](http://evil.example/?q=1)",
    "[click](javascript:alert(1))",
    "<img src=http://evil.example/x onerror=alert(1)>",
    "`<script>alert(1)</script>`",
    "``<b>x</b>`",
    "\\`<b>x</b>`",
    "a\n# title",
    "*bold* _x_ ~~y~~ | $ @Claude",
    "C:\\temp & \\href{x}",
    "https://evil.example and WWW.evil.example",
)


def displayed(markdown: str) -> tuple[str, set[str]]:
    """The text that a chat shows of Markdown, and the kinds of its markup."""
    inline = [token for block in MARKDOWN.parse(markdown) for token in block.children or ()]
    return "".join(token.content for token in inline), {token.type for token in inline} - {"text", "text_special"}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_line_is_displayed_as_it_is_whatever_is_in_it(text: str) -> None:
    assert displayed(plain(text)) == (" ".join(text.split()).replace("$", WIDE_DOLLAR), set())


@pytest.mark.parametrize(
    "text", ["$\\style{x}{y}$", "\\(x\\)", "\\\\[x\\\\]", "\\begin{a}x\\end{a}", "\\ref{a}", "\\`$x$\\`"]
)
def test_a_formula_in_a_line_is_displayed_as_text(text: str) -> None:
    """JupyterLab looks for formulas in what a chat displays; their styles and links lead anywhere."""
    shown, markup = displayed(plain(text))
    assert (shown.replace(" ", ""), markup) == (text.replace("$", WIDE_DOLLAR), set())
    assert not re.search(r"\$|\\(?:[()\[\]]|begin|end|ref)", shown)


def test_an_address_in_a_line_is_no_link() -> None:
    """Chats make links of bare addresses: `https://…`, `www.…`."""
    assert plain("see HTTPS://evil.example, www.evil.example") == r"see HTTPS\://evil.example, www\.evil.example"


def test_a_command_of_ours_is_displayed_as_code() -> None:
    assert displayed(plain("Run `%load_ext jupyter_codeagent` now.")) == (
        "Run %load_ext jupyter_codeagent now.",
        {"code_inline"},
    )


@given(st.text(alphabet="`~ \n<>ab#![]()\u202e", max_size=60))
def test_an_output_is_one_block_of_code_that_nothing_in_it_ends(text: str) -> None:
    (block,) = MARKDOWN.parse(fenced(text))
    assert block.type == "fence"
    assert "\u202e" not in block.content


def test_a_reply_names_the_notebook_and_has_the_output_between_receipt_and_what_to_do_next() -> None:
    answer = ChatAnswer(above=["✓ 1.1 s", "Rows checked"], output="a  1", below=["Its cells are pending."])
    assert answer_markdown(answer, "my_data.ipynb") == (
        "my\\_data.ipynb: ✓ 1.1 s\n\nRows checked\n\n```text\na  1\n```\n\nIts cells are pending."
    )
    assert answer_markdown(ChatAnswer(above=["Stopped"], output="", below=[]), "x.ipynb") == "x.ipynb: Stopped"


# --- which kernel, whose chat ----------------------------------------------------------------------------


def chat_with(*paths: str) -> Any:
    attached = {str(at): SimpleNamespace(value=path) for at, path in enumerate(paths)}
    return SimpleNamespace(get_attachments=lambda: attached)


def message(body: str = "sum?", attachments: list[str] | None = None, **metadata: object) -> Any:
    return SimpleNamespace(body=body, attachments=attachments, metadata=metadata)


def test_an_attached_notebook_is_meant_and_of_several_none() -> None:
    chat = chat_with("RTC:work/eda.ipynb", "data.csv", "other.ipynb")
    assert attached_notebook(message(), chat) == ""
    assert attached_notebook(message(attachments=["0", "1", "gone"]), chat) == "work/eda.ipynb"
    with pytest.raises(UsageError, match=r"Several notebooks are attached \(work/eda.ipynb, other.ipynb\)"):
        attached_notebook(message(attachments=["0", "2"]), chat)


def in_view(monkeypatch: pytest.MonkeyPatch, told: Mapping[str, Any], **metadata: Any) -> str:
    from contextvars import ContextVar

    target: ContextVar[str | None] = ContextVar("target", default=None)
    asked: list[str | None] = []

    async def execute_command(command: str) -> Mapping[str, Any]:
        asked.append(target.get())
        return told

    tools: Any = ModuleType("tools")
    tools.execute_command, tools.target_client_id = execute_command, target
    monkeypatch.setitem(sys.modules, "jupyterlab_commands_toolkit", ModuleType("toolkit"))
    monkeypatch.setitem(sys.modules, "jupyterlab_commands_toolkit.tools", tools)
    found = asyncio.run(places.notebook_in_view(message(**metadata)))
    assert asked == ([metadata["web_client_id"]] if metadata else [])
    return found


def test_the_notebook_in_view_is_asked_of_the_page_of_the_message_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"success": True, "result": {"notebookPath": "RTC:work/eda.ipynb"}}
    assert in_view(monkeypatch, there, web_client_id="page-1") == "work/eda.ipynb"
    assert in_view(monkeypatch, there) == "", "sent by a program: any page could answer"
    assert in_view(monkeypatch, {"success": False, "error": "No active notebook"}, web_client_id="page-1") == ""
    assert in_view(monkeypatch, {"success": True, "result": "?"}, web_client_id="page-1") == ""


def test_a_notebook_without_a_kernel_with_a_dead_one_or_one_elsewhere_is_told_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "kernel-aa.json"
    file.write_text("{}")
    files = {"aa": str(file), "bb": str(file), "cc": ""}
    manager = SimpleNamespace(get_kernel=lambda kernel_id: SimpleNamespace(connection_file=files[kernel_id]))
    sessions = [
        {"path": "eda.ipynb", "kernel": {"id": "aa", "execution_state": "busy"}},
        {"path": "dead.ipynb", "kernel": {"id": "bb", "execution_state": "dead"}},
        {"path": "far.ipynb", "kernel": {"id": "cc", "execution_state": "idle"}},
    ]
    assert kernel_of("eda.ipynb", sessions, manager).connection_file == file
    for notebook, line in {
        "new.ipynb": "It has no kernel: start one",
        "dead.ipynb": "Its kernel has died: restart it",
        "far.ipynb": "Its kernel runs on another machine",
    }.items():
        with pytest.raises(UsageError, match=line):
            kernel_of(notebook, sessions, manager)


def connected(*names: str) -> Any:
    users = [SimpleNamespace(username=name) for name in names]
    return SimpleNamespace(handlers={at: SimpleNamespace(current_user=user) for at, user in enumerate(users)})


def test_a_chat_is_private_only_if_all_connections_are_of_one_person_who_may_use_kernels() -> None:
    class Authorizer:
        def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
            assert (action, resource) == ("execute", "kernels")
            return bool(user.username != "reader")

    class SlowAuthorizer(Authorizer):
        async def is_authorized(self, *asked: Any) -> bool:  # type: ignore[override]  # as JupyterHub's
            return super().is_authorized(*asked)

    for authorizer in (Authorizer(), SlowAuthorizer()):
        chats = (
            connected("ada"),
            connected("ada", "ada"),
            connected("ada", "bob"),
            connected("reader"),
            connected(),
        )
        assert [asyncio.run(is_private(chat, authorizer)) for chat in chats] == [True, True, False, False, False]
    assert not asyncio.run(is_private(SimpleNamespace(), Authorizer())), (
        "real-time collaboration has no connections"
    )


# --- the persona, against a stand-in of its base class ---------------------------------------------------


class BasePersona:
    """What `jupyter_ai_persona_manager.BasePersona` 0.2 has of what is used."""

    def __init__(self, *, parent: Any, chat: Any) -> None:
        self.parent, self.chat = parent, chat
        self.sent: list[str] = []
        self.statuses: list[str] = []

    def send_message(self, body: str) -> None:
        self.sent.append(body)

    def set_status(self, status: str = "is typing...") -> None:
        self.statuses.append(status)

    def clear_status(self) -> None:
        self.statuses.append("")

    async def shutdown(self) -> None:
        self.statuses.append("shut down")

    def get_chat_path(self, relative: bool = False) -> str:
        return "work/talk.chat"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module of the entry point, as Jupyter AI loads it."""
    api: Any = ModuleType("jupyter_ai_persona_manager")
    api.BasePersona, api.PersonaDefaults = BasePersona, SimpleNamespace
    monkeypatch.setitem(sys.modules, "jupyter_ai_persona_manager", api)
    (found,) = entry_points(group="jupyter_ai.personas", name="codeagent")
    loaded = importlib.import_module(found.module)
    assert found.load() is loaded.CodeAgentPersona
    yield loaded
    del sys.modules[found.module]


def test_the_persona_is_named_as_it_is_mentioned_and_has_a_picture(module: Any) -> None:
    defaults = module.CodeAgentPersona(parent=None, chat=None).defaults
    assert defaults.name == "codeagent"
    assert Path(defaults.avatar_path).read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("body", "question"),
    [
        ("@codeagent mean delay?", "mean delay?"),
        ("  @codeagent: mean delay?", "mean delay?"),
        ("mean delay?", "mean delay?"),
        ("what does @codeagent do?", "what does @codeagent do?"),
        ("@codeagents", "@codeagents"),
    ],
)
def test_a_mention_at_the_beginning_is_no_part_of_the_question(module: Any, body: str, question: str) -> None:
    assert module.question_of(body) == question


def asked(
    module: Any,
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[[Any, Mapping[str, Any]], Any],
    *,
    stop: str = "",
) -> Any:
    """A persona that has answered a message; `ask` stands for the kernel."""

    async def view(_: Any) -> str:
        return "eda.ipynb"

    async def private(*_: Any) -> bool:
        return True

    class Persona(module.CodeAgentPersona):  # type: ignore[misc]
        async def _ask(self, kernel: Any, question: Mapping[str, Any]) -> Any:
            assert kernel == "kernel of eda.ipynb"
            return await ask(self, question)

    server = SimpleNamespace(
        session_manager=SimpleNamespace(list_sessions=lambda: []), kernel_manager=None, authorizer=None
    )
    monkeypatch.setattr(module, "notebook_in_view", view)
    monkeypatch.setattr(module, "is_private", private)
    monkeypatch.setattr(module, "kernel_of", lambda notebook, *_: f"kernel of {notebook}")
    process: Any = ModuleType("serverapp")  # the real one takes a second to import
    process.ServerApp = SimpleNamespace(instance=lambda: server)
    monkeypatch.setitem(sys.modules, "jupyter_server.serverapp", process)
    persona = Persona(parent=None, chat=chat_with())

    async def answered() -> None:
        processing = asyncio.create_task(persona.process_message(message("@codeagent sum?", web_client_id="page")))
        await asyncio.sleep(0.01)
        if stop:
            await getattr(persona, stop)()
        await processing

    asyncio.run(answered())
    return persona


def test_a_message_is_asked_in_the_notebook_in_view_and_answered_in_the_chat(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(persona: Any, question: Mapping[str, Any]) -> ChatAnswer:
        assert question == {"prompt": "sum?", "notebook": "eda.ipynb", "private": True, "web_client": "page"}
        return ChatAnswer(above=["✓ 1.1 s"], output="7", below=[])

    persona = asked(module, monkeypatch, ask)
    assert persona.sent == ["eda.ipynb: ✓ 1.1 s\n\n```text\n7\n```"]
    assert persona.statuses == [""]


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (NOT_LOADED, "eda.ipynb: The agent is not loaded: run `%load_ext jupyter_codeagent` in a cell"),
        ("No model <b>was</b> found.", "eda.ipynb: No model \\<b\\>was\\</b\\> found."),
    ],
)
def test_a_problem_is_one_line_in_the_chat(
    module: Any, monkeypatch: pytest.MonkeyPatch, problem: str, line: str
) -> None:
    async def ask(persona: Any, question: Mapping[str, Any]) -> ChatAnswer:
        raise CodeAgentError(problem)

    (sent,) = asked(module, monkeypatch, ask).sent
    assert re.match(re.escape(line), sent)


@pytest.mark.parametrize("stop", ["cancel_response", "shutdown"])
def test_stop_in_the_chat_and_its_end_stop_the_call(
    module: Any, monkeypatch: pytest.MonkeyPatch, stop: str
) -> None:
    stopped: list[str] = []

    async def ask(persona: Any, question: Mapping[str, Any]) -> ChatAnswer:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.append(question["prompt"])
        raise AssertionError

    persona = asked(module, monkeypatch, ask, stop=stop)
    assert (persona.sent, stopped) == (["Stopped."], ["sum?"])
    asyncio.run(persona.cancel_response())  # nothing is asked any more
