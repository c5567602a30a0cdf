"""`%agent report`: the accepted results as one page, run again in a spare sandbox, with a real kernel."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from command_line import codeagent
from kernel_client import Kernel, running_kernel
from model_server import ModelServer, code

from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.notebook.cells import cells_from_run

CHART = """
import matplotlib.pyplot as plt
ax = totals.plot.bar()
plt.show()
"""
STATE = "print('STATE', df.to_dict(), sorted(k for k in globals() if k[0] != '_'))"


@dataclass
class Notebook:
    """A notebook with a kernel, whose cells a person accepts and saves."""

    kernel: Kernel
    server: ModelServer
    path: Path

    @property
    def history(self) -> HistoryStore:
        return HistoryStore(self.path.parent / "data" / "codeagent" / "history.sqlite")

    def ask(self, question: str, program: str) -> str:
        """Ask; return the id of the run."""
        self.server.script(code(program), "x")
        assert self.kernel.run(f"%%agent\n{question}", cell_id=f"cell-{len(question)}").error == ""
        return self.kernel.run("%agent history 1").text.split()[0]

    def accept(self, run_id: str) -> None:
        assert self.kernel.run(f"%agent accept {run_id}").error == ""

    def save(self, *run_ids: str, heading: str = "# Cities") -> None:
        """Write the file as the page would."""
        cells: list[Any] = [nbformat.v4.new_markdown_cell(heading)]
        history = self.history
        for run_id in run_ids:
            run = history.load(run_id)
            cells.append(nbformat.v4.new_code_cell(f"%%agent\n{run.request.prompt}"))
            cells += [nbformat.from_dict(cell) for cell in cells_from_run(run, state=run.cell_state)]
        history.close()
        nbformat.write(nbformat.v4.new_notebook(cells=cells), self.path)

    def report(self, line: str = "") -> str:
        """Run the line without an error; return the page."""
        ran = self.kernel.run(f"%agent report -o page.html {line}")
        assert ran.error == "", ran.error
        assert "page.html" in ran.text
        return (self.path.parent / "page.html").read_text()


@pytest.fixture
def notebook(tmp_path: Path, model_server: ModelServer) -> Iterator[Notebook]:
    path = tmp_path / "cities.ipynb"
    with running_kernel(
        tmp_path, {"CODEAGENT_BASE_URL": model_server.url, "JPY_SESSION_NAME": str(path)}
    ) as running:
        yield Notebook(kernel=running, server=model_server, path=path)


def test_a_report_says_reproduced_only_if_all_results_came_out_the_same_and_nothing_of_the_user_changes(
    notebook: Notebook,
) -> None:
    first = notebook.ask("n per city?", "totals = df.groupby('city')['n'].sum()\ntotals.to_frame()")
    second = notebook.ask("as a chart please", CHART)
    for run_id in (first, second):
        notebook.accept(run_id)
    notebook.save(first, second)
    sent, before = len(notebook.server.requests), notebook.kernel.run(STATE).text
    page = notebook.report()
    assert re.search(r"Reproduced: all 2 results came out the same on \d{4}-\d\d-\d\d\.", page)
    assert "<title>Cities</title>" in page
    assert page.index("n per city?") < page.index("as a chart please")
    assert "<td>5</td>" in page
    assert 'src="data:image/png;base64,' in page
    assert f"run {first[:12]}" in page
    assert len(notebook.server.requests) == sent, "no model is asked"
    assert notebook.kernel.run(STATE).text == before

    # The data are others now: the table differs, and the size of the chart may.
    notebook.kernel.run("df['n'] = [1, 2, 40]")
    changed = notebook.report()
    assert re.search(r"[01] of 2 came out the same, [12] differs?\.", changed)
    assert "eproduced" not in changed
    assert re.search(r"In the notebook:.*\b5\b.*Now:.*\b41\b", changed, re.DOTALL)
    assert "[1, 2, 40]" in notebook.kernel.run("print(df['n'].tolist())").text

    # What it needs is gone.
    notebook.kernel.run("del df")
    gone = notebook.report()
    assert "Could not be re-run:</strong> NameError" in gone
    assert "eproduced" not in gone


def test_a_report_without_a_re_run_says_so_and_leaves_out_what_was_not_accepted(notebook: Notebook) -> None:
    kept = notebook.ask("n per city?", "df.groupby('city')['n'].sum().to_frame()")
    pending = notebook.ask("a secret question", "df['n'].sum()")
    thrown = notebook.ask("a question to discard", "df['n'].max()")
    notebook.accept(kept)
    notebook.kernel.run(f"%agent discard {thrown}")
    notebook.save(kept, pending)
    page = notebook.report("--no-rerun --title 'Towns & <b>cities</b>'")
    assert "Not re-run: --no-rerun was given." in page
    assert "eproduced" not in page
    assert "Towns &amp; &lt;b&gt;cities&lt;/b&gt;" in page
    assert "secret question" not in page
    assert "1 pending and 1 discarded results" in page


def test_a_report_wants_the_notebook_saved(notebook: Notebook) -> None:
    first = notebook.ask("n per city?", "df.groupby('city')['n'].sum().to_frame()")
    notebook.accept(first)
    assert "There is no notebook" in notebook.kernel.run("%agent report").error
    notebook.save(first)
    second = notebook.ask("how many rows?", "len(df)")
    notebook.accept(second)
    ran = notebook.kernel.run("%agent report")
    assert f"Save the notebook first: what you decided about run {second}" in ran.error
    assert not list(notebook.path.parent.glob("*.html"))
    notebook.save(first, second)
    assert notebook.kernel.run("%agent report").error == ""
    assert (notebook.path.parent / "cities-report.html").is_file()


def test_a_report_overwrites_no_file_of_the_users(notebook: Notebook) -> None:
    first = notebook.ask("n per city?", "df.groupby('city')['n'].sum().to_frame()")
    notebook.accept(first)
    notebook.save(first)
    theirs = notebook.path.parent / "page.html"
    theirs.write_text("mine")
    ran = notebook.kernel.run("%agent report --no-rerun -o page.html")
    assert "exists and is not a report" in ran.error
    assert "\n" not in ran.error
    assert theirs.read_text() == "mine"
    notebook.report("--no-rerun --overwrite")
    notebook.report("--no-rerun")  # an earlier report is replaced
    for line, said in (
        ("-o nowhere/page.html", "there is no directory"),
        ("-o page.pdf", "ending in .html, .md, .qmd"),
        ("--no-rerum", "Did you mean --no-rerun?"),
    ):
        assert said in notebook.kernel.run(f"%agent report {line}").error


def test_findings_say_that_no_model_wrote_them_and_come_out_the_same(notebook: Notebook) -> None:
    notebook.kernel.run(
        "import numpy as np\nrng = np.random.default_rng(7)\n"
        "shop = pd.DataFrame({'region': rng.choice(list('abc'), 900)})\n"
        "shop['sales'] = rng.normal(100, 10, 900) + 12 * (shop['region'] == 'a')"
    )
    assert notebook.kernel.run("%agent explore shop", cell_id="here").error == ""
    listed = notebook.kernel.run("%agent history").text.splitlines()[:-1]
    run_ids = [line.split()[0] for line in reversed(listed)]
    for run_id in run_ids:
        notebook.accept(run_id)
    notebook.save(*run_ids)
    page = notebook.report()
    assert f"Reproduced: all {len(run_ids)} results" in page
    assert "sales is highest for region a" in page
    assert "no model (template)" in page


RATES = """
from jupyter_codeagent import agent_tool
calls = []

