"""Stop, interrupts, dead kernels, lost lines and a lost server: the panel is never stuck, nothing comes twice."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from lab_server import Lab
from model_server import ModelServer, Reply, code
from notebook_page import WAIT_S, NotebookPage, OpenNotebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

LOAD = "%load_ext jupyter_codeagent\n'loaded'"
ENDLESS = Reply(text=code("import time\nprint(sum([1, 2, 4]))\ntime.sleep(600)"))
PID = "print('pid', __import__('os').getpid())"


def start(notebook: NotebookPage, model: ModelServer, index: int, reply: Reply) -> Locator:
    """Run a question and return when the model has been asked."""
    panel = notebook.open_panel()
    model.script(reply)
    notebook.run_cell(index)
    model.wait_until_asked()
    return panel


def wait_for_file(path: Path) -> None:
    deadline = time.monotonic() + WAIT_S
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} is not there after {WAIT_S} s"
        time.sleep(0.1)


@pytest.mark.long("another situation of what a test beside it proves")
def test_after_stop_or_interrupt_nothing_is_inserted_and_the_next_question_runs(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, "%%agent\nA gryphon?", "%%agent\nA phoenix?", "%%agent\nA kraken?"])
    notebook.run_cell(0)
    gate = threading.Event()
    panel = start(notebook, shared_model, 1, Reply(text=code("sum([1, 2, 4])"), until=gate))
    stopped_run = panel.get_by_role("article", name="Run")
    stopped_run.get_by_role("button", name="Stop").click()
    expect(notebook.cells.nth(1)).to_contain_text("Stopped by you")
    gate.set()  # its answer comes after Stop

    start(notebook, shared_model, 2, ENDLESS)
    expect(panel.get_by_text("Running in the sandbox")).to_be_visible()
    notebook.call("await panel.sessionContext.session.kernel.interrupt()")
    expect(notebook.cells.nth(2)).to_contain_text("Stopped by you")

    gate = threading.Event()
    start(notebook, shared_model, 3, Reply(text=code("max([1, 2, 4])"), until=gate))
    gate.set()
    notebook.wait_for_states(["", "", "", "", "pending"])
    assert notebook.states() == ["", "", "", "", "pending"]
    panel.get_by_role("tab", name="History").click()
    for question, outcome in (("gryphon", "stopped"), ("phoenix", "stopped"), ("kraken", "cells pending")):
        expect(panel.get_by_role("option").filter(has_text=question)).to_contain_text(outcome)


@pytest.mark.long("another situation of what a test beside it proves")
def test_questions_that_wait_are_answered_in_turn_and_stop_ends_the_one_it_was_pressed_for(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, "%%agent\nA basilisk?", "%%agent\nA chimera?", "%%agent\nA hydra?"])
    notebook.run_cell(0)
    gates = [threading.Event(), threading.Event()]
    held = [Reply(text=code(f"{i} + 1"), until=gate) for i, gate in enumerate(gates)]
    shared_model.script(*held)
    panel = notebook.open_panel()
    for index in (1, 2, 3):
        notebook.run_cell(index)
    shared_model.wait_until_asked()
    expect(panel).to_contain_text("2 more questions are queued.")
    assert len(shared_model.requests) == 1
    gates[0].set()
    notebook.wait_for_states(["", "", "pending", "", ""])
    shared_model.wait_until_asked(2)
    expect(panel).to_contain_text("1 more question is queued.")
    panel.get_by_role("button", name="Stop this run").click()
    chimera = notebook.cells.nth(3)
    expect(chimera).to_contain_text("Stopped by you")
    expect(chimera).to_contain_text("Cells queued after this one were not run.")
    notebook.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.content.widgets[4].model.executionState === 'idle'"
    )
    gates[1].set()
    assert len(shared_model.requests) == 2
    assert notebook.states() == ["", "", "pending", "", ""]
    shared_model.script(code("2 + 1"))
    notebook.run_cell(4)  # it can be asked again
    notebook.wait_for_states(["", "", "pending", "", "", "pending"])


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_killed_kernel_leaves_a_run_that_was_interrupted_and_the_restarted_one_answers(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, PID, "%%agent\nA pelican?"])
    notebook.run_cell(0)
    notebook.run_cell(1)
    notebook.wait_until_ran(1)
    pid = int(notebook.cells.nth(1).locator(".jp-OutputArea-output").inner_text().split()[1])
    panel = start(notebook, shared_model, 2, ENDLESS)
    expect(panel.get_by_text("Running in the sandbox")).to_be_visible()
    os.kill(pid, signal.SIGKILL)
    expect(panel.get_by_text("Running in the sandbox")).to_have_count(0)
    dialog = notebook.page.get_by_role("dialog")
    expect(dialog).to_contain_text("restart")
    dialog.get_by_role("button").last.click()
    panel.get_by_role("tab", name="History").click()
    expect(panel.get_by_role("option").filter(has_text="pelican")).to_contain_text("interrupted")
    panel.get_by_role("tab", name="Now").click()
    notebook.wait_for_idle()
    shared_model.script(code("sum([1, 2, 4])"))
    notebook.run_cell(0)
    notebook.run_cell(2)
    notebook.wait_for_states(["", "", "", "pending"])


@pytest.mark.long("another situation of what a test beside it proves")
def test_cells_arrive_once_when_all_was_lost_that_the_kernel_said_while_the_line_was_cut(
    open_notebook: OpenNotebook, shared_model: ModelServer, tmp_path: Path
) -> None:
    given_up = tmp_path / "given up"
    behind = f"__import__('pathlib').Path({str(given_up)!r}).touch()"
    notebook = open_notebook([LOAD, "%%agent\nA selkie?", behind])
    notebook.run_cell(0)
    gate = threading.Event()
    start(notebook, shared_model, 1, Reply(text=code("sum([1, 2, 4])"), until=gate))
    notebook.run_cell(2)
    # A line that is dead without either end knowing: nothing that the server sends arrives.
    notebook.call("panel.sessionContext.session.kernel._ws.onmessage = () => undefined")
    gate.set()
    # The kernel offers the cells for some seconds. Then its cell ends, and only a page that says hello gets them.
    wait_for_file(given_up)
    assert notebook.states() == ["", "", ""]
    notebook.call("panel.sessionContext.session.kernel._ws.close()")
    notebook.wait_for_states(["", "", "pending", ""])  # Lab itself tries again, after up to 30 s
    run = notebook.open_panel().get_by_role("article", name="Run")
    expect(run).to_contain_text("A selkie?")
    expect(run.get_by_role("button", name="Stop")).to_have_count(0)
    assert len(notebook.saved().cells) == 4


@pytest.mark.long("another situation of what a test beside it proves")
def test_one_notebook_waits_for_a_decision_while_another_one_is_in_front(
    open_notebook: OpenNotebook, shared_model: ModelServer, lab: Lab
) -> None:
    shared_model.choose = lambda request: Reply(text=code("1 + 1" if "first" in str(request) else "2 + 2"))
    try:
        first = open_notebook([LOAD, "%%agent --approve ask\nfirst"], name="waits-a.ipynb")
        second = open_notebook([LOAD, "%%agent --approve ask\nsecond"], name="waits-b.ipynb")
        for notebook in (first, second):
            notebook.page.bring_to_front()
            notebook.run_all()
        for notebook, own in ((first, "1 + 1"), (second, "2 + 2")):
            notebook.page.bring_to_front()
            card = notebook.open_panel().get_by_role("group", name="Run this in the sandbox?")
            expect(card).to_have_count(1)
            expect(card).to_contain_text(own)
            card.get_by_role("button", name="Approve").click()
            notebook.wait_for_states(["", "", "pending"])
    finally:
        shared_model.choose = None
