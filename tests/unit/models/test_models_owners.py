"""`models.owners` and `models.admission`: whose server a port of this machine is, and who needs a yes."""

from __future__ import annotations

import asyncio
import os
import socket
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest
from model_server import ModelServer
from stranger import UID, needs_root, strangers_server

from jupyter_codeagent.entrypoints import doctor
from jupyter_codeagent.models import discovery, owners, servers
from jupyter_codeagent.models.admission import admit
from jupyter_codeagent.models.discovery import list_models, open_model, predict_model, resolve_model
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.owners import Listener, are_trusted, belong_to_user, format_owners, parse_table
from jupyter_codeagent.models.resolver import ModelResolver
from jupyter_codeagent.models.server_status import model_server_statuses
from jupyter_codeagent.models.tokens import find_tokenizer
from jupyter_codeagent.settings.settings import ModelSettings, Settings
from jupyter_codeagent.types.errors import ModelError, ModelUnreachableError, UnconfirmedServerError
from jupyter_codeagent.types.messages import CompletionRequest, Message

MINE = frozenset({os.getuid()})
HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
TABLE = HEADER + (
    "   0: 0100007F:2CAA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 31337 1 0\n"
    "   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 31338 1 0\n"
    "   2: 0100007F:2CAA 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1002        0 31339 1 0\n"
)
TABLE_6 = HEADER + (
    "   0: 00000000000000000000000000000000:04D2 00000000000000000000000000000000:0000 0A "
    "00000000:00000000 00:00000000 00000000   998        0 1 1 0 100 0 0 10 0\n"
    "   1: 00000000000000000000000001000000:04D3 00000000000000000000000000000000:0000 0A "
    "00000000:00000000 00:00000000 00000000  1003        0 1 1 0 100 0 0 10 0\n"
    "   2: 0000000000000000FFFF00000100007F:04D4 00000000000000000000000000000000:0000 0A "
    "00000000:00000000 00:00000000 00000000  1004        0 1 1 0 100 0 0 10 0\n"
)


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The system's tables, to be written by a test; nobody answers a connection."""
    found = tmp_path / "tcp", tmp_path / "tcp6"
    found[0].write_text(TABLE)
    found[1].write_text(TABLE_6)
    monkeypatch.setattr(owners, "TABLES", found)
    monkeypatch.setattr(owners, "_accepts_connections", lambda host, port: False)
    return found


def test_listening_sockets_are_read_from_the_tables_with_address_port_and_owner() -> None:
    assert list(parse_table(TABLE)) == [
        Listener(address=ip_address("127.0.0.1"), port=11434, uid=1001),
        Listener(address=ip_address("0.0.0.0"), port=8080, uid=0),
    ]
    assert [(str(one.address), one.uid) for one in parse_table(TABLE_6)] == [
        ("::", 998),
        ("::1", 1003),
        ("127.0.0.1", 1004),
    ]


@pytest.mark.parametrize(
    ("host", "port", "uids"),
    [
        ("127.0.0.1", 11434, {1001}),
        ("localhost", 11434, {1001}),
        ("127.0.0.2", 11434, set()),
        ("::1", 11434, set()),
        ("127.0.0.2", 8080, {0}),
        ("::1", 8080, set()),
        ("127.0.0.1", 1234, {998}),
        ("::1", 1234, {998}),
        ("127.0.0.1", 1235, set()),
        ("localhost", 1235, {1003}),
        ("::1", 1235, {1003}),
        ("127.0.0.1", 1236, {1004}),
        ("127.0.0.1", 9, set()),
    ],
)
def test_whoever_could_take_the_connection_counts_wildcards_and_mapped_addresses_included(
    tables: tuple[Path, Path], host: str, port: int, uids: set[int]
) -> None:
    assert owners.find_owners(host, port) == frozenset(uids)


def test_two_servers_that_share_a_name_are_both_named(tables: tuple[Path, Path]) -> None:
    tables[1].write_text(TABLE_6.replace(":04D3", ":2CAA"))
    assert owners.find_owners("localhost", 11434) == frozenset({1001, 1003})
    assert not are_trusted(frozenset({os.getuid(), 1003}))


