"""The panel in a page of a hub: under the prefix of a server and of a named one, silent when nothing happens."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator

import pytest
from hub.hub_server import Account, Hub, UserServer
from model_server import ModelServer, Reply, code
from nbformat.v4 import new_code_cell, new_notebook
from notebook_page import READY, WAIT_S, chromium_path
from playwright.sync_api import Page, expect, sync_playwright

IDLE_S = 25
HAS_RESULT = """() => {
  const cells = window.jupyterapp.shell.currentWidget.content.model.cells;
  return [...Array(cells.length).keys()].some(n => cells.get(n).getMetadata('codeagent')?.role === 'code');
}"""


@pytest.fixture(scope="module")
def page(hub: Hub, both: tuple[Account, Account]) -> Iterator[Page]:
    """Of the first user, who has signed in at the hub."""
    expect.set_options(timeout=WAIT_S * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.set_default_timeout(WAIT_S * 1000)
        page.goto(f"{hub.url}/hub/login")
        page.get_by_label("Username").fill(both[0].name)
        page.get_by_label("Password").fill("any")
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_load_state()
        yield page
        browser.close()


@pytest.mark.parametrize("name", ["", "second"])
def test_the_panel_runs_a_question_and_shows_its_own_history_under_the_prefix(
    hub: Hub, both: tuple[Account, Account], shared_model: ModelServer, page: Page, name: str
) -> None:
    shared_model.choose = lambda _: Reply(text=code("6 * 7"))
    account, server = both[0], hub.start_server(both[0], name)
    question = f"of the server {name or 'a'}"
    notebook = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = [new_code_cell("%load_ext jupyter_codeagent"), new_code_cell(f"%%agent\n{question}")]
    file = account.home / f"page{name}.ipynb"
    file.write_text(json.dumps(notebook))
    os.chown(file, account.uid, account.gid)
    page.goto(f"{hub.url}{server.prefix}/lab/workspaces/own{name}/tree/{file.name}")
    page.wait_for_function(READY)
    page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(HAS_RESULT)
    panel = page.get_by_role("region", name="Code agent")
    if not panel.is_visible():
        page.get_by_role("tab", name="Code agent").click()
    panel.get_by_role("tab", name="History").click()
    expect(panel.get_by_role("option", name=question).first).to_be_visible()
    if folder := os.environ.get("CODEAGENT_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/hub{name}.png")
    if not name:
        assert_silent(hub, server, page)
    for session in server.request("/api/sessions"):
        server.request(f"/api/sessions/{session['id']}", method="DELETE")


def assert_silent(hub: Hub, server: UserServer, page: Page) -> None:
    """An open page of ours keeps neither the kernel nor the server from being idle, and so from being culled."""
    page.wait_for_timeout(15_000)  # next questions are tried, a spare sandbox is started
    log_bytes = hub.log.stat().st_size
    before = server.request("/api/kernels")[0]["last_activity"]
    began = time.monotonic()
    page.wait_for_timeout(IDLE_S * 1000)
    assert server.request("/api/kernels")[0]["last_activity"] == before, time.monotonic() - began
    with hub.log.open(encoding="utf-8", errors="replace") as log:
        log.seek(log_bytes)
        asked = [line for line in log if "/jupyter-codeagent/" in line]
    assert asked == []