@agent_tool(policy="auto")
def rates(day: str) -> pd.DataFrame:
    \"\"\"Exchange rates of a day.\"\"\"
    calls.append(day)
    return pd.DataFrame({"currency": ["NOK", "USD"], "rate": [8.0, 1.25]})
"""


def test_a_result_that_called_a_function_of_the_users_is_not_re_run_and_the_page_says_why(
    notebook: Notebook,
) -> None:
    notebook.kernel.run(RATES)
    called = notebook.ask("Rates of the day?", "table = rates('2013-01-02')\ntable")
    built = notebook.ask("And the highest of these?", "print(table.rate.max())")
    alone = notebook.ask("n per city?", "df.groupby('city')['n'].sum().to_frame()")
    for run_id in (called, built, alone):
        notebook.accept(run_id)
    notebook.save(called, built, alone)
    page = notebook.report()
    assert "1 of 3 came out the same, 2 could not be re-run." in page
    assert "Could not be re-run:</strong> it calls a function of yours: rates<" in page
    assert "Could not be re-run:</strong> it needs table, which cell 3 makes, and that was not re-run<" in page
    assert "eproduced" not in page
    assert "CALLS ['2013-01-02']" in notebook.kernel.run("print('CALLS', calls)").text, "by the question alone"


def test_a_result_of_what_is_hidden_now_is_not_re_run_and_the_page_says_why(notebook: Notebook) -> None:
    run_id = notebook.ask("Sum of n?", "print(df['n'].sum())")
    notebook.accept(run_id)
    notebook.save(run_id)
    notebook.kernel.run("%agent hide df[n]")
    page = notebook.report()
    assert "Could not be re-run:</strong> it needs &#39;n&#39; of df, which is hidden in this notebook<" in page
    assert "KeyError" not in page


STOP_RERUN = """
import os, signal, threading, time
session = get_ipython().magics_manager.registry["AgentMagics"].session
workspace, taken = session.workspace, []
async def extra_sandbox(policy):
    taken.append(await type(workspace).extra_sandbox(workspace, policy))
    return taken[-1]
