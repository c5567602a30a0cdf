"""One server for all users of a machine: its file of keys, and the process, with a stand-in for llama.cpp."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jupyter_codeagent.models.embedded.multi_user_server import read_keys
from jupyter_codeagent.models.simple_http import http_request
from jupyter_codeagent.types.errors import UsageError

TESTS = Path(__file__).parents[2]
ADA, BOB = "key-of-ada-0123456789", "key-of-bob-0123456789"


def keys_in(directory: Path, text: str, mode: int = 0o600) -> Path:
    file = directory / "keys"
    file.write_text(text)
    file.chmod(mode)
    return file


def test_each_user_has_a_key(tmp_path: Path) -> None:
    assert read_keys(keys_in(tmp_path, f"# staff\nada {ADA}\n\nbob  {BOB}\n")) == {"ada": ADA, "bob": BOB}


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        (f"ada {ADA}", 0o644, "Everybody can read"),
        ("", 0o600, "has no key"),
        (f"ada {ADA}\nbob short", 0o600, "line 2: must be USER KEY"),
        (f"ada {ADA}\n{BOB}", 0o600, "line 2: must be USER KEY"),
        (f"ada {ADA}\nbob {ADA}", 0o600, "line 2: user or key is there twice"),
        (f"ada {ADA}\nada {BOB}", 0o600, "line 2: user or key is there twice"),
    ],
)
def test_a_file_of_keys_that_is_not_right_is_refused_without_telling_one(
    tmp_path: Path, text: str, mode: int, said: str
) -> None:
    with pytest.raises(UsageError, match=said) as raised:
        read_keys(keys_in(tmp_path, text, mode))
    assert not any(key in str(raised.value) for key in (ADA, BOB, "short"))


def status(url: str, key: str) -> int:
    """0 where nobody answers."""
    try:
        return http_request(f"{url}/v1/models", api_key=key, timeout_s=10).status
    except OSError:
        return 0


def eventually(url: str, key: str, expected: int) -> bool:
    deadline = time.monotonic() + 60
    while status(url, key) != expected and time.monotonic() < deadline:
        time.sleep(0.1)
    return status(url, key) == expected


def test_a_key_that_is_taken_out_opens_nothing_any_more_and_none_is_said(tmp_path: Path) -> None:
    weights, keys = tmp_path / "own.gguf", keys_in(tmp_path, f"ada {ADA}\nbob {BOB}\n")
    weights.write_bytes(b"GGUF")
    profile = tmp_path / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_config.py").write_text(f"c.CodeAgent.weights = {str(weights)!r}\n")
    environment = {
        **os.environ,
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "PYTHONPATH": f"{TESTS / 'fake_llama'}{os.pathsep}{TESTS.parent}",
    }
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = [sys.executable, "-m", "jupyter_codeagent.entrypoints.cli", "models", "serve"]
    command += ["--port", str(port), "--keys", str(keys)]
    url, log = f"http://127.0.0.1:{port}", tmp_path / "log"
    with log.open("wb") as written, subprocess.Popen(command, env=environment, stderr=written) as process:
        try:
            assert eventually(url, ADA, 200), log.read_text()
            assert (status(url, BOB), status(url, ""), status(url, "guessed")) == (200, 401, 401)
            arguments = Path(f"/proc/{process.pid}/cmdline").read_text()
            keys_in(tmp_path, f"ada {ADA}\n")
            assert eventually(url, BOB, 401)
            assert status(url, ADA) == 200
        finally:
            process.terminate()
    assert "for ada, bob" in log.read_text()
    assert not any(key in log.read_text() + arguments for key in (ADA, BOB))
