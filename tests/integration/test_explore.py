"""`%agent explore`: from tables to findings, with a real kernel and sandbox, and no model."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from command_line import codeagent, write
from kernel_client import Kernel
from model_server import ModelServer

from jupyter_codeagent.notebook.outputs.interactive import INTERACTIVE_MIME

SHOP = """
import numpy as np, pandas as pd
rng = np.random.default_rng(7)
n = 900
shop = pd.DataFrame({
    "region": rng.choice(["north", "south", "west"], n),
    "visits": rng.poisson(20, n),
    "email": [f"canary{i}@example.com" for i in range(n)],
    "profit": rng.normal(71423.0, 1.0, n),
})
shop["sales"] = rng.normal(100, 10, n) + 12 * (shop["region"] == "south")
"""
DIGEST = "print('DIGEST', pd.util.hash_pandas_object(shop).sum(), sorted(k for k in globals() if k[0] != '_'))"


def test_a_table_is_explored_without_a_model_nothing_is_sent_and_nothing_of_the_user_changes(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(SHOP)
    before = kernel.run(DIGEST).text
    ran = kernel.run("%agent explore shop")
    assert ran.error == ""
    assert "shop has 900 rows and 5 columns." in ran.text
    assert "sales is highest for region south" in ran.text
    assert any("image/png" in data for data in ran.data), "it has a chart"
    assert "nothing sent, no model used" in ran.text
    assert model_server.requests == []
    assert kernel.run(DIGEST).text == before


def test_hidden_and_personal_columns_are_neither_looked_at_nor_shown(kernel: Kernel) -> None:
    kernel.run(SHOP + "shop['profit'] += 5 * (shop['region'] == 'west')")
    kernel.run("%agent hide shop[profit]")
    ran = kernel.run("%agent explore shop")
    assert "sales is highest for region south" in ran.text
    assert "profit" not in ran.text
    assert "canary" not in json.dumps(ran.data)


def test_each_finding_is_a_run_of_its_own_and_the_next_question_is_not_told_of_it(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(SHOP)
    kernel.run("%agent explore shop")
    listed = kernel.run("%agent history").text.splitlines()
    assert len(listed) > 2
    assert all("'explore shop: " in line and " no model " in line for line in listed[:-1]), listed
    model_server.script("```python\nshop['visits'].sum()\n```")
    kernel.ask("how many visits?", "--vars shop")
    assert "explore" not in json.dumps(model_server.requests)


def test_what_accepted_findings_made_is_told_and_copied_only_if_a_question_names_it(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(SHOP)
    before = kernel.run("print(*(name for name in globals() if name[0] != '_'))").text.split()
    kernel.run("%agent explore shop")
    for run_id in kernel.run_ids():
        assert kernel.run(kernel.record(run_id)["code"]).error == ""
    made = kernel.run("print(*(n for n, v in globals().items() if n[0] != '_' and isinstance(v, pd.DataFrame)))")
    left = sorted({*made.text.split()} - {*before})
    assert left
    model_server.script("```python\nprint(sorted(k for k in globals() if k[0] != '_'))\n```", "x")
    ran = kernel.ask("What stands out?").text
    assert "'shop'" in ran
    assert not [name for name in left if f"'{name}'" in ran or f"{name}:" in json.dumps(model_server.requests)]
    model_server.script(f"```python\nprint(len({left[0]}))\n```", "x")
    assert left[0] in kernel.ask(f"How long is `{left[0]}`?").text


def test_what_cannot_be_explored_is_said_in_one_line(kernel: Kernel) -> None:
    kernel.run(SHOP + "city = 'Oslo'")
    for line, said in (
        ("", "give the name of a frame"),
        ("nothing_there", "nothing_there"),
        ("city", "is not a table"),
        ("shop --minuets 3", "Did you mean --minutes?"),
        ("shop --minutes 0", "not a number of minutes above 0"),
        ("'a b'", "not the name of a variable"),
    ):
        ran = kernel.run(f"%agent explore {line}")
        assert said in ran.error
        assert "\n" not in ran.error


def test_the_command_line_explores_a_file_and_the_cells_stand_in_their_order(tmp_path: Path) -> None:
    exec(SHOP + f"shop.to_csv({str(tmp_path / 'shop.csv')!r}, index=False)", {})
    done = codeagent(tmp_path, None, "explore", "shop.csv", "-o", "report.ipynb", "--goal", "which sales?")
    assert done.returncode == 0, done.stderr
    notebook = nbformat.read(tmp_path / "report.ipynb", as_version=4)
    nbformat.validate(notebook)
    roles = [cell.metadata.get("codeagent", {}).get("role", "") for cell in notebook.cells]
    assert roles[:2] == ["", ""]
    assert roles[2:] == ["code", "answer"] * (len(roles[2:]) // 2)
    assert notebook.cells[3].source.startswith("shop has 900 rows and 5 columns.")
    assert notebook.cells[5].source.startswith("sales is highest for region south")
    names = {"shop", "pd"}
    exec(notebook.cells[4].source, values := {"shop": __import__("pandas").read_csv(tmp_path / "shop.csv")})
    assert names <= {*values, "pd"}, "the cell is plain code that needs nothing of ours"
    assert not any("jupyter_codeagent" in cell.source for cell in notebook.cells[2:])


@pytest.mark.rare(
    "test_exploring_again_replaces_pending_findings shows all findings of two explorations in a notebook"
)
def test_two_explorations_of_one_cell_do_not_replace_each_other(kernel: Kernel) -> None:
    kernel.run(SHOP + "other = shop.rename(columns={'sales': 'income'})")
    both = "%agent explore shop\n%agent explore other"
    # Two explorations, each in a sandbox of its own, are the longest cell here: a busy machine takes its time.
    assert kernel.run(both, timeout_s=180, cell_id="here").error == ""
    listed = kernel.run("%agent history 50").text.splitlines()[:-1]
    assert {line.split()[2] for line in listed} == {"pending"}, listed
    assert kernel.run(both, timeout_s=180, cell_id="here").error == ""
    again = kernel.run("%agent history 50").text.splitlines()[:-1]
    assert [line.split()[2] for line in again].count("pending") == len(listed), again


def test_exploring_again_replaces_pending_findings_and_those_of_a_second_table_stay_below_the_first(
    tmp_path: Path,
) -> None:
    load = f"%load_ext jupyter_codeagent\n{SHOP}other = shop.rename(columns={{'sales': 'income'}})"
    write(tmp_path / "a.ipynb", load, "%agent explore shop\n%agent explore other")
    assert codeagent(tmp_path, None, "run", "a.ipynb", "-o", "b.ipynb").returncode == 0
    first = nbformat.read(tmp_path / "b.ipynb", as_version=4)
    assert codeagent(tmp_path, None, "run", "b.ipynb", "-o", "c.ipynb").returncode == 0
    again = nbformat.read(tmp_path / "c.ipynb", as_version=4)
    for notebook in (first, again):
        text = "\n".join(cell.source for cell in notebook.cells[2:])
        said = ["shop has 900 rows", "sales is highest", "other has 900 rows", "income is highest"]
        assert sorted(said, key=text.index) == said
    assert [cell.source for cell in again.cells] == [cell.source for cell in first.cells]


def test_the_cell_says_which_columns_the_goal_was_taken_to_mean(kernel: Kernel) -> None:
    kernel.run(SHOP)
    known = kernel.run('%agent explore shop --goal "which sales?"').text
    assert "goal: read as sales; findings on it come first among joins, flaws and insights" in known
    unknown = kernel.run('%agent explore shop --goal "why are we late?"').text
    assert "goal: no column name has any of its words, so all columns were treated alike" in unknown
    assert "goal:" not in kernel.run("%agent explore shop").text


def test_exploring_again_does_not_repeat_what_was_kept(kernel: Kernel) -> None:
    kernel.run(SHOP)
    assert "sales is highest for region south" in kernel.run("%agent explore shop", cell_id="here").text
    listed = kernel.run("%agent history").text.splitlines()
    for line in listed[:-1]:
        kernel.run(f"%agent accept {line.split()[0]}")
    ran = kernel.run("%agent explore shop", cell_id="here")
    assert ran.error == ""
    assert "sales is highest" not in ran.text
    assert "everything that was found is already in the notebook" in ran.text


STOP = """
import threading, time
from jupyter_codeagent.entrypoints import extension
session = next(iter(extension._loaded.values()))[0]
def stop():
    while not session.stop():
        time.sleep(0.02)
