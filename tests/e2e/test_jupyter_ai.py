"""The agent in a chat of Jupyter AI 3, in a real JupyterLab of its own environment (`make jupyter-ai-check`)."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_console import BrowserConsole
from lab_server import Lab, running_lab
from model_server import ModelServer, Reply, code
from nbformat.v4 import new_code_cell, new_notebook
from notebook_page import NotebookPage
from playwright.sync_api import Browser, Locator, Page, expect

ENVIRONMENT = os.environ.get("CODEAGENT_JUPYTER_AI", "")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not ENVIRONMENT, reason="wants an environment with Jupyter AI: make jupyter-ai-check"),
]

LOAD = (
    "%load_ext jupyter_codeagent\n%config CodeAgent.clients = True\nimport pandas as pd\n"
    "shop = pd.DataFrame({'region': ['north', 'south', 'north'], 'sales': [10, 20, 60],\n"
    "                     'email': ['ada@example.org', 'bo@example.org', 'cy@example.org']})"
)
MEAN = code("shop.groupby('region').sales.mean()")
CHAT = "talk.chat"
OPEN_CHAT = "jupyterlab-chat:createAndOpen"


class Chat:
    """A chat beside a notebook, with the words of a person for what they do there."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.box = page.locator(".jp-chat-input-textfield textarea").first
        self.stop = page.get_by_role("button", name="Stop generating")
        self.messages = page.locator(".jp-chat-rendered-message")

    def open(self) -> None:
        self.page.wait_for_function(f"() => window.jupyterapp?.commands.hasCommand('{OPEN_CHAT}')")
        arguments = f"{{ name: '{CHAT}', inSidePanel: true }}"
        self.page.evaluate(
            f"async () => {{ await window.jupyterapp.commands.execute('{OPEN_CHAT}', {arguments}); }}"
        )
        expect(self.page.get_by_title("Choose which persona to message")).to_contain_text("codeagent")

    def say(self, text: str) -> None:
        self.box.fill(text)
        self.page.keyboard.press("Escape")  # the list of completions
        self.page.keyboard.press("Enter")

    def answer(self, number: int) -> Locator:
        """The reply to the message of this number, as displayed."""
        return self.messages.nth(2 * number - 1)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, shared_model: ModelServer) -> Iterator[Lab]:
    bin_folder = Path(ENVIRONMENT).resolve() / "bin"
    path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    environment = {"CODEAGENT_BASE_URL": shared_model.url, "CODEAGENT_MODEL": "scripted", "PATH": path}
    base = tmp_path_factory.mktemp("jupyter-ai")
    with running_lab(base, environment, python=str(bin_folder / "python")) as running:
        yield running


@pytest.fixture
def notebook(lab: Lab, browser: Browser, quiet_console: BrowserConsole) -> Iterator[NotebookPage]:
    quiet_console.tolerated += ["status of 404", "Comm not found for comm id"]  # of a file to be; of our own link
    written = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    written.cells = [new_code_cell(source) for source in ("'nothing loaded'", LOAD, "'mine'")]
    (lab.root / "eda.ipynb").write_text(json.dumps(written), encoding="utf-8")
    lab.start_session("eda.ipynb")
    with browser.new_context() as context:
        page = context.new_page()
        page.set_viewport_size({"width": 1500, "height": 950})
        yield NotebookPage(page=page, lab=lab, name="eda.ipynb")


def test_a_message_in_a_chat_becomes_a_run_with_pending_cells_in_the_notebook_in_view(
    notebook: NotebookPage, lab: Lab, browser: Browser, shared_model: ModelServer
) -> None:
    page, chat = notebook.page, Chat(notebook.page)
    page.goto(f"{lab.url}/lab")
    chat.open()
    chat.say("@codeagent mean sales of each region")
    expect(chat.answer(1)).to_contain_text("No notebook is in view: open the one with your variables")

    notebook.open_in_loaded_page()
    chat.say("@codeagent mean sales of each region")
    expect(chat.answer(2)).to_contain_text("eda.ipynb: The agent is not loaded: run %load_ext jupyter_codeagent")
    notebook.run_cell(1)
    notebook.wait_until_ran(1)
    execute(notebook, "%config CodeAgent.clients = False")
    chat.say("@codeagent mean sales of each region")
    expect(chat.answer(3)).to_contain_text("Chats may not use this kernel yet: run %config CodeAgent.clients")
    assert shared_model.requests == []
    notebook.run_cell(1)
    notebook.wait_for_idle()

    shared_model.script(MEAN)
    notebook.call("notebook.activeCellIndex = 1")
    chat.say("@codeagent mean sales of each region")
    notebook.wait_for_states(["", "", "", "pending", ""])
    assert "%%agent\nmean sales of each region" in notebook.call("return shared.cells.map(c => c.getSource())")
    answer = chat.answer(4)
    expect(answer).to_contain_text("eda.ipynb: ✓")
    expect(answer).to_contain_text("copied shop")
    expect(answer).to_contain_text("Rows checked")
    expect(answer).to_contain_text("north    35.0")
    expect(answer).to_contain_text("Its cells are pending in the notebook")
    notebook.picture("chat-answer")
    notebook.cells.nth(3).get_by_role("button", name="Accept", exact=True).click()
    notebook.wait_for_states(["", "", "", "accepted", ""])

    decided(notebook, chat, shared_model)
    stopped(notebook, chat, shared_model)
    shared(notebook, lab, browser, shared_model)