workspace.extra_sandbox = extra_sandbox
def stop_while_it_runs():
    while not (taken and taken[-1]._has_unknown_changes):
        time.sleep(0.02)
    kept.append(taken[-1]._sandbox)
    STOP
kept = []
threading.Thread(target=stop_while_it_runs, daemon=True).start()
get_ipython().run_line_magic("agent", "report -o page.html")
"""


@pytest.mark.parametrize(
    "stop",
    [
        pytest.param(
            "session.stop()", marks=pytest.mark.rare("tests/e2e/test_report.py stops a report from the panel")
        ),
        "os.kill(os.getpid(), signal.SIGINT)",
    ],
)
def test_a_stop_ends_the_re_run_writes_nothing_and_leaves_no_sandbox(notebook: Notebook, stop: str) -> None:
    notebook.kernel.run("wait = 0")
    slow = notebook.ask("how long is wait?", "import time\ntime.sleep(wait)\nprint('waited')")
    notebook.accept(slow)
    notebook.save(slow)
    notebook.kernel.run("wait = 600")
    ran = notebook.kernel.run(STOP_RERUN.replace("STOP", stop))
    assert "Stopped by you; no report was written." in ran.error
    assert "\n" not in ran.error
    assert not [path.name for path in notebook.path.parent.iterdir() if "page.html" in path.name]
    assert "GONE [False]" in notebook.kernel.run("print('GONE', [one.alive for one in kept])").text

    notebook.kernel.run("wait = 0")
    assert "Reproduced: the result came out the same" in notebook.report(), "the next one works"
    assert notebook.kernel.run("%agent stop").text == "Nothing is running.\n"
    notebook.ask("and again?", "print(len(df))")


def test_the_command_line_makes_a_report_without_a_kernel_and_says_that_nothing_was_re_run(
    notebook: Notebook,
) -> None:
    first = notebook.ask("n per city?", "df.groupby('city')['n'].sum().to_frame()")
    notebook.accept(first)
    notebook.save(first)
    directory = notebook.path.parent
    os.makedirs(directory / "jupyter", exist_ok=True)
    os.symlink(directory / "data", directory / "jupyter" / "data")
    for name in ("page.html", "page.md", "page.qmd"):
        done = codeagent(directory, None, "report", "cities.ipynb", "-o", name)
        assert done.returncode == 0, done.stderr
        assert "Not re-run: made by the command line" in done.stderr
        text = (directory / name).read_text()
        assert "n per city?" in text
        assert "Not re-run" in text
        assert "eproduced" not in text
    assert (directory / "page.qmd").read_text().startswith('---\ntitle: "Cities"\n')
    (directory / "page.html").write_text("mine")
    done = codeagent(directory, None, "report", "cities.ipynb", "-o", "page.html")
    assert done.returncode == 1
    assert (directory / "page.html").read_text() == "mine"