threading.Thread(target=stop, daemon=True).start()
get_ipython().run_line_magic("agent", "explore shop")
"""


def test_a_stop_ends_an_exploration_and_the_history_says_so(kernel: Kernel) -> None:
    kernel.run(SHOP)
    ran = kernel.run(STOP)
    assert "Stopped by you" in ran.error
    assert " stopped " in kernel.run("%agent history 1").text
    assert kernel.run("%agent explore shop").error == "", "the next one works"


@pytest.mark.parametrize(("charts", "kind"), [("altair", "vega-lite"), ("plotly", "plotly")])
def test_one_setting_has_findings_drawn_by_another_library(kernel: Kernel, charts: str, kind: str) -> None:
    kernel.run(SHOP)
    kernel.run(f"%config CodeAgent.charts = '{charts}'")
    ran = kernel.run("%agent explore shop")
    assert ran.error == ""
    assert "sales is highest for region south" in ran.text
    entries = [data[INTERACTIVE_MIME] for data in ran.data if INTERACTIVE_MIME in data]
    assert [entry["kind"] for entry in entries] == [kind] * len(entries)
    assert entries, "it has a chart"
    assert not any("image/png" in data for data in ran.data)


def test_a_library_that_is_not_installed_is_said_in_one_line_and_a_question_goes_on_without_it(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(SHOP)
    kernel.run("import sys\nsys.modules['plotly'] = None\n%config CodeAgent.charts = 'plotly'")
    ran = kernel.run("%agent explore shop")
    assert "CodeAgent.charts is plotly, which is not installed in this kernel" in ran.error
    assert "%pip install plotly" in ran.error
    assert "\n" not in ran.error
    model_server.script("```python\nshop['visits'].sum()\n```")
    asked = kernel.ask("how many visits?", "--vars shop")
    assert asked.error == ""
    assert "CodeAgent.charts is plotly, which is not installed in this kernel, so the model was told" in asked.text
    assert "Plots: matplotlib" in model_server.requests[-1]["messages"][0]["content"]


def test_the_model_is_told_which_library_draws_and_run_all_asks_again_after_a_change(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(SHOP)
    answer = "```python\nshop['visits'].sum()\n```"
    model_server.script(answer, answer)

    def ask() -> int:
        assert kernel.run("%%agent --vars shop\nhow many visits?", cell_id="asks").error == ""
        return len(model_server.requests)

    assert (ask(), ask()) == (1, 1)
    kernel.run("%config CodeAgent.charts = 'altair'")
    assert (ask(), ask()) == (2, 2)
    first, second = (request["messages"] for request in model_server.requests)
    assert second[0]["content"] == first[0]["content"].replace("Plots: matplotlib", "Plots: altair")
    assert second[-1] == first[-1]
