"""A model server on another machine is asked through the user's proxy, whichever request it is."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from model_server import ModelServer, serving

from jupyter_codeagent.models.proxies import proxy_for
from jupyter_codeagent.models.simple_http import NotConnectedError, http_request

URL = "http://models.example.org/v1/models"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as one:
        yield one


@contextmanager
def socks_proxy(
    server: ModelServer, *, user: bytes = b"", greeting: bytes = b"\x05\x00", reply: int = 0
) -> Iterator[tuple[str, list[bytes]]]:
    """A SOCKS 5 proxy that leads everything to `server`; host and port, and what it was asked to connect to."""
    asked: list[bytes] = []

    def answer(listening: socket.socket) -> None:
        port = int(server.url.removesuffix("/v1").rpartition(":")[2])
        with suppress(OSError), listening.accept()[0] as one:
            one.recv(512)
            one.sendall(b"\x05\x02" if user else greeting)
            if user:
                one.sendall(b"\x01\x00" if one.recv(512) == user else b"\x01\x01")
            asked.append(one.recv(512))
            one.sendall(bytes([5, reply, 0, 1, *[0] * 6]))
            with socket.create_connection(("127.0.0.1", port)) as other:
                other.sendall(one.recv(65536))
                while piece := other.recv(65536):
                    one.sendall(piece)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=answer, args=(listening,), daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}", asked


@pytest.mark.parametrize(
    ("environ", "url", "proxy"),
    [
        ({}, URL, ""),
        ({"HTTP_PROXY": "http://proxy:3128"}, URL, "http://proxy:3128"),
        ({"HTTPS_PROXY": "http://proxy:3128"}, URL, ""),
        ({"ALL_PROXY": "proxy:3128"}, URL, "http://proxy:3128"),
        ({"ALL_PROXY": "socks5h://proxy:1080", "http_proxy": "http://other:1"}, URL, "http://other:1"),
        ({"ALL_PROXY": "socks5h://proxy:1080", "NO_PROXY": "example.org"}, URL, ""),
        ({"ALL_PROXY": "socks5h://proxy:1080", "NO_PROXY": "example.com"}, URL, "socks5h://proxy:1080"),
        ({"ALL_PROXY": "http://proxy:3128"}, "http://127.0.0.1:8000/v1", ""),
    ],
)
def test_the_proxy_is_the_one_that_other_programs_take(
    environ: dict[str, str], url: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(url) == proxy


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY"])
def test_a_list_of_models_is_asked_through_an_http_proxy(
    name: str, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, server.url.removesuffix("/v1"))
    http_request(URL, timeout_s=30)
    assert server.headers[0]["host"] == "models.example.org"


@pytest.mark.parametrize(("sign_in", "user"), [("", b""), ("me:s%40cret@", b"\x01\x02me\x06s@cret")])
def test_a_list_of_models_is_asked_through_a_socks_proxy_which_looks_the_name_up(
    sign_in: str, user: bytes, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socks_proxy(server, user=user) as (proxy, asked):
        monkeypatch.setenv("ALL_PROXY", f"socks5h://{sign_in}{proxy}")
        assert http_request(URL, timeout_s=30).status == 200
    assert b"models.example.org" in asked[0]


def test_what_a_socks_proxy_refuses_is_said_and_nothing_was_sent(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socks_proxy(server, reply=4) as (proxy, _):
        monkeypatch.setenv("ALL_PROXY", f"socks5://{proxy}")
        with pytest.raises(NotConnectedError, match="the SOCKS proxy cannot connect: host unreachable"):
            http_request(URL, timeout_s=30)
        assert server.headers == []
    with socks_proxy(server, greeting=b"HTTP/1.1 400 Bad Request") as (proxy, _):
        monkeypatch.setenv("ALL_PROXY", f"socks5://{proxy}")
        with pytest.raises(NotConnectedError, match="no answer of SOCKS 5"):
            http_request(URL, timeout_s=30)


def test_without_the_package_for_socks_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    with pytest.raises(NotConnectedError, match="pip install socksio"):
        http_request(URL, timeout_s=30)
