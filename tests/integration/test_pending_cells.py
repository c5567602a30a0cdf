"""A model's code does not run in the user's kernel before somebody said yes, however it is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernel_client import Kernel, running_kernel
from model_server import ModelServer, code
from policies import in_kernel, write_policy

from jupyter_codeagent.notebook.cells import cell_id

SOURCE = "df['n'] = 0\nprint('changed')"


def asked(kernel: Kernel, server: ModelServer) -> str:
    """Ask once; the id of the code cell that was made."""
    server.script(code(SOURCE), "x")
    assert kernel.run("%%agent\nset n to zero", cell_id="question").error == ""
    run_id = kernel.run("%agent history 1").text.split()[0]
    return cell_id(run_id, "code")


def test_code_in_your_own_kernel_runs_only_after_your_yes(kernel: Kernel, model_server: ModelServer) -> None:
    pending = asked(kernel, model_server)
    ran = kernel.run(SOURCE, cell_id=pending)
    assert "changed" in ran.text
    assert "Pending: these outputs are from the sandbox" in ran.text
    assert "7" in kernel.run("print(df['n'].sum())").text


@pytest.mark.long("another situation of what a test beside it proves")
def test_an_accepted_cell_runs_here(kernel: Kernel, model_server: ModelServer) -> None:
    accepted = asked(kernel, model_server)
    kernel.run("%agent accept")
    assert "Pending" not in kernel.run(SOURCE, cell_id=accepted).text
    assert "0" in kernel.run("print(df['n'].sum())").text


def test_where_the_administrator_allows_apply_never_an_accepted_cell_does_not_run_here_and_says_why(
    kernel: Kernel, model_server: ModelServer, tmp_path: Path
) -> None:
    path = write_policy(tmp_path / "etc", {"apply": "never", "explore": False, "contact": "ada@example.org"})
    accepted = asked(kernel, model_server)
    kernel.run(in_kernel(path.parent))
    kernel.run("%agent accept")
    ran = kernel.run(SOURCE, cell_id=accepted)
    assert "changed" in ran.text
    told = f'not allowed by your administrator (rule apply = "never" in {path}). Ask ada@example.org'
    assert told in ran.text
    assert told in kernel.run("%agent apply").error
    assert f"(rule explore = false in {path})" in kernel.run("%agent explore df").error
    assert "7" in kernel.run("print(df['n'].sum())").text


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_pending_cell_that_the_user_has_changed_runs_here(kernel: Kernel, model_server: ModelServer) -> None:
    pending = asked(kernel, model_server)
    assert "Pending" not in kernel.run("df['n'] = 5", cell_id=pending).text
    assert "15" in kernel.run("print(df['n'].sum())").text


@pytest.mark.rare("another case of what a test beside it proves")
def test_the_same_code_in_a_cell_of_the_users_own_runs_here(kernel: Kernel, model_server: ModelServer) -> None:
    asked(kernel, model_server)
    assert "Pending" not in kernel.run(SOURCE, cell_id="mine").text
    assert "0" in kernel.run("print(df['n'].sum())").text


@pytest.mark.rare("another case of what a test beside it proves")
def test_prompts_in_the_code_do_not_make_it_pass_for_the_users(kernel: Kernel, model_server: ModelServer) -> None:
    """IPython strips what looks like a prompt before it runs a cell."""
    model_server.script(code("d = {\n...: 5,\n}\ndf['n'] = 0\nprint('changed')"), "x")
    kernel.run("%%agent\nset n to zero", cell_id="question")
    run_id, text = _last_run(kernel)
    kernel.run(text, cell_id=cell_id(run_id, "code"))
    assert "7" in kernel.run("print(df['n'].sum())").text


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_cell_whose_run_was_replaced_or_discarded_does_not_run_here(
    kernel: Kernel, model_server: ModelServer
) -> None:
    pending = asked(kernel, model_server)
    kernel.run("%agent discard")
    kernel.run(SOURCE, cell_id=pending)
    assert "7" in kernel.run("print(df['n'].sum())").text


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_copy_of_a_pending_cell_does_not_run_here(kernel: Kernel, model_server: ModelServer) -> None:
    pending = asked(kernel, model_server)
    kernel.run(SOURCE + "  \n\n", cell_id=f"{pending}-1a2b3c4d")
    assert "7" in kernel.run("print(df['n'].sum())").text


def test_a_pending_cell_of_an_earlier_kernel_does_not_run_here(tmp_path: Path, model_server: ModelServer) -> None:
    environment = {"CODEAGENT_BASE_URL": model_server.url}
    with running_kernel(tmp_path, environment) as first:
        pending = asked(first, model_server)
    with running_kernel(tmp_path, environment | {"JPY_SESSION_NAME": "/renamed.ipynb"}) as second:
        assert "Pending" in second.run(SOURCE, cell_id=pending).text
        assert "7" in second.run("print(df['n'].sum())").text


def _last_run(kernel: Kernel) -> tuple[str, str]:
    run_id = kernel.run("%agent history 1").text.split()[0]
    shown = kernel.run(
        f"from jupyter_codeagent.history import HistoryStore\nprint(HistoryStore().load({run_id!r}).code)"
    )
    return run_id, shown.text
