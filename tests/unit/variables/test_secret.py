"""`privacy.secret`: secrets are not in the prompt, and not copied unless the user asks."""

from __future__ import annotations

import random
import string
import time
from collections import UserDict
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest

from jupyter_codeagent.variables.describe import describe, describe_value
from jupyter_codeagent.variables.privacy.secret import carries_secret, mask_private, private_text, secret_text
from jupyter_codeagent.variables.relevance import relevant_variables

SECRETS = {
    "OPENAI_KEY": "sk-live-abcdef",
    "conn": "postgresql://admin:hunter2@db/x",
    "headers": "Bearer abc.def",
    "db_url": "sqlite:///private.db",
    "x": "ghp_0123456789abcdef",
    "y": "AKIAIOSFODNN7EXAMPLE",
    "z": "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY",
    "engine": "mysql://root:p/w@host/db",
    "odbc": "Server=db;Uid=sa;Pwd=hunter2",
    "myPassword": "hunter2",
    "contact": "alice@x.org",
}


@pytest.mark.parametrize(("name", "value"), SECRETS.items())
def test_text_that_looks_secret_is_told_by_length_only(name: str, value: str) -> None:
    assert describe_value(name, value, "stats").headline == f"{name}: str {len(value)} characters"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("city", "Oslo"),
        ("keyword", "task-force"),
        ("monkey", "a day at 10:30 @ home"),
        ("path", "data/2024/flights_2013_new_york_city_v2.csv"),
        ("model_name", "meta-llama-3-70b-instruct"),
        ("when", "2024-05-06T12:00:00"),
    ],
)
def test_ordinary_text_is_told(name: str, value: str) -> None:
    assert describe_value(name, value, "stats").headline == f"{name}: str = '{value}'"


def test_a_path_with_a_password_is_not_told() -> None:
    assert describe_value("p", Path("x://admin:hunter2@host"), "stats").headline == "p: PosixPath"
    assert describe_value("p", Path("data.csv"), "stats").headline == "p: PosixPath = data.csv (no such file)"


def test_keys_of_a_dict_with_secrets_or_addresses_among_them_are_not_told() -> None:
    told = describe_value("d", {"alice@x.org": 1, "sk-live-abcdef": 2, "plain": 3}, "stats").headline
    assert told == "d: dict 3 of int"
    assert describe_value("password", {"alice": "x"}, "stats").headline == "password: dict 1 of str"


@pytest.mark.parametrize(
    "value",
    [
        {"api_key": "abc"},
        {"colour": "red", "deep": [{"auth": {"password": 1234}}]},
        ["plain", "Bearer abc"],
        "sk-live-abcdef",
        b"sk-live-abcdef",
        {"sk-live-abcdef": 1},
    ],
)
def test_what_contains_a_secret_is_not_copied_because_the_prompt_names_it(value: object) -> None:
    summaries = describe({"cfg": value}, privacy="stats", mentioned="")
    assert relevant_variables(summaries, "plot with the cfg colours", max_bytes=1 << 30) == ()


@pytest.mark.parametrize("value", [{"colour": "red", "key": 1, "max_tokens": 5}, ["a", "b"], "red", {"auth": None}])
def test_plain_values_without_secrets_are_copied_when_the_prompt_names_them(value: object) -> None:
    summaries = describe({"cfg": value}, privacy="stats", mentioned="")
    assert relevant_variables(summaries, "plot with the cfg colours", max_bytes=1 << 30) == ("cfg",)


def test_looking_for_secrets_is_bounded_and_ends_in_cycles() -> None:
    cycle: list[object] = ["a"]
    cycle.append(cycle)
    wide = [["ordinary words " * 100] * 1000] * 1000
    started = time.process_time()
    assert not carries_secret("v", cycle)
    assert not carries_secret("v", wide)
    assert not carries_secret("v", list(range(1_000_000)))
    assert not secret_text("://:" * 100_000)
    assert time.process_time() - started < 1


def test_a_frame_is_still_copied_by_default() -> None:
    summaries = describe({"df": pd.DataFrame({"key": ["a"]})}, privacy="stats", mentioned="")
    assert relevant_variables(summaries, "what stands out?", max_bytes=1 << 30) == ("df",)


def test_a_value_that_stands_in_one_row_of_many_is_not_told_as_a_category() -> None:
    frame = pd.DataFrame({"town": ["Oslo"] * 30 + ["Rome"] * 29 + ["Vardo"]})
    assert describe_value("df", frame, "stats").columns[0].stats == "3u"
    assert describe_value("df", frame[:59], "stats").columns[0].stats == "{Oslo, Rome}"


class Library(Mapping[str, object]):
    """As h5py's groups: to list it is to read a file."""

    def __init__(self) -> None:
        self.handle = "ghp_Zq83nXv71mKp02LsWe45tRbY6uHdC9aFgQ1J"

    def __getitem__(self, key: str) -> object:
        raise AssertionError("its own code was run")

    __iter__ = __len__ = __getitem__  # type: ignore[assignment]
    items = values = keys = __getitem__  # type: ignore[assignment]


def test_a_secret_in_a_mapping_of_its_own_kind_is_found_without_running_its_code() -> None:
    assert carries_secret("store", [Library()])
    assert carries_secret("store", [UserDict({"api_key": "x1"})])
    assert not carries_secret("store", [UserDict({"colour": "red"})])


@pytest.mark.parametrize(
    "label",
    [
        "MedianSoldPricePerSqft",
        "AverageDailyTemperature",
        "NumberOfOpenCreditLines",
        "PctPopulationBelowPoverty2010",
    ],
)
def test_words_in_camel_case_are_no_secret_and_are_told(label: str) -> None:
    assert not secret_text(label)
    assert mask_private(f"no column 'x'; df has {label!r}") == f"no column 'x'; df has {label!r}"


def test_random_tokens_are_secrets() -> None:
    drawn = random.Random(7)
    for alphabet, missed_of_thousand in ((string.ascii_letters + string.digits, 1), (string.ascii_letters, 25)):
        tokens = ["".join(drawn.choices(alphabet, k=20)) for _ in range(1000)]
        assert sum(not secret_text(token) for token in tokens) <= missed_of_thousand


def test_a_product_of_matrices_is_no_e_mail_address() -> None:
    assert not private_text("y = a@b.T")
    assert private_text("write to a@b.org")
