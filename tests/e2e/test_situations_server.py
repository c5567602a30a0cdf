"""The Jupyter server is killed, with its kernels, and started again at the same address."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from browser_console import BrowserConsole
from lab_server import Lab, running_lab, serving_again
from model_server import ModelServer, Reply, code
from notebook_page import OpenNotebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

LOAD = "%load_ext jupyter_codeagent\n'loaded'"
ENDLESS = Reply(text=code("import time\nprint(sum([1, 2, 4]))\ntime.sleep(600)"))
LOST = [
    "ERR_CONNECTION_REFUSED",
    "WebSocket connection",
    "status of 404",
    "Failed to fetch",
    "ERR_CONNECTION_RESET",
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, shared_model: ModelServer) -> Iterator[Lab]:
    """A server of its own: it is killed."""
    environment = {"CODEAGENT_BASE_URL": shared_model.url, "CODEAGENT_MODEL": "scripted"}
    with running_lab(tmp_path_factory.mktemp("killed"), environment) as running:
        yield running


NEW_KERNEL = """
for (let tries = 0; ; tries++) {
  try {
    await panel.sessionContext.changeKernel({ name: 'python3' });
    break;
  } catch (error) {
    if (tries === 10) throw error;
    await new Promise(resolve => setTimeout(resolve, 3000));
  }
}
"""
"""Until Lab has looked at the server's list again, it asks for a session that is gone: "Session not found"."""


@pytest.fixture
def servers() -> Iterator[ExitStack]:
    """Those that a test starts; they end after its pages do."""
    with ExitStack() as started:
        yield started


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_killed_server_leaves_no_run_under_way_nothing_is_lost_and_the_next_question_is_answered(
    servers: ExitStack,
    open_notebook: OpenNotebook,
    shared_model: ModelServer,
    lab: Lab,
    tmp_path: Path,
    quiet_console: BrowserConsole,
) -> None:
    shared_model.script(code("max([1, 2, 4])"))
    notebook = open_notebook([LOAD, "%%agent\nA unicorn?", "%%agent\nA minotaur?"])
    panel = notebook.open_panel()
    notebook.run_cell(0)
    notebook.run_cell(1)
    notebook.wait_for_states(["", "", "pending", ""])
    notebook.wait_until_ran(1)
    shared_model.script(ENDLESS)
    notebook.run_cell(3)
    expect(panel.get_by_text("Running in the sandbox")).to_be_visible()
    notebook.saved()
    quiet_console.tolerated += LOST
    lost = notebook.page.get_by_role("dialog").filter(has_text="Server Connection Error")

    def dismiss(dialog: Locator) -> None:
        dialog.get_by_role("button").last.click()

    notebook.page.add_locator_handler(lost, dismiss)  # it comes only if Lab asks the server for something just then
    os.kill(lab.process.pid, signal.SIGKILL)
    servers.enter_context(serving_again(lab, tmp_path / "again.log"))
    expect(panel.get_by_text("This notebook has no kernel").first).to_be_visible()
    expect(panel.get_by_text("running", exact=True)).to_have_count(0)
    panel.get_by_role("button", name="Accept", exact=True).click()
    notebook.wait_for_states(["", "", "accepted", ""])
    panel.get_by_role("tab", name="History").click()
    listed = panel.get_by_role("option").filter(has_text=re.compile("unicorn|minotaur"))
    expect(listed).to_have_count(2)
    expect(listed.filter(has_text="minotaur")).to_contain_text("interrupted")
    expect(listed.filter(has_text="unicorn")).to_contain_text("accepted")

    notebook.call(NEW_KERNEL)
    notebook.wait_for_idle()
    shared_model.script(code("sum([1, 2, 4])"))
    notebook.run_cell(0)
    notebook.run_cell(3)
    notebook.wait_for_states(["", "", "accepted", "", "pending"])
    assert len(notebook.saved().cells) == 5