@pytest.mark.parametrize("text", ["", HEADER + "nonsense\n", TABLE.replace("1001 ", "eve  ")])
def test_a_table_that_cannot_be_read_makes_nobody_trusted(tables: tuple[Path, Path], text: str) -> None:
    tables[0].write_text(text or "\xff", encoding="latin-1")
    found = owners.find_owners("127.0.0.1", 11434)
    assert not are_trusted(found)
    assert not belong_to_user(found)
    assert format_owners(found) == "an unknown user"


def test_what_answers_although_no_table_has_it_is_of_an_unknown_user(
    tables: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owners, "_accepts_connections", lambda host, port: True)
    assert owners.find_owners("127.0.0.1", 9) is None


def test_a_machine_without_ipv6_has_one_table(tables: tuple[Path, Path]) -> None:
    tables[1].unlink()
    assert owners.find_owners("127.0.0.1", 11434) == frozenset({1001})


@pytest.mark.parametrize(
    ("login_defs", "trusted", "strange"),
    [
        ("UID_MIN\t\t\t 1000\n", [0, 1, 997, 999], [1000, 54321, 65534]),
        ("#UID_MIN 100\nUID_MIN 500\n", [0, 499], [500, 999]),
        ("UID_MIN 60000\n", [0, 999], [1000, 59999]),
        ("UID_MIN many\n", [999], [1000]),
        (None, [999], [1000]),
    ],
)
def test_root_and_system_accounts_are_trusted_and_people_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, login_defs: str | None, trusted: list[int], strange: list[int]
) -> None:
    file = tmp_path / "login.defs"
    if login_defs is not None:
        file.write_text(login_defs)
    monkeypatch.setattr(owners, "LOGIN_DEFS", file)
    assert all(are_trusted(frozenset({uid})) for uid in trusted)
    assert not any(are_trusted(frozenset({uid})) for uid in strange)
    assert not are_trusted(frozenset({trusted[0], strange[0]}))


