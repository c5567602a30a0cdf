"""The MCP client of another language: nothing of ours leans on habits of the SDK for Python."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernel_client import Kernel
from listening import wait_for_port
from mcp_client import kernel_for_clients, of_kernel

SDK = os.environ.get("CODEAGENT_MCP_SDK", "")
pytestmark = pytest.mark.skipif(not SDK, reason="wants the SDK for TypeScript: make mcp-check")
CLIENT = Path(__file__).parents[1] / "typescript_client.mjs"
PEOPLE = "people = pd.DataFrame({'n': [3, 4], 'wage': [714231, 714232]})"
TOKEN = "a-token-that-nobody-guesses"
LIMIT_S = 120


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with kernel_for_clients(tmp_path_factory.mktemp("mcp"), PEOPLE) as running:
        yield running


@pytest.fixture
def at_streams(kernel: Kernel) -> dict[str, Any]:
    command, *arguments = of_kernel(kernel).command
    return {"command": command, "args": arguments}


@pytest.fixture
def at_http(kernel: Kernel, tmp_path: Path) -> Iterator[dict[str, Any]]:
    log = tmp_path / "log"
    environment = {**os.environ, "CODEAGENT_MCP_TOKEN": TOKEN, "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
    with log.open("wb") as out:
        server = subprocess.Popen(of_kernel(kernel, "--http", "0").command, env=environment, stdout=out, stderr=out)
    try:
        yield {"url": f"http://127.0.0.1:{wait_for_port(server, log, LIMIT_S)}/mcp", "token": TOKEN}
    finally:
        server.terminate()
        server.wait(LIMIT_S)


def asked(server: dict[str, Any], *calls: tuple[str, dict[str, Any], int]) -> dict[str, Any]:
    """What the client prints of these calls."""
    given = json.dumps({"server": server, "calls": calls})
    command = ["node", str(CLIENT), SDK, given]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("transport", ["at_streams", "at_http"])
def test_a_client_in_typescript_sees_computes_and_is_stopped_like_one_in_python(
    transport: str, request: pytest.FixtureRequest
) -> None:
    said = asked(
        request.getfixturevalue(transport),
        ("list_variables", {}, 0),
        ("run_on_copies", {"code": "people['n'].sum()"}, 0),
        ("run_on_copies", {"code": "people['wage']"}, 0),
        ("run_on_copies", {"code": "import time\ntime.sleep(60)"}, 1000),
        ("run_on_copies", {"code": "6 * 7"}, 0),
        ("history", {}, 0),
    )
    assert said["tools"] == ["list_variables", "describe", "run_on_copies", "insert_cells", "history"]
    variables, total, hidden, stopped, after, history = said["answers"]
    assert "people: DataFrame 2x1" in variables["text"]
    assert "wage" not in variables["text"]
    assert total["text"].endswith("(7)")
    assert hidden["is_error"]
    assert stopped["is_error"]
    assert after["text"].endswith("42")
    assert "stopped  import time" in history["text"]


def test_a_client_in_typescript_without_the_token_gets_nothing(at_http: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="The Authorization header has no valid token"):
        asked({**at_http, "token": "wrong"}, ("list_variables", {}, 0))
