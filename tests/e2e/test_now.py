"""What the panel tells of the run under way, and how it is seen from elsewhere, in a real browser."""

from __future__ import annotations

import random
import re
import threading

import pytest
from model_server import ModelServer, Reply
from notebook_page import OpenNotebook
from playwright.sync_api import WebSocketRoute, expect

pytestmark = pytest.mark.browser

LOAD = (
    "%load_ext jupyter_codeagent\nimport pandas as pd\n"
    "df = pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 4]})"
)
LINES = "\n".join(f"total_{line} = df['n'].sum() + {line}  # line {line}" for line in range(80))
LONG = f"The cities are few.\n```python\n{LINES}\ntotal_79\n```\n"
WRONG = "```python\ndf.groupby('citty')['n'].sum()\n```"


def test_the_run_under_way_is_shown_step_by_step_with_streamed_code_in_colours_until_stop(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(Reply(WRONG), Reply(LONG, piece_s=0.05))
    notebook = open_notebook([LOAD, "%%agent\nWhat is the sum of n by city?", "%%agent\nAnd the mean?"])
    panel = notebook.open_panel()
    notebook.run_all()
    steps = panel.get_by_role("list", name="Steps of this run")
    variables, failed, now = (steps.locator("> li").nth(number) for number in range(3))
    expect(now).to_contain_text("Step 2 · The model is writing …")
    expect(now).to_have_attribute("aria-current", "step")
    # What failed is one line; the details are behind it.
    expect(failed).to_contain_text("KeyError")
    expect(failed.get_by_role("group", name="Code of step 1")).to_have_count(0)
    # Prose and code apart, in colours, and the end in sight.
    code = now.get_by_role("group", name="Code of the model so far")
    expect(now).to_contain_text("The cities are few.")
    expect(code).not_to_contain_text("The cities")
    expect(code.locator("span[class]").first).to_be_visible()
    expect(code).to_contain_text("# line 40")
    assert code.evaluate("node => node.scrollHeight - node.scrollTop - node.clientHeight") < 24
    # Who scrolls up stays there while more comes.
    code.evaluate("node => { node.scrollTop = 0; node.dispatchEvent(new Event('scroll')); }")
    expect(now).to_contain_text("per second")
    notebook.page.wait_for_timeout(500)
    assert code.evaluate("node => node.scrollTop") == 0
    # What was copied and sent, the sandbox, the status bar, the question that waits behind.
    variables.locator("summary").first.click()
    expect(variables).to_contain_text("Sent to the model")
    badge = panel.get_by_role("button", name="Sandbox:")
    badge.press("Enter")
    expect(badge).to_have_attribute("aria-expanded", "true")
    expect(panel).to_contain_text("Blocked (tested at startup)")
    status = notebook.page.locator(".jp-CodeAgent-statusItem button")
    expect(status).to_contain_text("Agent: running")
    expect(panel).to_contain_text("1 more question is queued.")
    panel.get_by_role("button", name="Stop this run").click()
    expect(notebook.cells.nth(1)).to_contain_text("Stopped by you")
    expect(panel.get_by_role("article", name="Run").first).to_contain_text("stopped")


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_decision_is_counted_on_the_tab_and_in_the_status_bar_and_told_when_the_panel_shows_another_notebook(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(Reply("```python\ndf['n'].sum()\n```"))
    notebook = open_notebook([LOAD, "%%agent --approve ask\nWhat is the sum of n?"], name="asks.ipynb")
    page = notebook.page
    panel = notebook.open_panel()
    notebook.run_all()
    expect(panel.get_by_role("group", name="Run this in the sandbox?")).to_be_visible()
    tab = page.get_by_role("tab", name="Code agent: 1 decision waiting")
    expect(tab).to_have_attribute("data-codeagent-count", "1")
    expect(page.locator(".jp-CodeAgent-announcer")).to_have_text(
        "The code agent is waiting for your decision in asks.ipynb."
    )
    # Elsewhere: the panel and the status bar lead there.
    notebook.command("launcher:create")
    page.locator(".jp-Launcher:visible").wait_for()  # a page that tests share may have another one behind it
    status = page.locator(".jp-CodeAgent-statusItem button")
    expect(status).to_have_text("1 decision waiting")
    expect(status).to_have_attribute("title", "asks.ipynb: 1 decision waiting")
    status.press("Enter")
    expect(panel.get_by_role("group", name="Run this in the sandbox?")).to_be_visible()
    panel.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("tab", name="Code agent", exact=True)).to_be_visible()
    expect(status).to_be_hidden()


@pytest.mark.long("another situation of what a test beside it proves")
def test_after_lost_progress_messages_the_panel_still_shows_the_whole_code(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    program = "\n".join(f"total_{line} = df['n'].sum() + {line}" for line in range(40))
    # It neither ends nor repeats itself, so that on a slow machine no other reply has begun before we look.
    more_to_come = "# " + " ".join(f"{word} and so on" for word in range(200))
    reply = Reply(f"```python\n{program}\n{more_to_come}", piece_s=0.03, until=threading.Event(), hold_at=300)
    shared_model.script(reply)
    notebook = open_notebook([LOAD, "%%agent\nWhat is the sum of n?"])
    lost: list[bytes] = []
    asked: list[bytes] = []

    # Not every other one: in step with the rhythm of asking and answering all answers would be lost.
    dice = random.Random(1)

    def lose_half(line: WebSocketRoute) -> None:
        server = line.connect_to_server()

        def from_kernel(message: str | bytes) -> None:
            data = message.encode() if isinstance(message, str) else message
            if b'"type": "progress"' in data and dice.random() < 0.5:
                lost.append(data)
            else:
                line.send(message)

        def from_page(message: str | bytes) -> None:
            data = message.encode() if isinstance(message, str) else message
            asked.extend([data] if b'"type":"missed"' in data else [])
            server.send(message)

        server.on_message(from_kernel)
        line.on_message(from_page)

    notebook.page.route_web_socket(re.compile("/channels"), lose_half)
    notebook.reload()
    notebook.wait_for_idle()
    panel = notebook.open_panel()
    notebook.run_all()
    code = panel.get_by_role("group", name="Code of the model so far")
    expect(code).to_contain_text("and so on")
    # Beside the panel the cell itself shows the end only.
    expect(notebook.cells.nth(1)).to_contain_text("lines above")
    expect(notebook.cells.nth(1)).not_to_contain_text("total_0 = ")
    code.evaluate("node => { node.scrollTop = 0; node.dispatchEvent(new Event('scroll')); }")
    expect(code).to_contain_text("total_0 = ")
    drawn = code.locator(".cm-line").all_inner_texts()
    assert drawn[:30] == program.split("\n")[:30]
    assert len(lost) > 3
    assert asked
    panel.get_by_role("button", name="Stop this run").click()
    expect(notebook.cells.nth(1)).to_contain_text("Stopped by you")
