"""Arguments are checked against a schema that may mean harm: nothing is fetched, and it takes no time."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from jupyter_codeagent.tools.checks import checker_of


def test_arguments_are_still_checked_where_that_is_quick() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "array", "items": {"type": "integer"}}}}
    check = checker_of(schema)
    check({"x": list(range(100))})
    with pytest.raises(TypeError, match="is not of type 'integer'"):
        check({"x": [1, "a"]})


def test_what_is_no_schema_or_too_much_is_left_to_the_server() -> None:
    checker_of({"type": 7, "properties": {"x": {"minimum": "a"}}})({"x": 1})
    checker_of({"$schema": ["odd"]})({"x": 1})
    checker_of({"properties": {"x": {"items": {"type": "integer"}}}})({"x": ["a"] * 1_000_000})


def test_a_schema_of_a_server_fetches_nothing_and_takes_no_time(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"enum": ["the-secret"]}')
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.3)
        for reference in (f"http://127.0.0.1:{listening.getsockname()[1]}/x", (tmp_path / "secret.json").as_uri()):
            checker_of({"type": "object", "properties": {"v": {"$ref": reference}}})({"v": "x"})
        with pytest.raises(TimeoutError):
            listening.accept()
    started = time.monotonic()
    checker_of({"properties": {"v": {"pattern": "^(a+)+$"}}})({"v": "a" * 60 + "!"})
    checker_of({"properties": {"v": {"patternProperties": {"^(a+)+$": {}}}}})({"v": "a" * 60 + "!"})
    checker_of({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False})({"a" * 60 + "!": 1})
    assert time.monotonic() - started < 2


def test_what_a_schema_says_of_itself_is_still_checked() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"n": {"$ref": "#/$defs/count"}},
        "$defs": {"count": {"type": "integer", "minimum": 1}},
    }
    checker_of(schema)({"n": 1})
    with pytest.raises(TypeError, match="less than the minimum"):
        checker_of(schema)({"n": 0})
