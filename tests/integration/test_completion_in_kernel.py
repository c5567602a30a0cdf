"""Completion as every front end asks for it, in a real kernel; `%agent fix` of an older cell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from kernel_client import Kernel
from model_server import ModelServer, code


def offered(kernel: Kernel, text: str) -> list[str]:
    reply = kernel.client.complete(text, reply=True, timeout=60)
    return list(reply["content"]["matches"])


def test_agent_cells_complete_options_variables_columns_models_and_runs(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run("wide = pd.DataFrame({'unit cost': [1], 'Home Town': ['x']})\n%agent hide wide['unit cost']")
    model_server.script(code("df['n'].sum()"), "x")
    kernel.ask("first question")
    sent = len(model_server.requests)
    assert "--privacy" in offered(kernel, "%%agent --pri")
    assert offered(kernel, "%%agent --vars wi") == ["wide"]
    assert offered(kernel, "%%agent\nmean of unit c") == ["unit cost"]  # hidden from the model, not from its owner
    assert offered(kernel, "%%agent\nmean by home t") == ["Home Town"]
    assert "scripted" in offered(kernel, "%%agent --model ")
    [run_id] = offered(kernel, "%agent show ")
    assert "first question" in kernel.run(f"%agent show {run_id}").text
    assert len(model_server.requests) == sent
    assert "unit cost" not in json.dumps(model_server.requests)
    kernel.run("%unload_ext jupyter_codeagent")
    assert "--privacy" not in offered(kernel, "%%agent --pri")


FRESH = """
import sys
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("%load_ext jupyter_codeagent\\ntable = {'unit cost': 1}")
with provisionalcompleter():
    text = "%%agent\\nmean of unit c"
    print([offer.text for offer in shell.Completer.completions(text, len(text))])
    text = "%%agent --vars tab"
    print([offer.text for offer in shell.Completer.completions(text, len(text))])
libraries = ("pandas", "polars", "pyarrow", "xarray", "numpy", "duckdb", "dask")
print("imported", [library for library in libraries if library in sys.modules])
"""


@pytest.mark.long("another situation of what a test beside it proves")
def test_completion_imports_no_dataframe_library(tmp_path: Path) -> None:
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path), "JUPYTER_DATA_DIR": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", FRESH], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[-3:] == ["['unit cost']", "['table']", "imported []"]


@pytest.mark.rare("another case of what a test beside it proves")
def test_fix_repairs_an_older_failed_cell_by_its_id(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(code("1"), "x")
    kernel.run("df['older']", cell_id="aaaa1111-2222")
    kernel.run("df['newer']", cell_id="bbbb1111-2222")
    assert offered(kernel, "%agent fix ") == ["bbbb1111", "aaaa1111"]
    assert kernel.run("%agent fix aaaa1111", cell_id="cccc1111-2222").error == ""
    told = model_server.requests[0]["messages"][-1]["content"]
    assert "df['older']" in told
    assert "df['newer']" not in told
    kernel.run("df", cell_id="aaaa1111-2222")
    assert "Run it, then ask again" in kernel.run("%agent fix aaaa1111").error


@pytest.mark.rare("another case of what a test beside it proves")
def test_fix_repairs_an_older_failed_cell_of_vs_code_by_its_number(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(code("1"), "x", code("2"), "x")
    cell = "vscode-notebook-cell:/home/me/eda.ipynb#W%dsZmlsZQ%%3D%%3D"
    kernel.run("df['older']", cell_id=cell % 1)
    kernel.run("df['newer']", cell_id=cell % 2)
    kernel.client.session.metadata = {}
    for silent in (True, False):  # what its variable view asks for is no cell of the user's
        kernel.client.execute_interactive("_no_such_name_", silent=silent, store_history=False, timeout=60)
    newer, older = offered(kernel, "%agent fix ")
    assert int(newer) == int(older) + 1
    assert kernel.run(f"%agent fix {older}", cell_id=cell % 3).error == ""
    assert kernel.run("%agent fix", cell_id=cell % 4).error == ""
    first, second = [
        told
        for request in model_server.requests
        if "This code failed" in (told := request["messages"][-1]["content"])
    ][:2]
    assert "df['older']" in first
    assert "df['newer']" in second