@pytest.mark.parametrize(
    ("said", "uids"), [("p1\nu501\nf3\np2\nu0\nf4\n", {501, 0}), ("", None), ("u-1\nuser\n", None)]
)
def test_without_tables_lsof_tells_and_what_it_does_not_tell_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, uids: set[int] | None
) -> None:
    tool = tmp_path / "lsof"
    tool.write_text(f"#!/bin/sh\ncat <<'E'\n{said}E\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(owners, "TABLES", (tmp_path / "none", tmp_path / "none"))
    monkeypatch.setattr(owners, "_accepts_connections", lambda host, port: True)
    assert owners.find_owners("127.0.0.1", 8000) == (uids and frozenset(uids))


def test_a_server_of_this_process_is_its_users_own(model_server: ModelServer) -> None:
    port = int(model_server.url.split(":")[2].partition("/")[0])
    assert owners.find_owners("127.0.0.1", port) == MINE
    assert owners.find_owners("localhost", port) == MINE
    assert belong_to_user(owners.find_owners("127.0.0.1", port))
    assert admit(model_server.url, ModelSettings()) == MINE


def test_where_nobody_listens_there_is_nobody_to_be_asked_about() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/v1"
        assert admit(url, ModelSettings()) == frozenset()
        with pytest.raises(ModelUnreachableError, match="start it"):
            asyncio.run(resolve_model(ModelSettings(base_url=url), {}))


# --- another user's server ------------------------------------------------------------------------

REQUEST = CompletionRequest(messages=(Message(role="user", content="How many?"),))


def resolve(settings: ModelSettings, environ: dict[str, str] | None = None) -> ModelEndpoint:
    return asyncio.run(resolve_model(settings, environ or {}))


@needs_root
def test_another_users_server_is_passed_over_told_and_gets_not_even_a_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(discovery, "embedded_installed", lambda: True)
    with strangers_server() as stranger:
        monkeypatch.setattr(servers, "LOOPBACK_PORTS", {stranger.port: "Ollama"})
        settings = ModelSettings()
        assert resolve(settings).kind == "embedded"
        assert predict_model(settings, {}).kind == "embedded"
        lines = asyncio.run(list_models(settings, {}))
        told = doctor.models_text(lines)
        [panel] = asyncio.run(model_server_statuses((), settings, {}))
        assert stranger.got_nothing()
    assert f"A server of user id {UID} answers on 127.0.0.1:{stranger.port}: not used" in told
    assert f"--base-url {stranger.url}" in told
    assert (panel.models, panel.problem) == ((), lines[0].problem)


@needs_root
def test_without_another_model_the_error_names_the_server_that_was_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(discovery, "embedded_installed", lambda: False)
    with strangers_server() as stranger:
        monkeypatch.setattr(servers, "LOOPBACK_PORTS", {stranger.port: "Ollama"})
        with pytest.raises(ModelError, match=f"A server of user id {UID} answers"):
            resolve(ModelSettings())
        assert stranger.got_nothing()


@needs_root
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("bound", ["127.0.0.1", "0.0.0.0"])
def test_another_users_server_that_was_named_gets_nothing_before_the_yes_and_the_question_after_it(
    bound: str, host: str
) -> None:
    with strangers_server(host=bound) as stranger:
        url = stranger.url.replace("127.0.0.1", host)
        named = ModelSettings(base_url=url, configured=(url,))
        key = {"CODEAGENT_BASE_URL": url, "CODEAGENT_API_KEY": "secret"}
        with pytest.raises(UnconfirmedServerError) as raised:
            resolve(named, key)
        assert predict_model(named, key).label == f"{host}:{stranger.port}, server of user id {UID}"
        [served] = asyncio.run(model_server_statuses((url,), replace(named, discover=False), key))
        assert f"user id {UID}" in served.problem
        assert asyncio.run(doctor.check_model(Settings(model=named))).state == "NOT OK"
        assert stranger.got_nothing()
        assert f"user id {UID}" in raised.value.address
        assert f"user id {UID}" in raised.value.question

        endpoint = resolve(replace(named, allowed=(raised.value.grant,)), key)
        assert endpoint.label == f"{host}:{stranger.port}, server of user id {UID}"
        assert not endpoint.remote
        assert find_tokenizer(endpoint) is None, "it counts nothing that nobody asked it"
        assert asyncio.run(answer_of(endpoint)) == "df['n'].sum()"
        assert stranger.got()["prompt"] == "How many?"


async def answer_of(endpoint: ModelEndpoint) -> str:
    model = await open_model(endpoint, ModelSettings())
    return (await model.complete(REQUEST, on_text=lambda _: None, is_complete=lambda _: False)).text.split("\n")[2]


@needs_root
def test_a_server_of_a_system_account_is_used_and_named() -> None:
    with strangers_server(uid=990) as ollama:
        endpoint = resolve(ModelSettings(base_url=ollama.url))
        assert endpoint.label == f"127.0.0.1:{ollama.port}, server of {format_owners(frozenset({990}))}"
        assert find_tokenizer(endpoint) is None


@needs_root
def test_a_yes_to_one_owner_is_none_to_whoever_takes_the_port_over() -> None:
    with strangers_server() as first:
        with pytest.raises(UnconfirmedServerError) as raised:
            resolve(ModelSettings(base_url=first.url))
        allowed = ModelSettings(base_url=first.url, allowed=(raised.value.grant,))
        resolve(allowed)
    with strangers_server(port=first.port, uid=UID + 1) as second:
        with pytest.raises(UnconfirmedServerError, match=str(UID + 1)):
            resolve(allowed)
        assert second.got_nothing()


@needs_root
def test_a_port_that_has_changed_hands_gets_no_prompt_and_is_looked_at_anew_by_the_next_run() -> None:
    with strangers_server(uid=0) as mine:
        settings = ModelSettings(base_url=mine.url)
        models = ModelResolver()

        async def first() -> ModelEndpoint:
            return await models.find(settings)

        endpoint = asyncio.run(first())
        assert find_tokenizer(endpoint) is not None
    with strangers_server(port=mine.port) as stranger:
        with pytest.raises(ModelUnreachableError, match=f"now belongs to user id {UID}.*nothing was sent"):
            asyncio.run(answer_of(endpoint))
        assert find_tokenizer(endpoint) is None
        with pytest.raises(UnconfirmedServerError):
            asyncio.run(first())
        assert stranger.got_nothing()
