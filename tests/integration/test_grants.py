"""Yeses that last: what they cover, that all are listed in words, and what ends them."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernel_client import Kernel, running_kernel
from kernel_page import KernelPage, approve, approve_for_the_notebook, reject
from model_server import ModelServer, code
from policies import in_kernel, write_policy

ASK = "%%agent --approve ask --max-steps 1\nThe sum of n?"
CODE = "further code of this notebook runs in the sandbox without asking"


@pytest.fixture
def page(kernel: Kernel, model_server: ModelServer) -> KernelPage:
    model_server.script(code("print('sum', df['n'].sum())"))
    return KernelPage(kernel).open()


def kinds(page: KernelPage) -> list[str]:
    return [proposal["kind"] for proposal in page.asked()]


def test_a_yes_to_all_further_code_of_the_notebook_is_listed_and_not_asked_for_again(page: KernelPage) -> None:
    page.answer = approve_for_the_notebook
    page.run(ASK)
    assert page.grants == [("run", "")]
    assert CODE in page.run("%agent status")
    page.run(ASK)
    assert kinds(page) == ["run"]


@pytest.mark.long("another situation of what a test beside it proves")
def test_one_that_is_taken_back_is_asked_for_again(page: KernelPage) -> None:
    page.answer = approve_for_the_notebook
    page.run(ASK)
    page.say(type="take_back", kind="run", subject="")
    page.wait_for("grants")
    assert page.grants == []
    assert CODE not in page.run("%agent status")
    page.run(ASK)
    assert kinds(page) == ["run", "run"]


@pytest.mark.long("another case of what a test beside it proves")
def test_a_yes_for_this_once_is_asked_for_again_and_listed_nowhere(page: KernelPage) -> None:
    page.answer = approve
    page.run(ASK)
    page.run(ASK)
    assert kinds(page) == ["run", "run"]
    assert page.grants == []


@pytest.mark.parametrize(
    ("ending", "ends"),
    [
        ("%agent reset", True),
        ("%unload_ext jupyter_codeagent\n%load_ext jupyter_codeagent", True),
        ("%%agent --new\nThe sum of n?", False),
    ],
    ids=["reset", "unload", "new conversation"],
)
@pytest.mark.long("another situation of what a test beside it proves")
def test_a_reset_and_unloading_end_every_yes_and_a_new_conversation_none(
    page: KernelPage, ending: str, ends: bool
) -> None:
    page.answer = approve_for_the_notebook
    page.run(ASK)
    page.run(ending)
    assert (CODE in page.run("%agent status")) is not ends
    again = KernelPage(page.kernel, answer=reject).open()
    assert "SystemExit" not in again.run(ASK)
    assert kinds(again) == (["run"] if ends else [])


@pytest.mark.long("another situation of what a test beside it proves")
def test_running_in_the_users_own_kernel_is_asked_for_each_time_whatever_a_page_says(page: KernelPage) -> None:
    page.answer = approve_for_the_notebook
    page.run("%%agent\nThe sum of n?")
    for _ in range(2):
        assert "sum 7" in page.run("%agent apply")
    assert kinds(page) == ["apply", "apply"]
    assert page.grants == []
    assert [proposal["scopes"] for proposal in page.asked()] == [["once"], ["once"]]


def test_overwriting_a_live_variable_is_asked_for_each_time_whatever_a_page_says(
    page: KernelPage, model_server: ModelServer
) -> None:
    page.answer = approve_for_the_notebook
    model_server.script(code("total = df['n'].sum()\nprint(total)"))
    page.run("%%agent\nThe sum of n?")
    page.run("total = 'mine'")
    for _ in range(2):
        page.run("%agent pull total")
    assert kinds(page) == ["overwrite", "overwrite"]
    assert page.grants == []


READ = "import pathlib\nprint('TEXT', pathlib.Path(PATH).read_text()[:9])"


@pytest.mark.long("another case of what a test beside it proves")
def test_a_file_is_read_after_a_yes_until_it_is_taken_back(
    page: KernelPage, model_server: ModelServer, tmp_path: Path
) -> None:
    path = tmp_path / "trips.csv"
    path.write_text("km,min\n1,2\n", encoding="ascii")
    page.run(f"import polars as pl\ntrips = pl.scan_csv({str(path)!r})")
    model_server.script(code(READ.replace("PATH", repr(str(path)))))
    page.answer = approve

    def result_of(options: str, question: str) -> str:
        page.run(f"%%agent --max-steps 1 {options}\n{question}")
        return str(page.last("run")["run"]["steps"][-1]["result"])

    assert "TEXT km,min" in result_of("--vars trips", "first?")
    assert page.grants == [("mount", str(path))]
    assert f"the sandbox may read {path}" in page.run("%agent status")
    assert "TEXT km,min" in result_of("--vars df", "second?")
    page.say(type="take_back", kind="mount", subject=str(path))
    page.wait_for("grants")
    assert "No such file" in result_of("--vars df", "third?")
    page.answer = reject
    assert "Not done" in page.run("%%agent --vars trips --max-steps 1\nfourth?")
    assert kinds(page) == ["mount", "mount"]


@pytest.mark.long("another case of what a test beside it proves")
def test_a_yes_to_all_calls_of_a_function_ends_with_the_function(
    page: KernelPage, model_server: ModelServer
) -> None:
    declare = "from jupyter_codeagent import agent_tool\n@agent_tool\ndef send(to: str) -> str:\n    return 'sent'"
    page.run(declare)
    model_server.script(code("print(send('ada'))"))
    page.answer = approve_for_the_notebook
    page.run("%%agent --max-steps 1\nTell ada")
    assert page.grants == [("call", "send")]
    assert "code may call send() without asking" in page.run("%agent status")
    page.run("%agent tool remove send")
    assert page.grants == []
    page.run(declare)
    page.run("%%agent --max-steps 1\nTell ada again")
    assert kinds(page) == ["call", "call"]


@pytest.mark.long("another case of what a test beside it proves")
def test_where_the_administrator_wants_all_code_seen_no_yes_to_further_code_is_offered(
    tmp_path: Path, model_server: ModelServer
) -> None:
    caps = tmp_path / "caps"
    write_policy(caps, {"approve": "ask"})
    environment = {"CODEAGENT_BASE_URL": model_server.url}
    with running_kernel(tmp_path, environment) as kernel:
        kernel.run(in_kernel(caps))
        model_server.script(code("print('sum', df['n'].sum())"))
        page = KernelPage(kernel, answer=approve_for_the_notebook).open()
        page.run(ASK)
        page.run(ASK)
        assert [proposal["scopes"] for proposal in page.asked()] == [["once"], ["once"]]
        assert page.grants == []
