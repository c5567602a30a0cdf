"""Two notebooks on one kernel: JupyterLab lets only the first one handle comms, and the agent must outlive it."""

from __future__ import annotations

import uuid

import nbformat
import pytest
from lab_server import Lab
from model_server import ModelServer, code
from nbformat.v4 import new_code_cell, new_notebook
from notebook_page import OpenNotebook
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

OPEN_ON_THE_SAME_KERNEL = """async ({ path }) => {
  const first = window.jupyterapp.shell.currentWidget;
  const kernel = { id: first.sessionContext.session.kernel.id };
  const second = await window.jupyterapp.commands.execute('docmanager:open', { path, kernel });
  await second.context.ready;
  await second.sessionContext.ready;
  if (second.sessionContext.session.kernel.handleComms) {
    throw new Error('JupyterLab lets the second connection handle comms: the test tells nothing');
  }
  await first.context.save();
  first.close();
}"""


@pytest.mark.long("another situation of what a test beside it proves")
def test_when_the_notebook_opened_first_is_closed_the_other_one_on_its_kernel_decides_and_gets_its_cells(
    open_notebook: OpenNotebook, shared_model: ModelServer, lab: Lab
) -> None:
    notebook = open_notebook(["%load_ext jupyter_codeagent\n'loaded'"])
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    second = f"second-{uuid.uuid4().hex[:4]}.ipynb"
    kernelspec = {"name": "python3", "display_name": "Python 3"}
    cells = [new_code_cell("%%agent --approve ask\nsum?")]
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernelspec}), lab.root / second)
    notebook.page.evaluate(OPEN_ON_THE_SAME_KERNEL, {"path": second})
    notebook.wait_for_idle()

    shared_model.script(code("sum([1, 2, 4])"))
    panel = notebook.open_panel()
    notebook.run_cell(0)
    panel.get_by_role("button", name="Approve").click()
    notebook.wait_for_states(["", "pending"])
    expect(panel).to_contain_text("Pending cells")
