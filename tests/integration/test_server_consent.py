"""A server that a notebook names, and one of another user of this machine: nothing is sent before a yes."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from command_line import LOAD, codeagent, write
from kernel_client import Kernel, running_kernel
from model_server import ModelServer, code, serving
from stranger import UID, needs_root, strangers_server
from terminal import ipython

SUM = code("df['n'].sum()")
QUESTION = "Send your prompts to this model server?"
START = "%load_ext jupyter_codeagent\nimport pandas as pd\ndf = pd.DataFrame({'n': [1, 2, 4]})\n"


def elsewhere(server: ModelServer) -> str:
    """The same server by an address that is taken for that of another machine."""
    return server.url.replace("127.0.0.1", "127.1")


def asked(options: str, prompt: str = "sum") -> str:
    return f"get_ipython().run_cell_magic('agent', {options!r}, {prompt!r})\n"


def test_a_server_that_a_cell_names_gets_nothing_after_a_no(tmp_path: Path, model_server: ModelServer) -> None:
    with serving() as other:
        other.script(SUM)
        shown = ipython(tmp_path, model_server, START + asked(f"--base-url {elsewhere(other)}"), "n\n")
        assert other.headers == []
    assert QUESTION in shown
    assert elsewhere(other).removesuffix("/v1") in shown
    assert "Not done: the answer was no." in shown
    assert model_server.headers == []


def test_after_a_yes_it_is_asked_for_the_rest_of_the_session_until_a_reset(
    tmp_path: Path, model_server: ModelServer
) -> None:
    with serving() as other:
        other.script(SUM)
        options = f"--base-url {elsewhere(other)}"
        script = (
            START + asked(options) + asked(options, "and again") + "%agent reset\n" + asked(options, "once more")
        )
        shown = ipython(tmp_path, model_server, script, "y\nn\n")
        assert "Not done: the answer was no." in shown
        prompts = [request["messages"][-1]["content"] for request in other.requests]
    assert shown.count(QUESTION) == 2
    assert len(re.findall(r"✓ \d", shown)) == 2
    assert any("and again" in prompt for prompt in prompts)
    assert not any("once more" in prompt for prompt in prompts)
    assert "Sent to another machine: 127.1:" in shown
    assert not any("authorization" in headers for headers in other.headers)


ANOTHER_WAY = pytest.mark.rare("where the address stands makes no difference once it is read: tests/unit/settings")


@pytest.mark.parametrize(
    "cell",
    [
        "%config CodeAgent.base_url = '{}'",
        pytest.param("%env CODEAGENT_BASE_URL={}", marks=ANOTHER_WAY),
        pytest.param("import os; os.environ['OPENAI_BASE_URL'] = '{}'", marks=ANOTHER_WAY),
    ],
)
@pytest.mark.long("another situation of what a test beside it proves")
def test_with_nobody_to_ask_nothing_is_sent_wherever_the_notebook_names_the_server(
    tmp_path: Path, model_server: ModelServer, cell: str
) -> None:
    model_server.script(SUM)
    url = elsewhere(model_server)
    with running_kernel(tmp_path, {"CODEAGENT_API_KEY": "secret-key"}, forked=False) as kernel:
        assert kernel.run(cell.format(url)).error == ""
        ran = kernel.ask("sum")
        assert ran.error.startswith("DeniedError: Not done: there is no side panel")
        assert f"`--allow-server {url.removesuffix('/v1')}`" in ran.error
        for line in ("%agent status", "%agent models", "%agent context", "%agent doctor", "%agent use scripted"):
            kernel.run(line)
    assert model_server.headers == []


@pytest.mark.long("another case of what a test beside it proves")
def test_a_dry_run_sends_nothing_to_anybody(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.script(SUM)
    model_server.tokenizer = lambda _: {"count": 7}
    environment = {"CODEAGENT_BASE_URL": model_server.url, "CODEAGENT_API_KEY": "secret-key"}
    with running_kernel(tmp_path, environment, forked=False) as kernel:
        first = dry_run(kernel, "")
        remote = dry_run(kernel, f"--base-url {elsewhere(model_server)} --model big")
        assert model_server.headers == [], "not even the list of models is asked for"
        assert kernel.ask("sum").error == ""
        before = len(model_server.received)
        second = dry_run(kernel, "")
        assert len(model_server.received) == before
    address = f"{model_server.url.removeprefix('http://').removesuffix('/v1')} (on this machine)"
    assert f"send about {tokens(first)} tokens, estimated, to the first model it lists at {address}" in first
    assert f"send about {tokens(second)} tokens, estimated, to scripted at {address}" in second
    assert "A run would send about" in remote
    assert " to big at " in remote
    assert f"would ask first whether prompts may go to {elsewhere(model_server).removesuffix('/v1')}" in remote
    assert "would ask" not in first + second


def dry_run(kernel: Kernel, options: str) -> str:
    ran = kernel.ask("sum", f"--dry-run {options}")
    assert ran.error == ""
    assert "Dry run: nothing was sent or run." in ran.text
    return ran.text


def tokens(text: str) -> str:
    return text.partition("would send about ")[2].partition(" ")[0]


@pytest.mark.long("another case of what a test beside it proves")
def test_the_command_line_denies_what_it_was_not_allowed_and_says_how(
    tmp_path: Path, model_server: ModelServer
) -> None:
    with serving() as other:
        other.script(SUM)
        url = elsewhere(other)
        write(tmp_path / "in.ipynb", LOAD, f"%%agent --base-url {url}\nsum")
        denied = codeagent(tmp_path, model_server, "run", "in.ipynb", "-o", "out.ipynb")
        assert denied.returncode == 1
        assert f"--allow-server {url.removesuffix('/v1')}" in denied.stderr
        assert other.headers == []
        another = codeagent(
            tmp_path, model_server, "run", "in.ipynb", "-o", "out.ipynb", "--allow-server", "http://127.1:9"
        )
        assert another.returncode == 1
        assert other.headers == []
        allowed = codeagent(tmp_path, model_server, "run", "in.ipynb", "-o", "out.ipynb", "--allow-server", url)
        assert allowed.returncode == 0, allowed.stderr
        assert other.requests
    notebook = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    assert notebook.cells[3].source == "df['n'].sum()"


# --- another user's server on this machine --------------------------------------------------------


@needs_root
@pytest.mark.long("another situation of what a test beside it proves")
def test_another_users_server_is_asked_for_by_its_owners_name_and_stands_with_it_in_the_receipt(
    tmp_path: Path, model_server: ModelServer
) -> None:
    with strangers_server() as stranger:
        options = f"--base-url {stranger.url}"
        refused = ipython(tmp_path, model_server, START + asked(options), "n\n")
        assert stranger.got_nothing()
        shown = ipython(tmp_path, model_server, START + asked(options) + asked(options, "and again"), "y\n")
        assert "and again" in stranger.got()["prompt"]
    where = f"http://127.0.0.1:{stranger.port} of user id {UID}"
    for text in (refused, shown):
        assert f"not yours: user id {UID} can read your prompts" in text
        assert where in text
    assert shown.count(QUESTION) == 1
    assert f"→ this machine, server of user id {UID}" in shown


@needs_root
@pytest.mark.long("another case of what a test beside it proves")
def test_another_users_server_that_is_configured_is_denied_where_nobody_can_be_asked_unless_it_is_allowed(
    tmp_path: Path,
) -> None:
    with strangers_server() as stranger:
        environment = {"CODEAGENT_BASE_URL": stranger.url, "CODEAGENT_API_KEY": "secret-key"}
        for directory in "ab":
            (tmp_path / directory).mkdir()
        with running_kernel(tmp_path / "a", environment, forked=False) as kernel:
            assert "DeniedError" in kernel.ask("sum").error
            dry = kernel.ask("sum", "--dry-run").text
            for line in ("%agent status", "%agent models", "%agent context", "%agent doctor"):
                kernel.run(line)
        assert f"would ask first whether prompts may go to http://127.0.0.1:{stranger.port} of user id {UID}" in dry
        assert stranger.got_nothing()
        allowed = {"CODEAGENT_ALLOW_SERVERS": stranger.url.removesuffix("/v1")}
        with running_kernel(tmp_path / "b", environment | allowed, forked=False) as kernel:
            assert kernel.ask("sum").error == ""


@needs_root
@pytest.mark.long("another case of what a test beside it proves")
def test_a_system_accounts_server_is_used_unasked_and_named_in_the_receipt(tmp_path: Path) -> None:
    with (
        strangers_server(uid=990) as ollama,
        running_kernel(tmp_path, {"CODEAGENT_BASE_URL": ollama.url}, forked=False) as kernel,
    ):
        ran = kernel.ask("sum")
        assert ran.error == ""
        assert "→ this machine, server of user id 990" in ran.text


@needs_root
@pytest.mark.long("another situation of what a test beside it proves")
def test_a_port_that_has_changed_hands_gets_nothing_in_the_next_run(tmp_path: Path) -> None:
    with (
        strangers_server(uid=0) as mine,
        running_kernel(tmp_path, {"CODEAGENT_BASE_URL": mine.url}, forked=False) as kernel,
    ):
        assert kernel.ask("sum").error == ""
        mine.stop()
        with strangers_server(port=mine.port) as stranger:
            assert "DeniedError" in kernel.ask("sum again").error
            kernel.run("%agent context")
            assert stranger.got_nothing()