def execute(notebook: NotebookPage, source: str, *, wait: bool = True) -> None:
    """Have the kernel execute something without a cell."""
    request = f"panel.sessionContext.session.kernel.requestExecute({{ code: {json.dumps(source)} }}).done"
    notebook.call(f"{'await' if wait else 'void'} {request}")


def decided(notebook: NotebookPage, chat: Chat, shared_model: ModelServer) -> None:
    """With approve = ask the chat says that a decision is waited for; yes and no are the panel's."""
    execute(notebook, "%config CodeAgent.approve = 'ask'")
    panel = notebook.open_panel()
    card = panel.get_by_role("group", name="Run this in the sandbox?")
    shared_model.script(code("print(shop.email[0], shop.sales.max())"))
    chat.say("the highest sale, and of whom?")
    expect(card).to_be_visible()
    expect(notebook.page.get_by_text("codeagent · waiting for your decision")).to_be_visible()
    notebook.picture("chat-decision")
    card.get_by_role("button", name="Approve").click()
    expect(chat.answer(5)).to_contain_text("*** 60")
    shared_model.script(MEAN)
    chat.say("once more")
    card.get_by_role("button", name="Reject").click()
    expect(chat.answer(6)).to_contain_text("Rejected by you")


def stopped(notebook: NotebookPage, chat: Chat, shared_model: ModelServer) -> None:
    """Stop in the chat ends the run under way, and keeps one from beginning that waits for the kernel."""
    shared_model.script(Reply(text=MEAN, until=threading.Event()))
    chat.say("a long one")
    shared_model.wait_until_asked()
    expect(notebook.page.get_by_text("codeagent · the model is writing")).to_be_visible()
    chat.stop.click()
    expect(chat.answer(7)).to_contain_text("Stopped.")
    notebook.wait_until_run_ended("a long one")
    notebook.picture("chat-stopped")

    shared_model.script(MEAN)
    execute(notebook, "import time; time.sleep(6)", wait=False)
    chat.say("behind a cell of mine")
    expect(notebook.page.get_by_text("codeagent · waiting for the kernel")).to_be_visible()
    chat.stop.click()
    expect(chat.answer(8)).to_contain_text("Stopped.")
    notebook.wait_for_idle()
    assert shared_model.requests == []


def shared(notebook: NotebookPage, lab: Lab, browser: Browser, shared_model: ModelServer) -> None:
    """Where somebody else is in the chat, a question stands in the notebook and waits for a person to run it."""
    with browser.new_context() as other:
        page = other.new_page()
        page.set_viewport_size({"width": 1500, "height": 950})
        page.goto(f"{lab.url}/lab/workspaces/other/tree/eda.ipynb")
        page.wait_for_function("() => Boolean(window.jupyterapp?.shell.currentWidget?.sessionContext?.isReady)")
        panel = NotebookPage(page=page, lab=lab, name=notebook.name).open_panel()
        expect(panel).to_contain_text("Sandbox:")  # the page is linked to the kernel
        chat = Chat(page)
        chat.open()
        chat.say("@codeagent what does Ada have?")
        expect(chat.messages.last).to_contain_text("nobody can run a question for somebody else")
        expect(page.locator(".jp-Notebook")).to_contain_text("what does Ada have?")
        assert "what does Ada have?" not in notebook.call("return shared.cells.map(c => c.getSource()).join()")
        if folder := os.environ.get("CODEAGENT_SCREENSHOTS"):
            page.screenshot(path=f"{folder}/chat-shared.png")
    assert shared_model.requests == []
