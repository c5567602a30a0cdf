"""Front ends without our panel, emulated by the very messages that they send: VS Code, Colab, nbclient, papermill.

None of these applications runs here, except papermill and nbclient.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest
from kernel_client import Kernel
from model_server import ModelServer, code
from nbformat.v4 import new_code_cell, new_notebook

SUM = code("df.groupby('city')['n'].sum()")
VSCODE_CELL = "vscode-notebook-cell:/home/me/a.ipynb#W0sZmlsZQ%3D%3D"
LOAD = (
    "%load_ext jupyter_codeagent\nimport pandas as pd\n"
    "df = pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 4]})"
)
NO_CELLS = "has no code agent panel"


class WidgetFrontEnd:
    """Shows widgets and knows no subshells: all that it says goes to the main shell, as from VS Code."""

    def __init__(self, kernel: Kernel, act: Callable[[WidgetFrontEnd], None] | None) -> None:
        self.client = kernel.client
        self.models: dict[str, dict[str, Any]] = {}
        self.text = ""
        self.error = ""
        self.stdin_asked = 0
        self._act = act
        """What the person does when the card is there; None for a front end that shows no widgets."""

    def run(self, source: str, timeout_s: float = 60) -> str:
        """Execute a cell; all text that it showed."""
        self.client.session.metadata = {"cellId": VSCODE_CELL}
        reply = self.client.execute_interactive(
            source, timeout=timeout_s, output_hook=self._got, stdin_hook=self._asked, allow_stdin=True
        )
        self.error = reply["content"].get("evalue", "")
        return self.text

    def model_of(self, name: str) -> str:
        return next(key for key, state in self.models.items() if state.get("_model_name") == name)

    def button(self, label: str) -> str:
        return next(key for key, state in self.models.items() if state.get("description") == label)

    def click(self, label: str) -> None:
        self._say(self.button(label), {"method": "custom", "content": {"event": "click"}})

    def update(self, model: str, **state: Any) -> None:
        self._say(model, {"method": "update", "state": state, "buffer_paths": []})

    def _say(self, comm_id: str, data: dict[str, Any]) -> None:
        message = self.client.session.msg("comm_msg", {"comm_id": comm_id, "data": data})
        self.client.shell_channel.send(message)

    def _got(self, message: dict[str, Any]) -> None:
        content = message["content"]
        self.text += content.get("text", "") + content.get("data", {}).get("text/plain", "")
        if message["msg_type"] == "comm_open" and content["target_name"] == "jupyter.widget":
            self.models[content["comm_id"]] = content["data"]["state"]
        elif message["msg_type"] == "comm_msg" and content["comm_id"] in self.models and self._act is not None:
            state = content["data"].get("state", {})
            if state.get("playing") and self.models[content["comm_id"]]["_model_name"] == "PlayModel":
                act, self._act = self._act, lambda _: None
                self.update(content["comm_id"], value=1)  # what the view of `Play` does when it is on a page
                act(self)

    def _asked(self, message: dict[str, Any]) -> None:
        self.stdin_asked += 1
        self.client.input("y")


def test_where_widgets_are_shown_a_card_takes_the_decision_while_the_cell_runs(
    kernel: Kernel, model_server: ModelServer
) -> None:
    def edit_and_approve(page: WidgetFrontEnd) -> None:
        page.client.execute("print('after' + 'wards')", reply=False)  # a second cell, queued meanwhile
        page.update(page.model_of("TextareaModel"), value="print('edited by me')")
        page.click("Approve")

    model_server.script(SUM, "x")
    page = WidgetFrontEnd(kernel, edit_and_approve)
    text = page.run("%%agent --approve ask\nsum by city")
    assert "edited by me" in text
    assert "Approved by you." in text
    assert "✓ " in text
    assert page.stdin_asked == 0
    assert "afterwards" not in text
    deadline = time.monotonic() + 30
    while "afterwards" not in page.text and time.monotonic() < deadline:
        page._got(page.client.get_iopub_msg(timeout=30))
    assert "afterwards" in page.text, "what was queued meanwhile runs after the cell, and once"


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_card_rejects_with_a_reason(kernel: Kernel, model_server: ModelServer) -> None:
    def reject(page: WidgetFrontEnd) -> None:
        page.update(page.model_of("TextModel"), value="wrong column")
        page.click("Reject")

    model_server.script(SUM, "x")
    page = WidgetFrontEnd(kernel, reject)
    text = page.run("%%agent --approve ask --max-steps 1\nsum by city")
    assert "Rejected by you: wrong column" in text
    assert "Oslo    5" not in text
    assert page.error


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_front_end_without_widgets_is_asked_on_stdin_and_told_once_in_one_line_what_it_cannot_do(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(SUM, "x", code("df['n'].max()"), "x")
    page = WidgetFrontEnd(kernel, None)
    first = page.run("%%agent --approve ask\nsum by city")
    assert "Oslo    5" in first
    assert page.stdin_asked == 1
    assert len([line for line in first.splitlines() if f"VS Code {NO_CELLS}" in line]) == 1
    page.text, cards = "", len(page.models)
    assert NO_CELLS not in page.run("%%agent --approve ask\nlargest n")
    assert page.stdin_asked == 2
    assert len(page.models) == cards, "a card is not tried again where it was not shown"


@pytest.mark.parametrize("options", ["", "--approve ask"])
@pytest.mark.rare("another case of what a test beside it proves")
def test_under_papermill_results_are_outputs_and_what_needs_a_person_is_refused_at_once(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    for name in ("DATA", "CONFIG", "RUNTIME"):
        monkeypatch.setenv(f"JUPYTER_{name}_DIR", str(tmp_path / name))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("CODEAGENT_BASE_URL", model_server.url)
    model_server.script(SUM, "x")
    notebook = new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    )
    notebook.cells = [new_code_cell(LOAD), new_code_cell(f"%%agent {options}\nsum by city")]
    path, out = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
    nbformat.write(notebook, path)
    if not options:
        papermill.execute_notebook(str(path), str(out), cwd=str(tmp_path), progress_bar=False)
        text = str(nbformat.read(out, as_version=4).cells[1].outputs)
        assert "Oslo    5" in text
        assert "This notebook is run by a program" in text
    else:
        with pytest.raises(papermill.PapermillExecutionError, match="no side panel and no input"):
            papermill.execute_notebook(str(path), str(out), cwd=str(tmp_path), progress_bar=False)
