"""The same magic in a terminal IPython and in a notebook run by plain nbclient."""

from __future__ import annotations

from pathlib import Path

import pytest
from model_server import ModelServer, Reply, code
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from terminal import ipython, places

SUM = code("df.groupby('city')['n'].sum()")
LOAD = (
    "%load_ext jupyter_codeagent\nimport pandas as pd\n"
    "df = pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 4]})"
)


ASK = "get_ipython().run_cell_magic('agent', '{options}', 'sum by city')\n"


def test_in_a_terminal_ipython_reply_code_result_and_receipt_are_printed(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.script(Reply(text=SUM, piece_s=0.05))  # a terminal shows ten states a second
    shown = ipython(tmp_path, model_server, f"{LOAD}\n{ASK.format(options='')}%agent status\n")
    assert "[the model is writing]" in shown
    assert "df.groupby('city')['n'].sum()" in shown
    assert "Oslo    5" in shown
    assert "copied df · statistics → this machine · %agent show" in shown
    assert "model: scripted at" in shown


@pytest.mark.parametrize(("answer", "told"), [("y\n", "✓ "), ("n\n", "■ Rejected by you")])
@pytest.mark.long("another situation of what a test beside it proves")
def test_in_a_terminal_ask_reads_the_decision_from_stdin(
    tmp_path: Path, model_server: ModelServer, answer: str, told: str
) -> None:
    model_server.script(SUM, "x")
    shown = ipython(tmp_path, model_server, f"{LOAD}\n{ASK.format(options='--approve ask')}", answer)
    assert told in shown
    assert ("Oslo    5" in shown) == (answer == "y\n")


@pytest.mark.rare("another case of what a test beside it proves")
def test_in_a_terminal_one_yes_is_enough_for_several_candidates(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.script(SUM, code("by = df.groupby('city').n.sum()\nprint(by)"), code("print(0)"), "x")
    asked = ASK.format(options="--approve ask --candidates 3")
    shown = ipython(tmp_path, model_server, f"{LOAD}\n{asked}%agent show\n", "y\n")
    assert "print(by)" in shown
    assert "2 of 3 candidates found this result" in shown
    assert "✓ " in shown


@pytest.mark.long("another situation of what a test beside it proves")
def test_escape_sequences_of_a_model_do_not_reach_the_terminal(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.script("\x1b]0;owned\x07" + SUM, "x")
    assert "\x1b]0" not in ipython(tmp_path, model_server, f"{LOAD}\n{ASK.format(options='')}")


@pytest.mark.rare("another case of what a test beside it proves")
def test_under_plain_nbclient_code_and_result_are_the_cells_own_outputs(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.script(SUM)
    notebook = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = [new_code_cell(LOAD), new_code_cell("%%agent\nsum by city")]
    client = NotebookClient(notebook, timeout=90, resources={"metadata": {"path": str(tmp_path)}})
    with client.setup_kernel(env=places(tmp_path, model_server)):
        for index, cell in enumerate(notebook.cells):
            client.execute_cell(cell, index)
    assert len(notebook.cells) == 2
    text = str(notebook.cells[1].outputs)
    assert "Oslo    5" in text
    assert "✓ " in text
