"""What of the data reaches a model server in each privacy mode: canaries, and all bytes that it received.

Every value below is unlike any other text. The model's code is as curious as it can be: it quotes values in its
error, prints whole rows, and makes values into column names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from kernel_client import Kernel, running_kernel
from model_server import ModelServer, code
from policies import in_kernel, write_policy

SETUP = """
import os
people = pd.DataFrame({
    "email": [f"velmora{i}@example.org" for i in range(60)],
    "column_7": [f"quastin{i}@example.net" for i in range(60)],
    "first_name": ["Torvenna", "Dulmarek", "Ophestra"] * 20,
    "customer": ["Yolvandra Pexmire", "Brustolf Anquedar", "Kelphine Ostravax"] * 20,
    "code_2": ["4111 1111 1111 1111", "5500 0000 0000 0004", "4012 8888 8888 1881"] * 20,
    "note": ["words"] * 59 + ["ask xelphimar@example.org, card 6011 0009 9013 9424"],
    "remark": ["plain"] * 59 + ["grelvontas"],
    "town": ["Frequentia"] * 30 + ["Oftenburg"] * 29 + ["Solitaria"],
    "wage_hidden_name": [f"hiddenvalue {i}" for i in range(60)],
    "n": range(60),
}, index=pd.Index([f"indexvalue{i}" for i in range(60)], name="ref"))
concealed_frame_name = pd.DataFrame({"concealed_column_name": ["concealedvalue"] * 3})
settings_dict = {"api_key": "dictsecretvalue", "colour": "red"}
deep = [{"auth": {"password": "deepsecretvalue"}}]
password = "plainsecretvalue"
connection = "postgresql://admin:urlsecretvalue@db/x"
def step(x, key="defaultsecretvalue"):
    "Docstringcanary says what it does."
def login(password="parametersecretvalue"):
    return password
