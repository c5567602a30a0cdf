"""What a person hides in the panel stays hidden: from the model, from the sandbox, over reloads and restarts."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest
from lab_server import Lab
from model_server import ModelServer, code
from nbformat.v4 import new_code_cell, new_notebook
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

LOAD = (
    "%load_ext jupyter_codeagent\nimport pandas as pd\n"
    "df = pd.DataFrame({'city': ['Oslo', 'Rome'], 'n': [1, 2], 'tailnum': ['canary-1', 'canary-2']})"
)
ASK = "%%agent --rerun --privacy samples\nWhat is there?"
COLUMNS = code("print('sandbox has', sorted(df.columns))")


def unfold(panel: Locator, name: str) -> Locator:
    """The panel's entry of a variable, with its columns."""
    entry = panel.get_by_role("listitem").filter(has=panel.page.get_by_label(f"Sharing of {name}"))
    entry.locator("summary").first.click()
    return entry


def checkbox(entry: Locator, column: str) -> Locator:
    """It follows the kernel: clicked and waited for, where Playwright's `check` wants it changed at once."""
    return entry.get_by_role("checkbox", name=column)


def lists(notebook: NotebookPage) -> Any:
    """The agent's entry in the metadata of the notebook itself, as the page has it."""
    return notebook.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.getMetadata('codeagent') ?? null"
    )


def restart_and_run_all(notebook: NotebookPage) -> None:
    notebook.page.evaluate(
        "async () => { await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart(); }"
    )
    notebook.command("notebook:clear-all-cell-outputs")
    notebook.run_all()


def sent_to(model: ModelServer) -> str:
    return json.dumps(model.requests)


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_column_hidden_in_the_panel_never_reaches_the_model_nor_the_sandbox_also_after_reload_and_restart(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(COLUMNS)
    notebook = open_notebook([LOAD, ASK])
    panel = notebook.open_panel("Context")
    notebook.run_cell(0)
    entry = unfold(panel, "df")
    expect(entry.get_by_label("What the model sees of df")).to_contain_text("tailnum")
    checkbox(entry, "tailnum").click()
    expect(checkbox(entry, "tailnum")).not_to_be_checked()
    expect(entry.get_by_label("What the model sees of df")).not_to_contain_text("tailnum")
    assert lists(notebook) == {"version": 1, "shared": {}, "hidden_columns": {"df": ["tailnum"]}}

    notebook.run_cell(1)
    expect(notebook.cells.nth(2)).to_contain_text("sandbox has ['city', 'n']")
    assert "canary" not in sent_to(shared_model)
    assert "tailnum" not in sent_to(shared_model)

    # The page and its lists outlive the kernel; the file has not been saved since the column was hidden.
    shared_model.script(COLUMNS)
    restart_and_run_all(notebook)
    expect(notebook.cells.nth(2)).to_contain_text("sandbox has ['city', 'n']")
    assert shared_model.requests
    assert "canary" not in sent_to(shared_model)
    assert "tailnum" not in sent_to(shared_model)

    # Another page on the saved notebook, and a fresh kernel under it.
    notebook.saved()
    notebook.reload()
    panel = notebook.open_panel("Context")
    expect(checkbox(unfold(panel, "df"), "tailnum")).not_to_be_checked()
    shared_model.script(COLUMNS)
    restart_and_run_all(notebook)
    expect(notebook.cells.nth(2)).to_contain_text("sandbox has ['city', 'n']")
    assert shared_model.requests
    assert "tailnum" not in sent_to(shared_model)


@pytest.mark.long("another situation of what a test beside it proves")
def test_what_is_shown_again_is_told_again_and_the_notebook_keeps_no_entry(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, "%agent hide df[tailnum]", "secret = 1"])
    panel = notebook.open_panel("Context")
    notebook.run_all()
    entry = unfold(panel, "df")
    expect(checkbox(entry, "tailnum")).not_to_be_checked()
    assert lists(notebook)["hidden_columns"] == {"df": ["tailnum"]}
    panel.get_by_label("Sharing of secret").select_option("hidden")
    expect(unfold(panel, "secret")).to_contain_text("The model does not see it")
    panel.get_by_label("Sharing of secret").select_option("auto")
    checkbox(entry, "tailnum").click()
    expect(checkbox(entry, "tailnum")).to_be_checked()
    expect(entry.get_by_label("What the model sees of df")).to_contain_text("tailnum")
    assert lists(notebook) is None


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_notebook_of_another_hides_before_the_first_run_but_shares_nothing_without_a_yes(
    open_notebook: OpenNotebook, shared_model: ModelServer, lab: Lab
) -> None:
    notebook_file = new_notebook(
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
            "codeagent": {
                "version": 1,
                "shared": {"keys": "shared", "<img src=x onerror=pwned()>": "hidden", "df": 7},
                "hidden_columns": {"df": ["tailnum", 7, None], "other": "x"},
            },
        }
    )
    notebook_file.cells = [new_code_cell(source) for source in (LOAD + "\nkeys = ['canary-key']", ASK)]
    nbformat.write(notebook_file, lab.root / "foreign.ipynb")
    shared_model.script(code("print('sandbox has', sorted(df.columns), 'keys' in globals())"))
    notebook = open_notebook([], "foreign.ipynb")
    panel = notebook.open_panel("Context")
    notebook.run_all()
    expect(notebook.cells.nth(2)).to_contain_text("sandbox has ['city', 'n'] False")
    assert "tailnum" not in sent_to(shared_model)
    asked = panel.get_by_role("button", name="Always copy keys")
    asked.click()
    expect(panel.get_by_label("Sharing of keys")).to_have_value("shared")
    expect(asked).to_have_count(0)


@pytest.mark.long("another situation of what a test beside it proves")
def test_looking_at_variables_does_not_change_the_notebook(open_notebook: OpenNotebook) -> None:
    notebook = open_notebook([LOAD, "1 + 1"])
    notebook.open_panel("Context")
    notebook.run_all()
    notebook.wait_until_ran(1)
    notebook.saved()
    unfold(notebook.open_panel("Context"), "df")
    notebook.reload()
    expect(notebook.open_panel("Context").get_by_label("Sharing of df")).to_be_visible()
    assert not notebook.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.model.dirty")
