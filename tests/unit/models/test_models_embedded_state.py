"""State files of embedded servers: private, whole, and never mistaken for another process."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_codeagent.models.embedded.state import (
    ServerState,
    all_states,
    is_alive,
    is_ours,
    process_started,
    read_state,
    state_directory,
    state_file,
    write_state,
)


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEAGENT_STATE_DIR", str(tmp_path / "state"))
    return state_directory()


@pytest.fixture
def state() -> ServerState:
    """Of this very process."""
    started = process_started(os.getpid())
    return ServerState(pid=os.getpid(), started=started, url="http://127.0.0.1:1", key="secret", model="m")


def test_a_state_comes_back_as_it_was(directory: Path, state: ServerState) -> None:
    file = state_file(directory, "weights", 8192)
    write_state(file, state)

    assert read_state(file) == state
    assert list(all_states(directory)) == [(file, state)]


def test_directory_and_file_are_private_whatever_the_umask(directory: Path, state: ServerState) -> None:
    directory.chmod(0o755)
    before = os.umask(0)
    try:
        file = state_file(state_directory(), "weights")
        write_state(file, state)
    finally:
        os.umask(before)

    assert directory.stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_repr_does_not_show_the_key(state: ServerState) -> None:
    assert "secret" not in repr(state)


def test_other_options_have_another_file(directory: Path) -> None:
    assert state_file(directory, "weights", 8192) == state_file(directory, "weights", 8192)
    assert state_file(directory, "weights", 8192) != state_file(directory, "weights", 4096)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '{"pid": 1, "started": "x", "new": 2}'])
def test_a_file_of_another_version_is_none(directory: Path, text: str) -> None:
    file = state_file(directory, "weights")
    file.write_text(text)

    assert read_state(file) is None
    assert list(all_states(directory)) == []


def test_a_running_process_is_alive(state: ServerState) -> None:
    assert is_alive(state)
    assert is_ours(state)


def test_a_pid_that_is_used_again_is_not_the_server(state: ServerState) -> None:
    assert not is_alive(replace(state, started=f"{state.started}0"))


def test_a_process_of_another_boot_or_machine_is_not_ours(state: ServerState) -> None:
    other = replace(state, started="another-boot 1")

    assert not is_ours(other)
    assert not is_alive(other)


def test_a_process_that_ended_is_not_alive_even_before_it_is_collected() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    state = ServerState(pid=process.pid, started=process_started(process.pid))
    assert is_alive(state)

    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert not is_alive(state)
    process.communicate()
    assert not is_alive(state)
