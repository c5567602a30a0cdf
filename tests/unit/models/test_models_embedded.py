"""The process of the embedded model: started once, found again, ended; with a stand-in for llama.cpp itself."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_codeagent.models.embedded import launcher as embedded
from jupyter_codeagent.models.embedded.catalogue import DEFAULT_MODEL
from jupyter_codeagent.models.embedded.launcher import (
    RunningServer,
    embedded_installed,
    running_embedded,
    start_embedded,
    start_limit_s,
    stop_embedded,
)
from jupyter_codeagent.models.embedded.model import EmbeddedModel
from jupyter_codeagent.models.embedded.server import LOG_LIMIT_BYTES
from jupyter_codeagent.models.embedded.sizing import MeasuredSpeed
from jupyter_codeagent.models.embedded.speed import measured_speed
from jupyter_codeagent.models.embedded.state import SOCKET_DIRECTORY, process_started, state_directory
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.resolver import ModelResolver
from jupyter_codeagent.models.simple_http import http_request
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import ModelTimeoutError, ModelUnreachableError, NoModelError, WeightsError
from jupyter_codeagent.types.messages import CompletionRequest, Message

TESTS = Path(__file__).parents[2]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelSettings]:
    """Own weights and a state directory of the test; what it starts is ended."""
    weights = tmp_path / "own.gguf"
    weights.write_bytes(b"GGUF")
    monkeypatch.setenv("CODEAGENT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", f"{TESTS / 'fake_llama'}:{TESTS.parent}")
    yield ModelSettings(weights=str(weights))
    stop_embedded()


def start(settings: ModelSettings) -> RunningServer:
    return asyncio.run(start_embedded(settings))


def ask(server: RunningServer, body: object = None, key: str | None = None) -> int:
    """HTTP status of a request."""
    return http_request(
        f"{server.base_url}/models",
        api_key=server.api_key if key is None else key,
        json_body=None if body is None else json.dumps(body).encode(),
        timeout_s=10,
        socket_path=server.socket_path,
    ).status


def is_running(server: RunningServer) -> bool:
    return process_started(server.pid) != ""


def ports_of(pid: int) -> int:
    """Sockets of the process that listen on a port."""
    inodes = {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()}
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[3] == "0A" and f"socket:[{row[9]}]" in inodes for row in rows)


def eventually(condition: Callable[[], bool], within_s: float = 60.0) -> bool:
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_it_answers_on_a_socket_of_the_users_alone_with_its_key_only(settings: ModelSettings) -> None:
    server = start(settings)
    path = Path(server.socket_path)

    assert path.is_socket()
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert ports_of(server.pid) == 0
    assert server.base_url == "http://127.0.0.1/v1"
    assert server.model == "own"
    assert ask(server) == 200
    assert ask(server, key="guessed") == 401
    stop_embedded()
    assert not path.exists()
    assert not path.parent.name.startswith(SOCKET_DIRECTORY) or not path.parent.exists()


def test_its_socket_is_beside_the_state_file_where_the_path_is_short_enough(
    settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="ca-") as directory:
        monkeypatch.setenv("CODEAGENT_STATE_DIR", directory)
        server = start(settings)
        assert Path(server.socket_path).parent == Path(directory)
        os.kill(server.pid, signal.SIGKILL)
        assert eventually(lambda: not is_running(server))
        again = start(settings)
        assert (ask(again), again.socket_path) == (200, server.socket_path)
        stop_embedded()
        assert not Path(server.socket_path).exists()


def test_what_a_killed_server_has_left_of_a_socket_elsewhere_goes_with_the_next_start(
    settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="ca-") as directory:
        monkeypatch.setenv("TMPDIR", directory)
        monkeypatch.setattr(tempfile, "tempdir", None)
        monkeypatch.setenv("CODEAGENT_STATE_DIR", f"{directory}/{'long' * 30}")
        server = start(settings)
        assert Path(server.socket_path).parent.parent == Path(directory)
        os.kill(server.pid, signal.SIGKILL)
        assert eventually(lambda: not is_running(server))
        start(replace(settings, context_tokens=4096))
        assert not Path(server.socket_path).parent.exists()
        stop_embedded()
        assert not list(Path(directory).glob(f"{SOCKET_DIRECTORY}*"))


def test_it_listens_on_a_port_for_programs_that_know_no_sockets(
    settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEAGENT_EMBEDDED_TRANSPORT", "tcp")
    server = start(settings)

    assert server.base_url.startswith("http://127.0.0.1:")
    assert server.socket_path == ""
    assert (ask(server), ask(server, key="guessed")) == (200, 401)


def test_the_client_of_the_model_connects_to_the_socket(
    settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GGML_FAKE_REPLY", "the reply")
    request = CompletionRequest(messages=(Message(role="user", content="Hi"),), max_tokens=16)

    async def reply() -> str:
        model = EmbeddedModel(settings)
        said = await model.complete(request, on_text=lambda _: None, is_complete=lambda _: False)
        await model.close()
        return said.text

    assert asyncio.run(reply()).split() == ["the", "reply"]


def test_a_running_server_is_used_again(settings: ModelSettings) -> None:
    assert start(settings) == start(settings)


def test_two_callers_at_once_get_one_server(settings: ModelSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGML_FAKE_LOAD_S", "0.3")

    async def both() -> tuple[RunningServer, RunningServer]:
        return await asyncio.gather(start_embedded(settings), start_embedded(settings))

    first, second = asyncio.run(both())

    assert first == second


def test_other_options_are_another_server(settings: ModelSettings) -> None:
    first = start(settings)
    second = start(replace(settings, context_tokens=4096))

    assert first.pid != second.pid
    assert ask(first) == ask(second) == 200
    assert stop_embedded()
    assert not is_running(first)
    assert not is_running(second)


def test_stopping_tells_whether_there_was_one(settings: ModelSettings) -> None:
    server = start(settings)

    assert stop_embedded()
    assert not is_running(server)
    assert not stop_embedded()
    assert not list(state_directory().glob("*.json"))


def test_a_server_that_does_not_listen_to_reason_is_killed(
    settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "END_LIMIT_S", 0.2)
    server = start(settings)
    os.kill(server.pid, signal.SIGSTOP)

    assert stop_embedded()
    assert not is_running(server)


def test_a_server_that_died_is_replaced(settings: ModelSettings) -> None:
    dead = start(settings)
    os.kill(dead.pid, signal.SIGKILL)
    assert eventually(lambda: not is_running(dead))

    server = start(settings)

    assert server.pid != dead.pid
    assert ask(server) == 200


def test_a_server_that_does_not_answer_is_replaced(
    settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "ANSWER_LIMIT_S", 0.3)
    monkeypatch.setattr(embedded, "END_LIMIT_S", 0.2)
    deaf = start(settings)
    os.kill(deaf.pid, signal.SIGSTOP)

    server = start(settings)

    assert server.pid != deaf.pid
    assert not is_running(deaf)


def test_an_idle_server_ends_itself_and_cleans_up(settings: ModelSettings) -> None:
    server = start(_idle_after(settings, 0.5))

    assert eventually(lambda: not is_running(server))
    assert not list(state_directory().glob("*.json"))


def test_a_request_under_way_is_not_idleness(settings: ModelSettings) -> None:
    server = start(_idle_after(settings, 2.0))

    assert ask(server, {"work_s": 4.0}) == 200
    assert is_running(server)
    assert eventually(lambda: not is_running(server))


def test_asking_for_the_server_keeps_it(settings: ModelSettings) -> None:
    settings = _idle_after(settings, 2.0)
    server = start(settings)
    began = time.monotonic()

    while time.monotonic() - began < 4.0:
        assert start(settings) == server
        time.sleep(0.2)


def test_the_speed_of_a_server_is_known_while_it_runs_and_after_it_has_ended(
    settings: ModelSettings, tmp_path: Path
) -> None:
    weights = tmp_path / f"{DEFAULT_MODEL}.gguf"
    weights.write_bytes(b"GGUF")
    assert measured_speed() is None
    server = start(_idle_after(replace(settings, weights=str(weights)), 1.0))
    assert measured_speed() is None, "nothing was written yet"

    ask(server, {"tokens": 50})
    running = measured_speed()

    assert eventually(lambda: not is_running(server))
    assert running == measured_speed() == MeasuredSpeed(model=DEFAULT_MODEL, tokens_per_s=25.0)


def test_the_speed_of_a_file_that_is_not_in_the_catalogue_tells_nothing_of_others(settings: ModelSettings) -> None:
    ask(start(settings), {"tokens": 50})

    assert measured_speed() is None


def test_a_model_that_needs_more_memory_than_is_free_is_not_loaded(
    settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "_needs_bytes", lambda _: 1 << 60)

    with pytest.raises(
        ModelUnreachableError, match=r"own needs about 1152921505 GB of memory, .* choose a smaller one"
    ):
        start(settings)


def test_a_large_file_may_take_longer_to_load() -> None:
    assert start_limit_s(1_117_320_768) == pytest.approx(112, abs=1)
    assert start_limit_s(18_556_689_568) == pytest.approx(461, abs=1)


def _idle_after(settings: ModelSettings, seconds: float) -> ModelSettings:
    return replace(settings, idle_shutdown_s=seconds)


def test_a_server_whose_key_nobody_can_know_any_more_ends(settings: ModelSettings) -> None:
    server = start(_idle_after(settings, 600.0))
    next(state_directory().glob("*.json")).unlink()

    assert eventually(lambda: not is_running(server))


def test_the_key_stands_in_the_private_state_file_and_nowhere_else(
    settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-user")
    server = start(settings)
    process = Path(f"/proc/{server.pid}")
    environment, arguments = (process / "environ").read_bytes(), (process / "cmdline").read_bytes()

    assert server.api_key not in repr(server)
    assert server.api_key.encode() not in environment + arguments
    assert b"key-of-the-user" not in environment
    assert b"CODEAGENT_STATE_DIR" in environment
    files = [file for file in state_directory().iterdir() if file.is_file()]
    holders = [file for file in files if server.api_key.encode() in file.read_bytes()]
    assert [file.suffix for file in holders] == [".json"]
    assert holders[0].stat().st_mode & 0o777 == 0o600


def test_neither_the_notebooks_interrupt_nor_its_end_reaches_the_server(settings: ModelSettings) -> None:
    server = start(settings)

    assert os.getsid(server.pid) != os.getsid(0)
    parent = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()[1]
    assert int(parent) != os.getpid()
    os.kill(server.pid, signal.SIGINT)
    assert ask(server) == 200


def test_the_log_stays_small(settings: ModelSettings) -> None:
    server = start(_idle_after(settings, 3.0))
    log = next(state_directory().glob("*.log"))

    assert ask(server, {"log": "x" * (LOG_LIMIT_BYTES + 1)}) == 200

    assert eventually(lambda: log.stat().st_size == 0)
    assert ask(server, {"log": "after"}) == 200
    assert log.read_text() == "after"


def test_a_server_that_cannot_load_says_why(settings: ModelSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGML_FAKE_LOAD_S", "-1")

    with pytest.raises(ModelUnreachableError, match=r"^The embedded model ended during loading: made up$"):
        start(settings)
    assert not list(state_directory().glob("*.json"))


def test_loading_for_too_long_is_an_error_and_ended(
    settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GGML_FAKE_LOAD_S", "60")
    monkeypatch.setattr(embedded, "START_LIMIT_S", 1.5)

    with pytest.raises(ModelTimeoutError, match=r"did not answer within 2 s; its log is .*log"):
        start(settings)
    assert not stop_embedded()


def test_a_cancelled_start_returns_at_once_and_the_next_one_gets_that_server(
    settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GGML_FAKE_LOAD_S", "5")

    async def cancelled() -> float:
        task = asyncio.create_task(start_embedded(settings))
        await asyncio.to_thread(eventually, lambda: bool(list(state_directory().glob("*.json"))))
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return began

    began = asyncio.run(cancelled())  # which waits for the thread, too

    assert time.monotonic() - began < 3
    loading = json.loads(next(state_directory().glob("*.json")).read_text())
    assert loading["url"] == ""
    assert start(settings).pid == loading["pid"]


def test_waiting_for_the_server_does_not_block_the_event_loop(
    settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GGML_FAKE_LOAD_S", "4")

    async def longest_pause() -> float:
        task, pauses = asyncio.create_task(start_embedded(settings)), [0.0]
        while not task.done():
            began = time.monotonic()
            await asyncio.sleep(0.01)
            pauses.append(time.monotonic() - began)
        return max(pauses)

    assert asyncio.run(longest_pause()) < 2


def test_without_the_extra_the_error_says_what_to_install(
    settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert embedded_installed()
    monkeypatch.setattr(embedded, "find_spec", lambda _: None)

    assert not embedded_installed()
    with pytest.raises(NoModelError, match=r"pip install 'jupyter-codeagent\[local\]'"):
        start(settings)


def test_weights_that_are_none_start_nothing(settings: ModelSettings) -> None:
    Path(settings.weights).write_bytes(b"PK")

    with pytest.raises(WeightsError, match="not a GGUF file"):
        start(settings)
    assert not stop_embedded()


def test_what_other_machines_wrote_is_left_alone_until_it_is_old(settings: ModelSettings) -> None:
    file = state_directory() / "server-0.json"
    file.write_text(json.dumps({"pid": os.getpid(), "started": "another-boot 1"}))
    start(settings)
    assert not stop_embedded() or file.exists()

    os.utime(file, (0, 0))
    start(settings)

    assert not file.exists()


def test_that_it_is_loaded_is_told_before_it_answers_and_once_more_after_it_has_ended(
    settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GGML_FAKE_LOAD_S", "0.3")
    endpoint = ModelEndpoint(model="own", label="embedded", kind="embedded", remote=False)
    told: list[bool] = []

    async def runs() -> list[int]:
        choice = ModelResolver()

        async def run() -> int:
            await choice.open(
                endpoint, settings, on_loading=lambda: told.append(running_embedded("own") is not None)
            )
            assert running_embedded("own") is not None, "it is ready to be asked"
            return len(told)

        first, second = await run(), await run()
        await asyncio.to_thread(stop_embedded)
        return [first, second, await run()]

    assert asyncio.run(runs()) == [1, 1, 2]
    assert told == [False, False]
