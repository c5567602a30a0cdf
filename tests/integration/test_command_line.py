"""`jupyter codeagent …` as a person types it: notebooks in, notebooks out, exit status, nothing half-written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from command_line import LOAD, codeagent, write
from model_server import ModelServer, Reply, code

SUM = code("df.groupby('city')['n'].sum()")


def test_run_executes_a_notebook_and_the_new_cells_stand_below_their_question(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.script(SUM)
    given = write(tmp_path / "in.ipynb", LOAD, "%%agent\nsum by city", "print('mine')")
    before = given.read_bytes()
    done = codeagent(tmp_path, model_server, "run", "in.ipynb", "-o", "out/out.ipynb")
    assert done.returncode == 0, done.stderr
    assert given.read_bytes() == before
    out = nbformat.read(tmp_path / "out" / "out.ipynb", as_version=4)
    nbformat.validate(out)
    roles = [cell.metadata.get("codeagent", {}).get("role", "") for cell in out.cells]
    assert roles == ["", "", "", "code", ""]
    assert out.cells[3].source == "df.groupby('city')['n'].sum()"
    assert "Oslo    5" in out.cells[3].outputs[0].data["text/plain"]
    assert out.cells[3].metadata.codeagent.state == "pending"
    assert "[2/3] sum by city" in done.stderr
    assert done.stdout == ""


@pytest.mark.rare("another case of what a test beside it proves")
def test_run_again_on_its_own_result_replaces_pending_cells_and_keeps_accepted_ones(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.script(SUM)
    write(tmp_path / "a.ipynb", LOAD, "%%agent\nsum by city", "%%agent\nthe same again")
    assert codeagent(tmp_path, model_server, "run", "a.ipynb", "-o", "b.ipynb").returncode == 0
    model_server.script(code("df['n'].sum()"))
    notebook = nbformat.read(tmp_path / "b.ipynb", as_version=4)
    kept = notebook.cells[5].source
    notebook.cells[5].metadata.codeagent.state = "accepted"
    notebook.cells[2].source = notebook.cells[4].source = "%%agent\nsum of all"
    nbformat.write(notebook, tmp_path / "b.ipynb")
    assert codeagent(tmp_path, model_server, "run", "b.ipynb", "-o", "c.ipynb").returncode == 0
    sources = [cell.source for cell in nbformat.read(tmp_path / "c.ipynb", as_version=4).cells]
    asked = ["%%agent\nsum of all", "df['n'].sum()"]
    assert sources == ["# Mine", LOAD, *asked, *asked, kept]


@pytest.mark.rare("the test above runs a notebook again")
def test_run_again_on_the_notebook_without_cells_inserts_them_although_the_first_were_accepted(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.script(SUM)
    write(tmp_path / "in.ipynb", LOAD, "%%agent --approve auto\nsum by city")

    def cells_of(out: str, *given: str) -> list[str]:
        done = codeagent(tmp_path, model_server, "run", *given, "-o", out)
        assert done.returncode == 0, done.stderr
        cells = nbformat.read(tmp_path / out, as_version=4).cells
        return [cell.source for cell in cells if "codeagent" in cell.metadata]

    first = cells_of("first.ipynb", "in.ipynb")
    assert len(first) == 1
    assert cells_of("second.ipynb", "in.ipynb") == first
    assert len(model_server.requests) == 1, "the second run was replayed"
    assert cells_of("third.ipynb", "second.ipynb") == first, "where they are in the notebook they are not doubled"


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_failing_question_gives_status_1_and_the_notebook_as_far_as_it_came(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.script(Reply(status=500))
    write(tmp_path / "in.ipynb", LOAD, "%%agent\nsum", "print('never')")
    done = codeagent(tmp_path, model_server, "run", "in.ipynb", "-o", "out.ipynb")
    assert done.returncode == 1
    assert "500" in done.stderr
    out = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    nbformat.validate(out)
    assert out.cells[2].outputs[-1].ename == "RunFailedError"
    assert out.cells[3].outputs == []


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_kernel_that_dies_later_gives_one_line_and_the_cells_that_had_come(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.script(SUM)
    write(tmp_path / "in.ipynb", LOAD, "%%agent\nsum by city", "import os\nos._exit(1)", "print('never')")
    done = codeagent(tmp_path, model_server, "run", "in.ipynb", "-o", "out.ipynb")
    assert done.returncode == 1
    assert "cell 3 failed: the kernel died\n" in done.stderr
    assert "Traceback" not in done.stderr
    out = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    nbformat.validate(out)
    assert out.cells[3].source == "df.groupby('city')['n'].sum()"
    assert out.cells[-1].outputs == []


@pytest.mark.rare("another case of what a test beside it proves")
def test_metadata_that_others_wrote_is_tolerated(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.script(SUM)
    notebook = nbformat.read(write(tmp_path / "in.ipynb", LOAD, "%%agent\nsum by city", "print(7)"), as_version=4)
    notebook.metadata["codeagent"] = "x"
    for cell in notebook.cells:
        cell.metadata["codeagent"] = "x"
    nbformat.write(notebook, tmp_path / "in.ipynb")
    done = codeagent(tmp_path, model_server, "run", "in.ipynb", "-o", "out.ipynb")
    assert done.returncode == 0, done.stderr
    out = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    assert out.cells[3].source == "df.groupby('city')['n'].sum()"
    assert out.cells[-1].outputs[0].text == "7\n"


@pytest.mark.rare("another case of what a test beside it proves")
def test_what_the_notebooks_metadata_hides_is_hidden_without_a_browser_too(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.script(code("print(sorted(df.columns), 'keys' in globals())"))
    path = write(tmp_path / "in.ipynb", LOAD + "\nkeys = ['canary']", "%%agent --vars df\nwhat is there?")
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata["codeagent"] = {"shared": {"keys": "shared"}, "hidden_columns": {"df": ["city"]}}
    nbformat.write(notebook, path)
    done = codeagent(tmp_path, model_server, "run", "in.ipynb", "-o", "out.ipynb")
    assert done.returncode == 0, done.stderr
    out = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    assert "['n'] False" in out.cells[3].outputs[0].text
    assert "city" not in json.dumps(model_server.requests)
    assert out.metadata["codeagent"] == notebook.metadata["codeagent"]


@pytest.mark.long("another situation of what a test beside it proves")
def test_nothing_waits_for_a_person_who_is_not_there(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.script(SUM)
    write(tmp_path / "in.ipynb", LOAD, "%%agent --approve ask\nsum")
    done = codeagent(tmp_path, model_server, "run", "in.ipynb", "-o", "out.ipynb")
    assert done.returncode == 1
    assert "DeniedError" in done.stderr


@pytest.mark.rare("another case of what a test beside it proves")
def test_ask_starts_from_files(tmp_path: Path, model_server: ModelServer) -> None:
    (tmp_path / "2024 sales.csv").write_text("city,n\nOslo,1\nRome,2\n", encoding="utf-8")
    model_server.script(code("data_2024_sales['n'].sum()"), "It is 3.")
    done = codeagent(tmp_path, model_server, "ask", "What is the sum?", "2024 sales.csv", "-o", "out.ipynb")
    assert done.returncode == 0, done.stderr
    out = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    assert out.cells[2].outputs[0].data["text/plain"] == "np.int64(3)"
    assert done.stdout.splitlines()[-1] == "np.int64(3)", "the answer is printed, too"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("ask", "why", "missing.csv", "-o", "o.ipynb"), "There is no file 'missing.csv'"),
        (("run", "missing.ipynb", "-o", "o.ipynb"), "missing.ipynb cannot be read"),
        (("history", "--show", "nosuchrun"), "UnknownRunError"),
    ],
)
@pytest.mark.long("another situation of what a test beside it proves")
def test_bad_input_is_one_line_and_status_1(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    done = codeagent(tmp_path, None, *arguments)
    assert done.returncode == 1
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "o.ipynb").exists()


@pytest.mark.rare("another case of what a test beside it proves")
def test_history_lists_shows_and_exports_runs(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.script(SUM)
    write(tmp_path / "in.ipynb", LOAD, "%%agent\nsum by city")
    assert codeagent(tmp_path, model_server, "run", "in.ipynb", "-o", "out.ipynb").returncode == 0
    listed = codeagent(tmp_path, None, "history", "by city").stdout
    run_id = listed.split()[0]
    assert "'sum by city'" in listed
    assert (
        json.loads(codeagent(tmp_path, None, "history", "--show", run_id[:6]).stdout)["code"]
        == "df.groupby('city')['n'].sum()"
    )
    assert codeagent(tmp_path, None, "history", "--export", run_id, "-o", "run.py").returncode == 0
    assert "df.groupby('city')" in (tmp_path / "run.py").read_text(encoding="utf-8")
    assert codeagent(tmp_path, None, "history", "--export", run_id, "-o", "run.ipynb").returncode == 0
    nbformat.validate(nbformat.read(tmp_path / "run.ipynb", as_version=4))


@pytest.mark.long("another situation of what a test beside it proves")
def test_doctor_says_of_each_part_whether_it_works(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.script("ok")
    done = codeagent(tmp_path, model_server, "doctor")
    assert "model: scripted at 127.0.0.1" in done.stdout
    assert "sandbox: " in done.stdout
    assert "history: 0 runs" in done.stdout
    broken = codeagent(tmp_path, ModelServer(url="http://127.0.0.1:9/v1"), "doctor")
    assert broken.returncode == 1
    assert "NOT OK  model: " in broken.stdout


@pytest.mark.rare("unit/entrypoints/test_cli_models.py lists models")
def test_models_lists_what_was_found(tmp_path: Path, model_server: ModelServer) -> None:
    assert "scripted" in codeagent(tmp_path, model_server, "models").stdout


def test_a_reader_that_stops_early_gets_no_traceback(tmp_path: Path) -> None:
    """As of ``jupyter codeagent models | head -1``."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody_reads:
        done = subprocess.run(
            [sys.executable, "-m", "jupyter_codeagent.entrypoints.cli", "models"],
            env={**os.environ, "JUPYTER_DATA_DIR": str(tmp_path)},
            stdout=nobody_reads,
            stderr=subprocess.PIPE,
            text=True,
            timeout=110,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "")
