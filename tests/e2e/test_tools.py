"""Functions of the user's, called by code in the sandbox: asked for in the panel, shown with their step."""

from __future__ import annotations

import pytest
from model_server import ModelServer, code
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

LOAD = """%load_ext jupyter_codeagent
import pandas as pd
from jupyter_codeagent import agent_tool
sent = []
df = pd.DataFrame({'city': ['Oslo', 'Rome'], 'n': [1, 2]})

@agent_tool(policy="auto")
def rates(day: str) -> pd.DataFrame:
    "Exchange rates of a day."
    return pd.DataFrame({"rate": [8.0, 1.25]})

@agent_tool
def send(to: str, text: str) -> str:
    "Send a message."
    sent.append((to, text))
    return "sent"
"""
PROGRAM = """total = rates('2013-01-02').rate.sum()
for city in df.city:
    print(send(city, f'rate {total}'))"""


def asked(open_notebook: OpenNotebook, prompt: str) -> tuple[NotebookPage, Locator, Locator]:
    """A notebook with the functions in which this is running; its panel, and the card of a call."""
    notebook = open_notebook([LOAD, f"%%agent\n{prompt}", "print(sent)"])
    panel = notebook.open_panel()
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    notebook.run_cell(1)
    return notebook, panel, panel.get_by_role("group", name="Call your function in YOUR kernel?")


def test_each_call_is_asked_for_with_its_arguments_while_the_program_waits_and_can_be_changed_or_refused(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code(PROGRAM), code("print('gave up', *df.city)"))
    notebook, panel, card = asked(open_notebook, "Send the sum of the rates to each city")
    expect(card).to_be_visible()
    expect(card).to_contain_text("Line 3 of the program calls your function send(to: str, text: str) -> str.")
    expect(card.locator(".cm-content")).to_contain_text("send(to='Oslo', text='rate 9.25')")
    notebook.picture("tool_call")
    card.locator(".cm-content").click()
    notebook.page.keyboard.press("Control+A")
    notebook.page.keyboard.type("send('Bergen', 'rate 9')")
    card.get_by_role("button", name="Approve").click()
    expect(card.locator(".cm-content")).to_contain_text("send(to='Rome', text='rate 9.25')")
    card.get_by_label("Why not?").fill("not to Rome")
    card.get_by_role("button", name="Reject").click()
    notebook.wait_for_states(["", "", "pending", ""])
    panel.get_by_text("Step 1").click()
    expect(panel).to_contain_text("Called in your kernel (3)")
    expect(panel).to_contain_text("rates('2013-01-02') → DataFrame 2x1 · line 1")
    expect(panel).to_contain_text("send(to='Bergen', text='rate 9') → 'sent' · line 3")
    expect(panel).to_contain_text("send(to='Rome', text='rate 9.25') not allowed")
    expect(panel).to_contain_text("PermissionError: the user rejected this call of send: not to Rome")
    notebook.picture("tool_calls_made")
    notebook.run_cell(3)
    notebook.wait_until_ran(3)
    expect(notebook.cells.nth(3)).to_contain_text("[('Bergen', 'rate 9')]")


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_yes_for_all_calls_of_a_function_is_asked_once(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code(PROGRAM))
    notebook, _, card = asked(open_notebook, "Send the sum to each city")
    card.get_by_label("all calls to send() in this notebook").check()
    card.get_by_role("button", name="Approve").click()
    notebook.wait_for_states(["", "", "pending", ""])
    notebook.run_cell(3)
    notebook.wait_until_ran(3)
    expect(notebook.cells.nth(3)).to_contain_text("[('Oslo', 'rate 9.25'), ('Rome', 'rate 9.25')]")


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_yes_can_be_for_all_calls_that_the_program_makes_in_one_go_and_for_no_other(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    program = "print(tools.map(send, [{'to': c, 'text': 'hi'} for c in ['a', 'b', 'c']]))\nprint(send('d', 'hi'))"
    shared_model.script(code(program), code("print('gave up', *df.city)"))
    notebook, panel, card = asked(open_notebook, "Send hi to each")
    expect(card).to_contain_text("It makes 3 calls to it at once.")
    expect(card.get_by_role("spinbutton", name="Calls to this function")).to_have_value("3")
    card.get_by_label("this many calls to it in this run").check()
    notebook.picture("tool_calls_in_one_go")
    card.get_by_role("button", name="Approve").click()
    expect(card.locator(".cm-content")).to_contain_text("send(to='d', text='hi')")
    expect(panel).to_contain_text("Called in your kernel (3)")  # while the program waits for the fourth
    expect(panel).to_contain_text("send(to='c', text='hi') → 'sent' · line 1")
    notebook.picture("tool_calls_so_far")
    card.get_by_role("button", name="Reject").click()
    notebook.wait_for_states(["", "", "pending", ""])
    notebook.run_cell(3)
    notebook.wait_until_ran(3)
    expect(notebook.cells.nth(3)).to_contain_text("[('a', 'hi'), ('b', 'hi'), ('c', 'hi')]")
