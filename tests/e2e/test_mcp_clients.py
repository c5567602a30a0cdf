"""An MCP client beside a notebook in JupyterLab: its runs in the panel, and its cells for the user to decide on."""

from __future__ import annotations

import pytest
from lab_server import Lab
from mcp_client import Served, call_beside, run
from model_server import ModelServer
from notebook_page import OpenNotebook
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

LOAD = (
    "%load_ext jupyter_codeagent\n%config CodeAgent.clients = True\nimport pandas as pd\n"
    "shop = pd.DataFrame({'region': ['north', 'south', 'north'], 'sales': [10, 20, 60]})"
)
PROGRAM = "# mean sales of each region\nshop.groupby('region').sales.mean()"
LIMIT_S = 120


def test_an_mcp_client_finds_the_kernel_of_a_notebook_and_its_cells_wait_for_the_user(
    open_notebook: OpenNotebook, lab: Lab, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, "'mine'"])
    panel = notebook.open_panel("Now")
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    served = Served((str(lab.root / notebook.name),), lab.environment)
    notebook.call("notebook.activeCellIndex = 0")
    (ran,) = call_beside(served, run(PROGRAM), name="my editor").result(LIMIT_S)
    assert "north    35.0" in ran.text
    expect(panel).to_contain_text("my editor (MCP): # mean sales of each region")
    notebook.picture("mcp-run")

    there = Served((notebook.name, "--server", lab.url), lab.environment)
    insert = ("insert_cells", {"run_id": ran.run_id})
    (inserted,) = call_beside(there, insert, name="my editor").result(LIMIT_S)
    assert "the user decides about them" in inserted.text
    notebook.wait_for_states(["", "", "pending"])
    expect(notebook.cells.nth(2)).to_contain_text("35.0")
    notebook.cells.nth(2).get_by_role("button", name="Accept", exact=True).click()
    notebook.wait_for_states(["", "", "accepted"])
    (history,) = call_beside(served, ("history", {}), name="my editor").result(LIMIT_S)
    assert "ok, cells accepted  # mean sales of each region" in history.text
    notebook.picture("mcp-accepted")
    assert shared_model.requests == []