"""
NEVER = {
    "an environment secret": "environmentsecretvalue",
    "a key in a dict": "dictsecretvalue",
    "a password deep in a list": "deepsecretvalue",
    "text named password": "plainsecretvalue",
    "a password in a URL": "urlsecretvalue",
    "a default value": "defaultsecretvalue",
    "the default value of a secret": "parametersecretvalue",
    "the name of a hidden variable": "concealed_frame_name",
    "the name of its column": "concealed_column_name",
    "a value of it": "concealedvalue",
    "the name of a hidden column": "wage_hidden_name",
    "a value of it ": "hiddenvalue",
    "an e-mail address": "velmora",
    "an e-mail address in a column of another name": "quastin",
    "a card": "4111 1111 1111 1111",
    "a card ": "5500",
    "a first name": "Torvenna",
    "an address in the middle of ordinary text": "xelphimar",
    "a card there": "6011 0009",
    "the name of a customer": "Pexmire",
}
"""In no mode, not even where the code prints whole rows."""

UNASKED = {
    "a rare value": "grelvontas",
    "a value of a category that occurs once": "Solitaria",
    "a value of the index": "indexvalue59",
}
"""Only where the code shows it, and the mode lets that be told."""

QUOTES = "raise ValueError(f'bad rows: {people.iloc[-1].to_dict()} {people.iloc[0].to_dict()}')"
LOOKS_UP = "wide = people.pivot_table(index='n', columns='remark', aggfunc='size')\nwide[people['town'].iloc[-1]]"
PRINTS = "print(people.to_csv())\npeople.tail(3)"
SHOWS = "print(people[['remark', 'town', 'email', 'customer']].tail(2))\nprint(people['n'].sum(), 'rows')"


@pytest.fixture
def curious(tmp_path: Path, model_server: ModelServer) -> Iterator[Kernel]:
    environment = {
        "CODEAGENT_BASE_URL": model_server.url,
        "CODEAGENT_API_KEY": "key-for-the-server",
        "MY_SERVICE_TOKEN": "environmentsecretvalue",
    }
    with running_kernel(tmp_path, environment) as kernel:
        for cell in (
            SETUP,
            "%agent hide concealed_frame_name",
            "%agent hide people[wage_hidden_name]",
        ):
            ran = kernel.run(cell)
            assert ran.error == ""
        yield kernel


def asked_curiously(kernel: Kernel, server: ModelServer, mode: str) -> None:
    """Errors that quote values, a second question that follows the first one, and all of it on the wire."""
    server.script(code(QUOTES), code(LOOKS_UP), code(PRINTS))
    ran = kernel.ask("what is in people?", f"--privacy {mode}")
    assert ran.error == "", ran.text
    server.script(code("people['N'] + nothing"), code(SHOWS))
    assert kernel.ask("and the sum of n, by step and login?", f"--privacy {mode}").error == ""
    told_next(kernel, server, f"--privacy {mode}")


def told_next(kernel: Kernel, server: ModelServer, options: str = "") -> str:
    """What the model is told with a next question: also what the last code showed."""
    server.script(code("people['n'].sum()"))
    assert kernel.ask("and now the sum of n in people?", options).error == ""
    return contents(server, 0)


def found(server: ModelServer, canaries: Mapping[str, str]) -> dict[str, str]:
    """The canaries among all bytes received."""
    text = bytes(server.received).decode("utf-8", "replace")
    return {what: value for what, value in canaries.items() if value in text or value in text.replace("\\", "")}


def contents(server: ModelServer, at: int) -> str:
    return "\n".join(message["content"] for message in server.requests[at]["messages"])


@pytest.mark.parametrize("mode", ["schema", "stats", "samples"])
def test_secrets_hidden_names_and_personal_columns_reach_the_model_in_no_mode(
    curious: Kernel, model_server: ModelServer, mode: str
) -> None:
    asked_curiously(curious, model_server, mode)
    assert found(model_server, NEVER) == {}
    assert b"Authorization: Bearer key-for-the-server" in model_server.received  # the search sees headers
    assert b"first_name str" in model_server.received  # and bodies: the column is told by its type


def test_under_schema_no_value_reaches_the_model_whatever_its_code_does(
    curious: Kernel, model_server: ModelServer
) -> None:
    asked_curiously(curious, model_server, "schema")
    values = {**UNASKED, "a frequent value": "Frequentia", "a figure": "1770", "a docstring": "Docstringcanary"}
    assert found(model_server, values) == {}
    assert b"ValueError at line 1: (not told)" in model_server.received  # kind and place of the error are told
    assert b"(not told) the column is 'n' (in people)" in model_server.received  # and what is known already


@pytest.mark.long("another case of what a test beside it proves")
def test_under_stats_rare_values_are_told_only_where_the_code_shows_them(
    curious: Kernel, model_server: ModelServer
) -> None:
    model_server.script(code("people['n'].sum()"))
    assert curious.ask("the sum of n in people?").error == ""
    assert "1770" in told_next(curious, model_server)
    assert found(model_server, UNASKED) == {}
    assert b"Frequentia" in model_server.received
    model_server.script(code(SHOWS))
    assert curious.ask("show the end of people").error == ""
    told = told_next(curious, model_server)
    assert "Solitaria" in told
    assert "***" in told
    assert found(model_server, NEVER) == {}


@pytest.mark.long("another case of what a test beside it proves")
def test_figures_are_told_as_they_are_beside_what_is_masked(curious: Kernel, model_server: ModelServer) -> None:
    model_server.script(code(SHOWS))
    ran = curious.ask("the sum of n in people?")
    assert "1770 rows" in told_next(curious, model_server)
    assert "Yolvandra Pexmire" in ran.text or "Kelphine Ostravax" in ran.text  # the user's own cell is not masked


@pytest.mark.long("another case of what a test beside it proves")
def test_under_samples_rows_are_told_without_their_personal_columns(
    curious: Kernel, model_server: ModelServer
) -> None:
    first = told_next(curious, model_server, "--privacy samples")
    assert "rows:" in first
    assert "plain" in first
    assert found(model_server, NEVER) == {}


@pytest.mark.long("another case of what a test beside it proves")
def test_what_an_administrator_allows_of_the_data_wins_over_file_session_and_magic(
    tmp_path: Path, model_server: ModelServer
) -> None:
    caps = tmp_path / "policy"
    write_policy(caps, {"privacy": "schema"})
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "ipython_config.py").write_text("c.CodeAgent.privacy = 'samples'\n", encoding="utf-8")
    environment = {"CODEAGENT_BASE_URL": model_server.url, "CODEAGENT_API_KEY": "k"}
    policy = f"{in_kernel(caps)}\n%config CodeAgent.privacy = 'samples'"
    with running_kernel(tmp_path, environment) as kernel:
        assert kernel.run(f"{SETUP}\n{policy}").error == ""
        asked_curiously(kernel, model_server, "samples")
    seen: dict[str, Any] = {**UNASKED, "a frequent value": "Frequentia", "a figure": "1770"}
    assert found(model_server, seen) == {}
    assert b"people: DataFrame" in model_server.received
